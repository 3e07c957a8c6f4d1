# SPDX-License-Identifier: Apache-2.0
"""Attention functions of PyTorch, and a PyTorch extension. Tensors are [batch, heads, N, d]."""
import functools
import math
import os

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa

import attnscope


def grouped(q, k):
    return {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}


# The tile of PyTorch's FlashAttention-2 for d = 128 on Hopper. It stores LSE.
@attnscope.kernel(like="fa2", tile=(128, 64), name="flash", d=[128], dtypes=["fp16", "bf16"], lse="stored",
                  passes=["fwd", "bwd"])
def flash(q, k, v, causal):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return sdpa(q, k, v, is_causal=causal, **grouped(q, k))


@attnscope.kernel(name="efficient", gqa=False)
def efficient(q, k, v, causal):
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        return sdpa(q, k, v, is_causal=causal)


@attnscope.kernel(name="cudnn", dtypes=["fp16", "bf16"])
def cudnn(q, k, v, causal):
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return sdpa(q, k, v, is_causal=causal, **grouped(q, k))


@attnscope.kernel(name="math", gqa=False)
def math_backend(q, k, v, causal):
    with sdpa_kernel(SDPBackend.MATH):
        return sdpa(q, k, v, is_causal=causal)


@attnscope.kernel(name="three-calls", gqa=False, passes=["fwd"])
def three_calls(q, k, v):
    """Three calls of PyTorch; baddbmm ignores its first argument because beta is 0."""
    batch, heads, n_q, d = q.shape
    q, k, v = q.reshape(-1, n_q, d), k.reshape(-1, k.shape[2], d), v.reshape(-1, v.shape[2], d)
    scores = torch.baddbmm(q.new_empty(1, 1, 1), q, k.transpose(1, 2), beta=0, alpha=1 / math.sqrt(d))
    return torch.bmm(torch.softmax(scores, -1), v).view(batch, heads, n_q, d)


@functools.lru_cache(maxsize=None)
def extension_module():
    """Compiles extension.cu at its first use; PyTorch keeps the result in its cache folder."""
    from torch.utils.cpp_extension import load
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "extension.cu")
    return load(name="attnscope_test_extension", sources=[source], extra_cuda_cflags=["-O3"])


@attnscope.kernel(like="fa2", tile=(32, 32), name="extension", d=[64], dtypes=["fp32"], gqa=False, passes=["fwd"])
def extension(q, k, v, causal):
    return extension_module().forward(q, k, v, causal)

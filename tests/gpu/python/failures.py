# SPDX-License-Identifier: Apache-2.0
"""Functions that fail at N = 512, or, if they leak or call .item(), at each N."""
import os
import time

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

import attnscope

FAILING_N = 512
GIGABYTE = 1_000_000_000
options = dict(passes=["fwd"], masks=["full"], dtypes=["fp16"], gqa=False)
_kept = []


def fails(q):
    return q.shape[2] == FAILING_N


@attnscope.kernel(name="raises", **options)
def raises(q, k, v):
    if fails(q):
        raise ValueError("no tile for 512 rows")
    return sdpa(q, k, v)


@attnscope.kernel(name="wrong-shape", **options)
def wrong_shape(q, k, v):
    o = sdpa(q, k, v)
    return o.transpose(1, 2) if fails(q) else o


@attnscope.kernel(name="aborts", **options)
def aborts(q, k, v):
    if fails(q):
        os.abort()
    return sdpa(q, k, v)


@attnscope.kernel(name="exits", **options)
def exits(q, k, v):
    if fails(q):
        raise SystemExit(0)
    return sdpa(q, k, v)


@attnscope.kernel(name="hangs-in-python", **options)
def hangs_in_python(q, k, v):
    while fails(q):
        time.sleep(0.1)
    return sdpa(q, k, v)


@attnscope.kernel(name="hangs-on-gpu", **options)
def hangs_on_gpu(q, k, v):
    if fails(q):
        torch.cuda._sleep(10**13)
    return sdpa(q, k, v)


@attnscope.kernel(name="faults-on-gpu", **options)
def faults_on_gpu(q, k, v):
    if fails(q):
        index = torch.full((1,), 1 << 40, device=q.device)
        return sdpa(torch.take(q, index).expand_as(q), k, v)
    return sdpa(q, k, v)


@attnscope.kernel(name="leaks", **options)
def leaks(q, k, v):
    o = sdpa(q, k, v)
    _kept.append(o[:1, :1].clone())
    return o


@attnscope.kernel(name="temporary-20-gb", **options)
def temporary_20_gb(q, k, v):
    if fails(q):
        torch.empty(20 * GIGABYTE, dtype=torch.uint8, device=q.device)
    return sdpa(q, k, v)


@attnscope.kernel(name="temporary-too-large", **options)
def temporary_too_large(q, k, v):
    if fails(q):
        torch.empty(10_000 * GIGABYTE, dtype=torch.uint8, device=q.device)
    return sdpa(q, k, v)


@attnscope.kernel(name="item", **options)
def item(q, k, v):
    scale = 1.0 if q[0, 0, 0, 0].item() < 1e9 else 0.5
    return sdpa(q * scale, k, v)

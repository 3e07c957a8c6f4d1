# SPDX-License-Identifier: Apache-2.0
"""Fused attention in Triton with an autotuned tile, and its adapter."""
import math

import torch
import triton
import triton.language as tl

import attnscope

TILES = [(64, 32), (64, 64), (128, 32), (128, 64)]


@triton.autotune(configs=[triton.Config({"BLOCK_M": rows, "BLOCK_N": keys}, num_warps=warps, num_stages=stages)
                          for rows, keys in TILES for warps in (4, 8) for stages in (2, 3)],
                 key=["n_q", "n_k", "HEAD_DIM", "CAUSAL"])
@triton.jit
def attention_forward(q, k, v, o, lse, n_q, n_k, group, scale, CAUSAL: tl.constexpr, HEAD_DIM: tl.constexpr,
                      BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    first = tl.program_id(0) * BLOCK_M
    instance = tl.program_id(1).to(tl.int64)
    rows = first + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, HEAD_DIM)
    at = instance * n_q * HEAD_DIM + rows[:, None] * HEAD_DIM + columns[None, :]
    queries = tl.load(q + at, mask=rows[:, None] < n_q, other=0.0)
    k += instance // group * n_k * HEAD_DIM
    v += instance // group * n_k * HEAD_DIM
    scale_log2 = scale * 1.4426950408889634

    maximum = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    result = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    end = n_k
    if CAUSAL:
        end = tl.minimum(n_k, first + BLOCK_M + n_k - n_q)
    for begin in range(0, end, BLOCK_N):
        keys = begin + tl.arange(0, BLOCK_N)
        inside = keys < n_k
        key_tile = tl.load(k + keys[None, :] * HEAD_DIM + columns[:, None], mask=inside[None, :], other=0.0)
        scores = tl.dot(queries, key_tile) * scale_log2
        visible = inside[None, :]
        if CAUSAL:
            visible = visible & (keys[None, :] <= rows[:, None] + n_k - n_q)
        scores = tl.where(visible, scores, float("-inf"))
        highest = tl.maximum(maximum, tl.max(scores, 1))
        base = tl.where(highest == float("-inf"), 0.0, highest)
        weights = tl.exp2(scores - base[:, None])
        correction = tl.exp2(maximum - base)
        total = total * correction + tl.sum(weights, 1)
        value_tile = tl.load(v + keys[:, None] * HEAD_DIM + columns[None, :], mask=inside[:, None], other=0.0)
        result = result * correction[:, None] + tl.dot(weights.to(value_tile.dtype), value_tile)
        maximum = highest

    result = result / tl.where(total == 0.0, 1.0, total)[:, None]
    tl.store(o + at, result.to(queries.dtype), mask=rows[:, None] < n_q)
    tl.store(lse + instance * n_q + rows, (maximum + tl.log2(total)) * 0.6931471805599453, mask=rows < n_q)


@attnscope.kernel(like="fa2", tile="tuned", name="triton", d=[64, 128], dtypes=["fp16", "bf16"], passes=["fwd"],
                  lse="e")
def triton_attention(q, k, v, causal):
    batch, heads, n_q, d = q.shape
    o, lse = torch.empty_like(q), q.new_empty(batch, heads, n_q, dtype=torch.float32)
    attention_forward[lambda tile: (triton.cdiv(n_q, tile["BLOCK_M"]), batch * heads)](
        q, k, v, o, lse, n_q, k.shape[2], heads // k.shape[1], 1 / math.sqrt(d), CAUSAL=causal, HEAD_DIM=d)
    return o, lse

# SPDX-License-Identifier: Apache-2.0
"""Honest attention functions in different ways of writing. Each must be measured as ok, with its problem in HONEST."""
import functools
import math

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

import attnscope

_workspaces = {}
_masks = {}
_streams = {}
HONEST = []  # pairs (kernel, axes)


def honest(axes=None, **options):
    """Decorator that also adds the function to HONEST, with the axes of its problem."""
    def decorate(function):
        options.setdefault("passes", ["fwd"])
        name = "honest-" + function.__name__.replace("_", "-")
        made = attnscope.kernel(name=name, **options)(function)
        HONEST.append((made, {"N": [512, 1000], "d": 64, "heads": 8, **(axes or {})}))
        return made
    return decorate


def visible(q, k):
    """Causal mask; cached."""
    key = q.shape[2], k.shape[2], q.device
    if key not in _masks:
        rows, columns = (torch.arange(each.shape[2], device=q.device) for each in (q, k))
        _masks[key] = columns[None, :] <= rows[:, None] + (k.shape[2] - q.shape[2])
    return _masks[key]


def workspace(name, like, shape, dtype=None):
    """Buffer that later calls use again."""
    key = name, tuple(shape), dtype or like.dtype, like.device
    if key not in _workspaces:
        _workspaces[key] = torch.empty(shape, dtype=dtype or like.dtype, device=like.device)
    return _workspaces[key]


def scale(q):
    return 1 / math.sqrt(q.shape[-1])


@honest({"mask": ["full", "causal"]})
def sdpa_default(q, k, v, causal):
    return sdpa(q, k, v, is_causal=causal)


@honest({"dtype": "bf16", "mask": ["full", "causal"]}, dtypes=["bf16"])
def bf16(q, k, v, is_causal):
    return sdpa(q, k, v, is_causal=is_causal)


@honest({"dtype": "fp32"}, dtypes=["fp32"])
def einsum_fp32(q, k, v):
    return torch.einsum("bhij,bhjd->bhid", torch.softmax(torch.einsum("bhid,bhjd->bhij", q, k) * scale(q), -1), v)


@honest({"mask": ["full", "causal"]}, layout="bnhd")
def rows_first(q, k, v, causal):
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    return sdpa(q, k, v, is_causal=causal).transpose(1, 2)


@honest({"heads_q": 8, "heads_kv": 2, "heads": None})
def repeated_heads(q, k, v):
    group = q.shape[1] // k.shape[1]
    return sdpa(q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1))


@honest({"heads_q": 8, "heads_kv": 2, "heads": None})
def broadcast_heads(q, k, v):
    batch, heads, rows, d = q.shape
    q = q.reshape(batch, k.shape[1], -1, d)
    return sdpa(q, k, v).reshape(batch, heads, rows, d)


@honest({"mask": "causal"}, masks=["causal"])
def in_place(q, k, v, causal):
    scores = torch.matmul(q, k.transpose(-1, -2)).float()
    scores.mul_(scale(q)).masked_fill_(~visible(q, k), float("-inf"))
    scores.sub_(scores.amax(-1, keepdim=True)).exp_()
    scores.div_(scores.sum(-1, keepdim=True))
    return torch.matmul(scores.to(v.dtype), v)


@functools.lru_cache(maxsize=None)
def compiled():
    return torch.compile(lambda q, k, v: torch.softmax(q @ k.transpose(-1, -2) * scale(q), -1) @ v)


@honest()
def compiled_graph(q, k, v):
    return compiled()(q, k, v)


@honest({"mask": ["full", "causal"]})
def key_chunks(q, k, v, causal):
    """Online softmax over chunks of keys."""
    chunk = 128
    total = q.new_zeros(*q.shape[:3], 1, dtype=torch.float32)
    maximum = torch.full_like(total, -math.inf)
    result = torch.zeros_like(q, dtype=torch.float32)
    for first in range(0, k.shape[2], chunk):
        keys = slice(first, first + chunk)
        scores = torch.matmul(q, k[:, :, keys].transpose(-1, -2)).float() * scale(q)
        if causal:
            scores = scores.masked_fill(~visible(q, k)[:, keys], -math.inf)
        highest = torch.maximum(maximum, scores.amax(-1, keepdim=True))
        weights = torch.exp(scores - highest)
        correction = torch.exp(maximum - highest)
        total = total * correction + weights.sum(-1, keepdim=True)
        result = result * correction + torch.matmul(weights.to(v.dtype), v[:, :, keys])
        maximum = highest
    return (result / total).to(q.dtype)


@honest()
def query_chunks(q, k, v):
    o = torch.empty_like(q)
    for first in range(0, q.shape[2], 256):
        rows = slice(first, first + 256)
        o[:, :, rows] = sdpa(q[:, :, rows], k, v)
    return o


@honest()
def forked_streams(q, k, v):
    current = torch.cuda.current_stream()
    side = _streams.setdefault(q.device, torch.cuda.Stream(q.device))
    half = q.shape[1] // 2
    side.wait_stream(current)
    with torch.cuda.stream(side):
        second = sdpa(q[:, half:], k[:, half:], v[:, half:])
    first = sdpa(q[:, :half], k[:, :half], v[:, :half])
    current.wait_stream(side)
    second.record_stream(current)
    return torch.cat([first, second], 1)


@honest()
def kept_workspace(q, k, v):
    scores = workspace("scores", q, (*q.shape[:3], k.shape[2]))
    torch.matmul(q * scale(q), k.transpose(-1, -2), out=scores)
    return torch.matmul(torch.softmax(scores, -1), v)


@honest()
def kept_output(q, k, v):
    o = workspace("o", q, q.shape)
    return o.copy_(sdpa(q, k, v))


@honest({"mask": "causal"}, masks=["causal"])
def kept_mask(q, k, v, causal):
    return sdpa(q, k, v, attn_mask=visible(q, k))


@honest(lse="e")
def with_lse(q, k, v):
    scores = torch.matmul(q.float(), k.float().transpose(-1, -2)) * scale(q)
    lse = torch.logsumexp(scores, -1)
    return torch.matmul(torch.exp(scores - lse[..., None]).to(v.dtype), v), lse


@honest()
def copied_inputs(q, k, v):
    return sdpa(q.clone(), k.clone(), v.clone()).contiguous()


@honest()
def head_loop(q, k, v):
    return torch.stack([sdpa(q[:, head:head + 1], k[:, head:head + 1], v[:, head:head + 1])[:, 0]
                        for head in range(q.shape[1])], 1)


@honest()
def accumulated(q, k, v):
    """Adds to a result that starts at 0."""
    weights = torch.softmax(torch.matmul(q, k.transpose(-1, -2)).float() * scale(q), -1).to(v.dtype)
    o = torch.zeros_like(q, dtype=torch.float32)
    for first in range(0, k.shape[2], 256):
        keys = slice(first, first + 256)
        o += torch.matmul(weights[..., keys], v[:, :, keys])
    return o.to(q.dtype)


@honest({"mask": "window:64:0"}, masks=["window"])
def window_mask(q, k, v, window):
    left, right = window
    distance = (torch.arange(k.shape[2], device=q.device)[None, :] - torch.arange(q.shape[2], device=q.device)[:, None]
                - (k.shape[2] - q.shape[2]))
    seen = torch.ones_like(distance, dtype=torch.bool)
    if left >= 0:
        seen &= distance >= -left
    if right >= 0:
        seen &= distance <= right
    return sdpa(q, k, v, attn_mask=seen)


@honest({"CHUNK": [128, 512]}, knobs={"CHUNK": [128, 512]})
def knob_chunks(q, k, v, CHUNK):
    return torch.cat([sdpa(rows, k, v) for rows in q.split(CHUNK, 2)], 2)


@honest({"pass_": ["fwd", "bwd"], "mask": ["full", "causal"]}, passes=["fwd", "bwd"])
def both_passes(q, k, v, causal):
    return sdpa(q, k, v, is_causal=causal)


class RecomputedAttention(torch.autograd.Function):
    """Backward pass by hand, with recomputed weights."""

    @staticmethod
    def forward(context, q, k, v):
        context.save_for_backward(q, k, v)
        return torch.matmul(torch.softmax(torch.matmul(q, k.transpose(-1, -2)) * scale(q), -1), v)

    @staticmethod
    def backward(context, dout):
        q, k, v = context.saved_tensors
        weights = torch.softmax(torch.matmul(q, k.transpose(-1, -2)).float() * scale(q), -1)
        dweights = torch.matmul(dout, v.transpose(-1, -2)).float()
        dscores = weights * (dweights - (dweights * weights).sum(-1, keepdim=True)) * scale(q)
        dscores = dscores.to(q.dtype)
        return (torch.matmul(dscores, k), torch.matmul(dscores.transpose(-1, -2), q),
                torch.matmul(weights.to(q.dtype).transpose(-1, -2), dout))


@honest({"pass_": ["fwd", "bwd"]}, passes=["fwd", "bwd"])
def own_autograd(q, k, v):
    return RecomputedAttention.apply(q, k, v)

# SPDX-License-Identifier: Apache-2.0
"""Functions that return attention without computing all of it in each call. None may be measured as ok."""
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

import attnscope

cheat = dict(passes=["fwd"], masks=["full"], dtypes=["fp16"], gqa=False)
_results = {}
_buffers = {}
_streams = {}


@attnscope.kernel(name="cached-result", **cheat)
def cached_result(q, k, v):
    key = tuple(q.shape)
    if key not in _results:
        _results[key] = sdpa(q, k, v)
    return _results[key]


@attnscope.kernel(name="cached-by-address", **cheat)
def cached_by_address(q, k, v):
    """Recognizes its inputs, but copies the result, so that a kernel runs."""
    key = q.data_ptr(), k.data_ptr(), v.data_ptr(), tuple(q.shape)
    if key not in _results:
        _results[key] = sdpa(q, k, v)
    return _results[key].clone()


@attnscope.kernel(name="foreign-stream", **cheat)
def foreign_stream(q, k, v):
    stream = _streams.setdefault(q.device, torch.cuda.Stream(q.device))
    with torch.cuda.stream(stream):
        return sdpa(q, k, v)


@attnscope.kernel(name="half-on-foreign-stream", **cheat)
def half_on_foreign_stream(q, k, v):
    stream = _streams.setdefault(q.device, torch.cuda.Stream(q.device))
    o = torch.empty_like(q)
    half = q.shape[1] // 2
    with torch.cuda.stream(stream):
        o[:, half:] = sdpa(q[:, half:], k[:, half:], v[:, half:])
    o[:, :half] = sdpa(q[:, :half], k[:, :half], v[:, :half])
    return o


@attnscope.kernel(name="skipped-last-tile", **cheat)
def skipped_last_tile(q, k, v):
    keys = max(64, k.shape[2] - 64)
    return sdpa(q, k[:, :, :keys], v[:, :, :keys])


@attnscope.kernel(name="stale-buffer", **cheat)
def stale_buffer(q, k, v):
    """Returns the result of the call before."""
    key = tuple(q.shape)
    before = _buffers.get(key)
    _buffers[key] = sdpa(q, k, v)
    return _buffers[key] if before is None else before


@attnscope.kernel(name="writes-input", **cheat)
def writes_input(q, k, v):
    o = sdpa(q, k, v)
    q.copy_(o)
    return o


CHEATS = [cached_result, cached_by_address, foreign_stream, half_on_foreign_stream, skipped_last_tile, stale_buffer,
          writes_input]

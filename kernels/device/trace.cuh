// SPDX-License-Identifier: Apache-2.0
// Load tracing for a test: with ATTN_TRACE=w, a kernel of w warps per block records the tiles that each warp loads, in
// order. Compiled out otherwise.
#pragma once

#ifndef ATTN_TRACE
#define ATTN_TRACE 0
#endif

namespace attnscope::device {

enum class TraceTarget : unsigned { q, k, v };

#if ATTN_TRACE > 0
// Per warp of each block: a count, then `trace_slots` records. A record has the matrix in bits 56-63, the row count in
// bits 40-55, and below them the first row, counted over all instances.
__device__ unsigned long long* trace_records;
__device__ int trace_slots;
#endif

/// Records the load of `rows` rows from `row` for block `block` of the tile program. `writer` is true for one thread of
/// the loading warp.
__device__ __forceinline__ void trace_load(bool writer, unsigned block, TraceTarget matrix, long long row, int rows) {
#if ATTN_TRACE > 0
  if (writer) {
    const unsigned long long warp = block * static_cast<unsigned long long>(ATTN_TRACE) + threadIdx.x / 32;
    unsigned long long* const records = trace_records + warp * (trace_slots + 1);
    const unsigned long long count = records[0]++;
    if (count < trace_slots) {
      records[count + 1] = static_cast<unsigned long long>(matrix) << 56 | static_cast<unsigned long long>(rows) << 40 |
                           static_cast<unsigned long long>(row);
    }
  }
#endif
}
__device__ __forceinline__ void trace_load(bool writer, TraceTarget matrix, long long row, int rows) {
  trace_load(writer, blockIdx.x, matrix, row, rows);
}

}  // namespace attnscope::device

#if ATTN_TRACE > 0
/// Sets the trace buffer of the next launch; it must be zeroed for every warp.
extern "C" __global__ void attn_trace_into(unsigned long long* records, int slots) {
  attnscope::device::trace_records = records;
  attnscope::device::trace_slots = slots;
}
#endif

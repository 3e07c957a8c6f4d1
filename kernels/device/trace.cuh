// SPDX-License-Identifier: Apache-2.0
// Built with ATTN_TRACE=w, for a test, a kernel of w warps a block writes down which tiles it loads, each warp its own
// in its order. In any other build nothing of it is left.
#pragma once

#ifndef ATTN_TRACE
#define ATTN_TRACE 0
#endif

namespace attnscope::device {

enum class Traced : unsigned { q, k, v };

#if ATTN_TRACE > 0
// For each warp of each block: how many, then `trace_slots` records, the matrix in the highest 8 bits, the number of
// rows in the next 16, below them the first row, counted over all instances.
__device__ unsigned long long* trace_records;
__device__ int trace_slots;
#endif

/// A tile of `rows` rows from `row` on is loaded for the program's block `block` by the warp that `writer` is true for
/// one thread of.
__device__ __forceinline__ void trace_load(bool writer, unsigned block, Traced matrix, long long row, int rows) {
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
__device__ __forceinline__ void trace_load(bool writer, Traced matrix, long long row, int rows) {
  trace_load(writer, blockIdx.x, matrix, row, rows);
}

}  // namespace attnscope::device

#if ATTN_TRACE > 0
/// Where the next launch writes: zeros at first, for every warp.
extern "C" __global__ void attn_trace_into(unsigned long long* records, int slots) {
  attnscope::device::trace_records = records;
  attnscope::device::trace_slots = slots;
}
#endif

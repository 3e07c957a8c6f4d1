// SPDX-License-Identifier: Apache-2.0
// Geometry of the FA2 forward kernel, for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope::fa2 {

/// Rows are swizzled in 16-byte chunks in shared memory; one MMA step covers 16 columns of d.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Query rows per warp. Two m16 tiles share every K and V fragment, which halves the shared-memory reads, if the
/// accumulators leave registers for it. `warps`: requested warps, 0 for the default.
constexpr int rows_per_warp(int br, int d, int warps = 0) {
  if (warps > 0) {
    return br / warps;
  }
  return br % 32 == 0 && d <= 128 ? 32 : 16;
}
constexpr bool supported_warps(int br, int warps) {
  return warps == 0 || warps * 16 == br || warps * 32 == br;
}

constexpr int threads(int br, int d, int warps = 0) {
  return br / rows_per_warp(br, d, warps) * 32;
}

/// Registers per thread with which one block fits on an SM: 16,384 per SM partition, in units of 8, at most 255.
constexpr int register_limit(int br, int d, int warps = 0) {
  const int warps_per_part = (threads(br, d, warps) / 32 + 3) / 4;
  const int share = 16384 / (warps_per_part * 32) / 8 * 8;
  return share < 255 ? share : 255;
}

/// Registers per thread for a chunk: O accumulator, scores of one chunk, the same as 16-bit operands, and a constant
/// for fragments, addresses and statistics. The compiler needs fewer of the latter if two m16 tiles fill the registers,
/// but not with dropout. A narrower last chunk needs a second copy of the code and more registers.
constexpr int registers_for_chunk(int br, int bc, int d, int chunk, int warps, bool dropout) {
  const int rows = rows_per_warp(br, d, warps);
  return rows * (2 * d + 2 * chunk + chunk) / 64 + (rows == 32 ? dropout ? 72 : 24 : 32 + d / 8) +
         (bc % chunk > 0 ? 16 : 0);
}

/// Maximum columns of a K/V tile that a warp processes at once. Wide tiles are processed in chunks with the online
/// softmax, so bc costs shared memory but no registers. Dropout bytes come for 32 columns.
constexpr int chunk_columns(int br, int bc, int d, int warps = 0, bool dropout = false) {
  int chunk = bc < 64 ? bc : 64;
  while (chunk > 16 && registers_for_chunk(br, bc, d, chunk, warps, dropout) > register_limit(br, d, warps)) {
    chunk -= dropout && chunk == 64 ? 32 : 16;
  }
  return chunk;
}

/// Registers that the compiler uses in addition to registers_for_chunk() if they are available: for prefetched
/// fragments and, up to d 64, for addresses of the unrolled copies of a K or V tile (at most eight 16-byte pieces per
/// thread), where a narrower last chunk costs nothing more. If the copies are not unrolled, window bounds cost some
/// (`has_window`; also for a causal mask).
constexpr int prefetch_registers(int br, int bc, int d, int chunk, int warps, bool has_window) {
  const bool two = rows_per_warp(br, d, warps) == 32;
  const int last_chunk = bc % chunk > 0 ? 16 : 0;
  if (d > 64) {
    return two ? (chunk > 16 ? 40 : 28) : chunk == 16 ? 2 : last_chunk > 0 ? 0 : 8;
  }
  const int block = threads(br, d, warps);
  if (bc * d / 8 > 8 * block) {
    return two ? 32 : last_chunk > 0 ? 4 : has_window ? 14 : 6;
  }
  return (two ? 28 + 6 * bc * d / (8 * block) : 2 + 7 * bc * d / (8 * block)) - last_chunk;
}

/// Estimated registers per thread; a configuration above register_limit() is infeasible. Nearly always within 12 of the
/// compiler's count at d 64, 96 and 128 (H200). Determines how many blocks share an SM.
constexpr int register_estimate(int br, int bc, int d, int warps = 0, bool dropout = false, bool has_window = false) {
  const int chunk = chunk_columns(br, bc, d, warps, dropout);
  const int least = registers_for_chunk(br, bc, d, chunk, warps, dropout);
  const int limit = register_limit(br, d, warps);
  if (dropout || least >= limit) {
    return least;
  }
  const int taken = least + prefetch_registers(br, bc, d, chunk, warps, has_window);
  return taken < limit ? taken : limit;
}

/// Bytes of the Q, K and V tiles: (br + 2 bc) d elements of `element` bytes.
constexpr long long shared_bytes(int br, int bc, int d, int element) {
  return static_cast<long long>(element) * d * (br + 2 * bc);
}

}  // namespace attnscope::fa2

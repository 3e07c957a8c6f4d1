// SPDX-License-Identifier: Apache-2.0
// Geometry of the FA1 forward kernel, for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope::fa1 {

/// Rows are swizzled in 16-byte chunks in shared memory; one MMA step covers 16 columns of d.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Query rows that a warp processes at once.
constexpr int warp_rows = 16;

/// Row slices per warp. Warps own their rows through the whole inner loop and synchronize only when K and V change. Up
/// to 8 warps, so that each thread may use 255 registers; in taller tiles a warp processes several row slices one after
/// another.
constexpr int slices_per_warp(int br) {
  return (br / warp_rows + 7) / 8;
}
constexpr int warps(int br) {
  return (br / warp_rows + slices_per_warp(br) - 1) / slices_per_warp(br);
}
/// Maximum number of teams. If a row tile has few warps, several teams process different row tiles of a pass
/// concurrently, each with its own Q buffer: up to 8 warps, if shared memory allows.
constexpr int max_teams(int br) {
  return 8 / warps(br);
}
constexpr int threads(int br, int teams = 1) {
  return 32 * warps(br) * teams;
}

/// Registers per thread with which one block fits on an SM: 16,384 per SM partition, in units of 8, at most 255.
/// Does not depend on the number of teams, which have at most 8 warps together.
constexpr int register_limit(int br, int) {
  const int warps_per_part = (warps(br) + 3) / 4;
  const int share = 16384 / (warps_per_part * 32) / 8 * 8;
  return share < 255 ? share : 255;
}

/// Registers per thread for a chunk: O accumulator, scores of one chunk, the same as 16-bit operands, and a constant
/// for fragments, addresses and statistics. A narrower last chunk needs a second copy of the code and more registers.
constexpr int registers_for_chunk(int bc, int d, int chunk) {
  return warp_rows * (2 * d + 2 * chunk + chunk) / 64 + 104 + (bc % chunk > 0 ? 8 : 0);
}

/// Maximum columns of a K/V tile that a warp processes at once. Wide tiles are processed in chunks with the online
/// softmax, so bc costs shared memory but no registers. Dropout bytes come for 32 columns.
constexpr int chunk_columns(int br, int bc, int d, bool dropout = false) {
  int chunk = bc < 64 ? bc : 64;
  while (chunk > 16 && registers_for_chunk(bc, d, chunk) > register_limit(br, d)) {
    chunk -= dropout && chunk == 64 ? 32 : 16;
  }
  return chunk;
}

/// Estimated registers per thread; a configuration above register_limit() is infeasible.
constexpr int register_estimate(int br, int bc, int d, bool dropout = false) {
  return registers_for_chunk(bc, d, chunk_columns(br, bc, d, dropout));
}

/// K and V tiles, kept for one pass over Q, and one Q tile per team: (br + 2 bc) d elements of `element` bytes with one
/// team. O, l and m move directly between global memory and registers.
constexpr long long shared_bytes(int br, int bc, int d, int element, int teams = 1) {
  return static_cast<long long>(element) * d * (teams * br + 2 * bc);
}

}  // namespace attnscope::fa1

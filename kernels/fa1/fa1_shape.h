// SPDX-License-Identifier: Apache-2.0
// Geometry of the FlashAttention-1 forward kernel: one place for the host, which launches it, and for the device code.
// No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::fa1 {

/// The on-chip row is swizzled in 16-byte chunks; one product step covers 16 columns of d.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Query rows that a warp works on at a time.
constexpr int warp_rows = 16;

/// Warps own their rows through the whole inner loop and meet only when K and V change. Up to 8 of them, which leaves
/// each thread all the registers it can address; in taller tiles a warp takes several row slices, one after the other.
constexpr int slices_per_warp(int br) {
  return (br / warp_rows + 7) / 8;
}
constexpr int warps(int br) {
  return (br / warp_rows + slices_per_warp(br) - 1) / slices_per_warp(br);
}
/// Where a row tile has few warps, several teams of them work on as many row tiles of a pass at once, each in a Q
/// buffer of its own: up to 8 warps, as shared memory allows.
constexpr int most_teams(int br) {
  return 8 / warps(br);
}
constexpr int threads(int br, int teams = 1) {
  return 32 * warps(br) * teams;
}

/// Registers a thread may use so that one block fits on an SM: each of its four parts has 16,384 of them for its share
/// of the warps and gives them out in eights; 255 at most. Up to 8 warps that is the same for any number of teams.
constexpr int register_limit(int br, int) {
  const int warps_per_part = (warps(br) + 3) / 4;
  const int share = 16384 / (warps_per_part * 32) / 8 * 8;
  return share < 255 ? share : 255;
}

/// O accumulator, scores of one chunk, the same as 16-bit operands, and what fragments, addresses and statistics take.
/// A narrower last chunk costs a second copy of the code, and some more.
constexpr int registers_for_chunk(int bc, int d, int chunk) {
  return warp_rows * (2 * d + 2 * chunk + chunk) / 64 + 104 + (bc % chunk > 0 ? 8 : 0);
}

/// Columns of a K/V tile that a warp works on at a time, at most: wide tiles are walked in chunks with the online
/// softmax, so that bc costs shared memory but no registers. Dropout's random bytes come for 32 columns.
constexpr int chunk_columns(int br, int bc, int d, bool dropout = false) {
  int chunk = bc < 64 ? bc : 64;
  while (chunk > 16 && registers_for_chunk(bc, d, chunk) > register_limit(br, d)) {
    chunk -= dropout && chunk == 64 ? 32 : 16;
  }
  return chunk;
}

/// Registers a thread needs, estimated; a configuration above register_limit() is refused.
constexpr int register_estimate(int br, int bc, int d, bool dropout = false) {
  return registers_for_chunk(bc, d, chunk_columns(br, bc, d, dropout));
}

/// K and V tiles, kept for one pass over Q, and a Q tile for each team: (br + 2 bc) d elements of `element` bytes with
/// one. O, l and m go straight between global memory and registers.
constexpr long long shared_bytes(int br, int bc, int d, int element, int teams = 1) {
  return static_cast<long long>(element) * d * (teams * br + 2 * bc);
}

}  // namespace attnscope::fa1

// SPDX-License-Identifier: Apache-2.0
// Geometry of the FlashAttention-2 forward kernel: one place for the host, which launches it, and for the device code.
// No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::fa2 {

/// The on-chip row is swizzled in 16-byte chunks; one product step covers 16 columns of d.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Query rows of one warp: two m16 tiles share every K and V fragment and so halve the shared-memory reads, where the
/// accumulators leave room for it. `warps` is the tile's choice, 0 for none.
constexpr int rows_per_warp(int br, int d, int warps = 0) {
  if (warps > 0) {
    return br / warps;
  }
  return br % 32 == 0 && d <= 128 ? 32 : 16;
}
/// One m16 tile a warp, or two.
constexpr bool supported_warps(int br, int warps) {
  return warps == 0 || warps * 16 == br || warps * 32 == br;
}

constexpr int threads(int br, int d, int warps = 0) {
  return br / rows_per_warp(br, d, warps) * 32;
}

/// Registers a thread may use so that one block fits on an SM: each of its four parts has 16,384 of them for its share
/// of the warps and gives them out in eights; 255 at most.
constexpr int register_limit(int br, int d, int warps = 0) {
  const int warps_per_part = (threads(br, d, warps) / 32 + 3) / 4;
  const int share = 16384 / (warps_per_part * 32) / 8 * 8;
  return share < 255 ? share : 255;
}

/// O accumulator, scores of one chunk, the same as 16-bit operands, and what fragments, addresses and statistics take:
/// the compiler gets by with fewer of those where two m16 tiles fill the registers, but not beside dropout. A narrower
/// last chunk costs a second copy of the code, and some more.
constexpr int registers_for_chunk(int br, int bc, int d, int chunk, int warps, bool dropout) {
  const int rows = rows_per_warp(br, d, warps);
  return rows * (2 * d + 2 * chunk + chunk) / 64 + (rows == 32 ? dropout ? 72 : 24 : 32 + d / 8) +
         (bc % chunk > 0 ? 16 : 0);
}

/// Columns of a K/V tile that a warp works on at a time, at most: wide tiles are walked in chunks with the online
/// softmax, so that bc costs shared memory but no registers. Dropout's random bytes come for 32 columns.
constexpr int chunk_columns(int br, int bc, int d, int warps = 0, bool dropout = false) {
  int chunk = bc < 64 ? bc : 64;
  while (chunk > 16 && registers_for_chunk(br, bc, d, chunk, warps, dropout) > register_limit(br, d, warps)) {
    chunk -= dropout && chunk == 64 ? 32 : 16;
  }
  return chunk;
}

/// Beside registers_for_chunk(), what the compiler takes where there is room, for fragments that it loads ahead; and up
/// to d 64, where it unrolls the copies of a K or V tile (eight 16-byte pieces a thread or fewer), for their addresses,
/// while the second copy of a narrower last chunk costs nothing more. Where it does not unroll them, the bounds of a
/// window show (`windowed`: a causal mask, too).
constexpr int registers_ahead(int br, int bc, int d, int chunk, int warps, bool windowed) {
  const bool two = rows_per_warp(br, d, warps) == 32;
  const int last_chunk = bc % chunk > 0 ? 16 : 0;
  if (d > 64) {
    return two ? (chunk > 16 ? 40 : 28) : chunk == 16 ? 2 : last_chunk > 0 ? 0 : 8;
  }
  const int block = threads(br, d, warps);
  if (bc * d / 8 > 8 * block) {
    return two ? 32 : last_chunk > 0 ? 4 : windowed ? 14 : 6;
  }
  return (two ? 28 + 6 * bc * d / (8 * block) : 2 + 7 * bc * d / (8 * block)) - last_chunk;
}

/// Registers a thread needs, estimated; a configuration above register_limit() is refused. On an H200 nearly always
/// within 12 of what the compiler took at d 64, 96 and 128. They decide how many blocks share an SM.
constexpr int register_estimate(int br, int bc, int d, int warps = 0, bool dropout = false, bool windowed = false) {
  const int chunk = chunk_columns(br, bc, d, warps, dropout);
  const int least = registers_for_chunk(br, bc, d, chunk, warps, dropout);
  const int limit = register_limit(br, d, warps);
  if (dropout || least >= limit) {
    return least;
  }
  const int taken = least + registers_ahead(br, bc, d, chunk, warps, windowed);
  return taken < limit ? taken : limit;
}

/// Q, K and V tiles: (br + 2 bc) d elements of `element` bytes.
constexpr long long shared_bytes(int br, int bc, int d, int element) {
  return static_cast<long long>(element) * d * (br + 2 * bc);
}

}  // namespace attnscope::fa2

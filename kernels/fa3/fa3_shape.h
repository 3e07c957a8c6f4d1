// SPDX-License-Identifier: Apache-2.0
// Geometry of the FA3 forward kernel (sm_90a), for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope::fa3 {

/// A product spans 64 query rows, in steps of 16 columns of d or 16 keys.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Query rows per consumer warpgroup. One producer warpgroup more, of which one thread issues the loads of Q, K and V.
constexpr int group_rows = 64;
constexpr int consumers(int br) {
  return br / group_rows;
}
constexpr int threads(int br) {
  return (consumers(br) + 1) * 128;
}

/// Blocks per SM. A single consumer warpgroup leaves the tensor cores idle during its softmax; a second block fills the
/// gaps.
constexpr int blocks_per_sm(int br) {
  return consumers(br) == 1 ? 2 : 1;
}

/// Registers per thread at launch (the blocks fill the SM); the producer warpgroup then releases most of its share.
constexpr int launch_registers(int br) {
  return consumers(br) == 2 ? 168 : 128;
}
constexpr int producer_registers(int br) {
  return consumers(br) == 1 ? 48 : consumers(br) == 2 ? 56 : 32;
}
constexpr int consumer_registers(int br) {
  return consumers(br) == 1 ? 208 : consumers(br) == 2 ? 224 : 160;
}
/// With 8-bit operands a tile of two warpgroups is wider, so the consumers get all remaining registers.
constexpr int producer_registers(int br, int element) {
  return element == 1 && consumers(br) == 2 ? 40 : producer_registers(br);
}
constexpr int consumer_registers(int br, int element) {
  return element == 1 && consumers(br) == 2 ? 232 : consumer_registers(br);
}

/// 8-bit V is stored transposed. Below its d rows, a key tile has rows of ones, which sum P.
constexpr int ones_rows(int element) {
  return element == 1 ? 8 : 0;
}

/// Estimated registers per consumer thread: O accumulator, scores, the same as operands, and addresses, statistics and
/// temporaries. With 8-bit operands also P of two key tiles, and 64 columns of P V with the row sums of P.
constexpr int register_estimate(int bc, int d, int element) {
  return d / 2 + bc / 2 + bc / 4 + (element == 1 ? 36 : 0) + (d > 192 ? 36 : 28);
}

/// Shared memory per block: Hopper's 227 KiB, or the share that lets a second block fit (1 KiB per block is reserved by
/// the system).
constexpr long long shared_limit = 232448;
constexpr long long shared_budget(int br) {
  return (shared_limit + 1024) / blocks_per_sm(br) - 1024;
}

/// Two 8-byte barriers per buffer of K and V and per warpgroup's rows of Q, and 16 bytes per warpgroup for the current
/// row tile.
constexpr int barrier_bytes(int br, int stages) {
  return 32 * stages + 32 * consumers(br);
}
/// 16 bytes per buffer and warpgroup for scales, with 8-bit operands only.
constexpr int scale_bytes(int br, int stages, int element) {
  return element == 1 ? 32 * stages + 16 * consumers(br) : 0;
}
/// Bytes for the Q tile, `stages` buffers of K and V (elements of `element` bytes), the rows of ones, and the barriers.
constexpr long long bytes_for_stages(int br, int bc, int d, int element, int stages) {
  return static_cast<long long>(element) * d * (br + 2 * stages * bc) + 1ll * stages * bc * ones_rows(element) +
         barrier_bytes(br, stages) + scale_bytes(br, stages, element);
}

/// Buffers of K and V: two if they fit in the block's share. `chosen`: value of the knob, 0 for the default.
constexpr int stages(int br, int bc, int d, int element, int chosen = 0) {
  if (chosen > 0) {
    return chosen;
  }
  return bytes_for_stages(br, bc, d, element, 2) <= shared_budget(br) ? 2 : 1;
}
constexpr int max_kv_stages = 3;

/// Bytes of the 16-bit output tile. If it does not fit next to Q, it reuses Q's buffer, and Q of the next row tile
/// loads later.
constexpr long long o_bytes(int br, int d) {
  return 2ll * d * br;
}
constexpr bool fits_separate_o(int br, int bc, int d, int element, int stages) {
  return bytes_for_stages(br, bc, d, element, stages) + o_bytes(br, d) <= shared_budget(br);
}
constexpr long long shared_bytes(int br, int bc, int d, int element, int chosen = 0) {
  const int count = stages(br, bc, d, element, chosen);
  return bytes_for_stages(br, bc, d, element, count) +
         (fits_separate_o(br, bc, d, element, count) ? o_bytes(br, d) : 0);
}

/// One to three consumer warpgroups.
constexpr bool supported_rows(int br) {
  return br == 64 || br == 128 || br == 192;
}
constexpr int max_keys = 256;

constexpr bool supported_8_bit_head_dim(int d) {
  return d == 64 || d == 128;
}

/// Number of score tiles (8 columns each) per 8 whose exponentials are linearly interpolated between powers of two and
/// yield e4m3 bits directly. `mask`: mask bits. It is the largest number up to half with which ptxas does not serialize
/// the products (warning C7511, which the program treats as an error).
constexpr int linear_tile_count(int d, int mask) {
  constexpr int of_mask[16] = {1, 4, 4, 2, 1, 4, 1, 1, 4, 4, 1, 1, 4, 4, 2, 4};
  return d == 128 ? of_mask[mask] : 4;
}

inline constexpr int quantize_threads = 256;
inline constexpr int quantize_registers = 128;

}  // namespace attnscope::fa3

// SPDX-License-Identifier: Apache-2.0
// Work per iteration of the ceiling kernels, shared by kernel and host.
#pragma once

namespace attnscope {

inline constexpr int ceiling_loads_per_iteration =
    16;  ///< dependent loads per thread, or 16-byte loads from shared memory
inline constexpr int ceiling_shared_threads = 1024;
inline constexpr int ceiling_chains = 8;  ///< independent fp32 chains per thread, to hide latency
inline constexpr int ceiling_chain_steps = 16;

inline constexpr int mma_products = 8;  ///< independent 16 x 8 x 16 products per warp
inline constexpr int wgmma_threads = 256;
inline constexpr int wgmma_columns = 256;
inline constexpr int wgmma_depth = 64;  ///< in 16-bit elements; twice as many 8-bit elements
/// Two left operands of 64 rows, one right operand, and 1 KiB for alignment.
inline constexpr int wgmma_shared_bytes = 2 * (2 * 64 + wgmma_columns) * wgmma_depth + 1024;

/// Returns two 16-bit elements with random signs and magnitudes in [0.5, 2) in fp16 ([2^-15, 2) in bf16), or four e4m3
/// elements with magnitudes in [1, 2).
constexpr unsigned ceiling_operand(unsigned random, bool is_8_bit = false) {
  random ^= random >> 15;
  random *= 0x2c1b3c6du;
  random ^= random >> 13;
  if (is_8_bit) {
    return (random & 0x87878787u) | 0x38383838u;
  }
  return (random & 0x87ff87ffu) | 0x38003800u;
}

}  // namespace attnscope

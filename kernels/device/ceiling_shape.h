// SPDX-License-Identifier: Apache-2.0
// How much the ceilings' kernels do in an iteration, for kernel and host.
#pragma once

namespace attnscope {

inline constexpr int ceiling_loads_per_iteration =
    16;  ///< that one thread waits for, or of 16 bytes from shared memory
inline constexpr int ceiling_shared_threads = 1024;
inline constexpr int ceiling_chains = 8;  ///< of fp32 operations in a thread, so that no result is waited for
inline constexpr int ceiling_chain_steps = 16;

inline constexpr int mma_products = 8;  ///< of 16 x 8 x 16, under way in a warp
inline constexpr int wgmma_threads = 256;
inline constexpr int wgmma_columns = 256;
inline constexpr int wgmma_depth = 64;  ///< elements of 16 bits, twice as many of 8
/// Two left operands of 64 rows and a right one, and what aligning them takes.
inline constexpr int wgmma_shared_bytes = 2 * (2 * 64 + wgmma_columns) * wgmma_depth + 1024;

/// Two 16-bit elements of either dtype: random signs, magnitudes from 0.5 up to 2 in fp16 (2^-15 up to 2 in bf16). Or
/// four of e4m3: magnitudes from 1 to 2.
constexpr unsigned ceiling_operand(unsigned random, bool of_8_bits = false) {
  random ^= random >> 15;
  random *= 0x2c1b3c6du;
  random ^= random >> 13;
  if (of_8_bits) {
    return (random & 0x87878787u) | 0x38383838u;
  }
  return (random & 0x87ff87ffu) | 0x38003800u;
}

}  // namespace attnscope

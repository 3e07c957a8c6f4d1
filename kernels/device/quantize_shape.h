// SPDX-License-Identifier: Apache-2.0
// Quantization to 8-bit operands, for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope {

/// Rows of Q, and of K and V, per scale.
inline constexpr int scaled_queries = 64;
inline constexpr int scaled_keys = 128;
/// Bytes per scale record; 16 is the smallest bulk copy.
inline constexpr int scale_record_bytes = 16;

/// Exponent of a block's scale: the smallest power of two that brings the block's largest magnitude to at most 448 =
/// 1.75 x 2^8, the largest e4m3 value. `magnitude`: bits of an fp32 number. A power of two costs no accuracy in a
/// floating-point format, and the results are exact bf16 numbers.
constexpr int scale_exponent(unsigned magnitude) {
  const int exponent = static_cast<int>((magnitude + 0x1fffffu) >> 23) - 127 - 8;
  return exponent > -100 ? exponent : -100;
}

/// Returns whether the rotation flips the sign of a column before the Hadamard matrix (fixed random choice).
constexpr bool flipped(int column) {
  return (static_cast<unsigned>(column + 1) * 0x9e3779b9u >> 17 & 1) != 0;
}

}  // namespace attnscope

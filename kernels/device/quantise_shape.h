// SPDX-License-Identifier: Apache-2.0
// How matrices become operands of 8 bits, for the kernels that do it and for the host, which does it once more for the
// reference. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope {

/// Rows of Q, and of K and V, that have one scale.
inline constexpr int scaled_queries = 64;
inline constexpr int scaled_keys = 128;
/// Scales come to an SM as records of 16 bytes, the least that the copy engine takes.
inline constexpr int scale_record_bytes = 16;

/// Exponent of a block's scale: of the least power of two in which its largest magnitude (the bits of an fp32 number)
/// is at most 448 = 1.75 x 2^8, e4m3's largest. A power of two costs no accuracy where the format has exponents itself,
/// and what comes out is a bf16 number.
constexpr int scale_exponent(unsigned magnitude) {
  const int exponent = static_cast<int>((magnitude + 0x1fffffu) >> 23) - 127 - 8;
  return exponent > -100 ? exponent : -100;
}

/// Whether the rotation turns a column's sign before the Hadamard matrix: a fixed random choice.
constexpr bool flipped(int column) {
  return (static_cast<unsigned>(column + 1) * 0x9e3779b9u >> 17 & 1) != 0;
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// How 16-bit inputs become operands of 8 bits (e4m3).
#pragma once

#include <cstdint>

namespace attnscope {

/// Blocks of rows have a scale each (kernels/device/quantise_shape.h says which). Rotated, the rows of Q and K are
/// first multiplied by one orthogonal matrix, a Hadamard matrix behind random signs, which spreads outliers over a row
/// and leaves Q K^T as it is (FlashAttention-3, arXiv 2407.08608, section 3.3).
struct Quantisation {
  std::int64_t query_rows = 0;  ///< of a block of Q; 0: Q stays as it is given
  std::int64_t keys = 0;        ///< of a block of K, and of V
  bool rotated = false;
  bool weights = true;  ///< P has 8 bits, too

  bool operator==(const Quantisation&) const = default;
};

}  // namespace attnscope

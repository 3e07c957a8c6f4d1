// SPDX-License-Identifier: Apache-2.0
// Conversions of fp16 (IEEE binary16) and bf16 bit patterns on the host, and quantization to fp8. Quantized operands
// match kernels/fa3/fa3_quantise.cuh bit for bit.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/model/attention.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// Rounds to nearest, ties to even. Overflow becomes infinity; NaN becomes a quiet NaN.
[[nodiscard]] std::uint16_t to_bits(DType dtype, float value);
[[nodiscard]] float from_bits(DType dtype, std::uint16_t bits);

[[nodiscard]] inline float round_to(DType dtype, float value) {
  return from_bits(dtype, to_bits(dtype, value));
}

/// Nearest e4m3 number, ties to even; saturates at +-448.
[[nodiscard]] float round_to_e4m3(float value);

/// Quantizes Q, K or V in place: rows of d bf16 numbers become scale x e4m3, again as bf16. A rotated Q is also divided
/// by d, since the kernels' Hadamard matrix has entries of 1 and -1. Pre: d is a power of two if Q or K is rotated.
void quantize(std::span<std::uint16_t> matrix, Tensor tensor, std::int64_t d, const Quantization&);

}  // namespace attnscope

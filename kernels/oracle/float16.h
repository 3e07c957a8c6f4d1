// SPDX-License-Identifier: Apache-2.0
// Conversions between fp32 values and the types of kernel inputs and outputs on the host, and quantization to fp8.
// Quantized operands match kernels/fa3/fa3_quantise.cuh bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// fp16 (IEEE binary16) or bf16 pattern. Rounds to nearest, ties to even. Overflow becomes infinity; NaN becomes a
/// quiet NaN. Pre: dtype is not fp32.
[[nodiscard]] std::uint16_t to_bits(DType dtype, float value);
[[nodiscard]] float from_bits(DType dtype, std::uint16_t bits);

/// Nearest value of output_dtype(dtype).
[[nodiscard]] inline float round_to(DType dtype, float value) {
  return dtype == DType::fp32 ? value : from_bits(dtype, to_bits(dtype, value));
}

/// Unit roundoff of fp32.
inline constexpr double fp32_roundoff = 0x1p-24;

/// Intermediate result of naive attention, whose error defines the tolerance: round_to(), but for fp32 the value times
/// 1 + `roundoffs` or 1 - `roundoffs` unit roundoffs, depending on its bits. Rounding would be exact by accident for
/// inputs with a structure.
[[nodiscard]] float round_intermediate(DType dtype, float value, double roundoffs);

/// `roundoffs` of honest fp32 kernels.
inline constexpr double exponential_roundoffs = 8;  ///< ex2.approx, __expf
inline constexpr double lse_roundoffs = 4;
inline constexpr double result_roundoffs = 2;
/// Sum of d products in any order. Random rounding errors grow as sqrt(d), systematic ones as d.
[[nodiscard]] inline double product_roundoffs(std::int64_t d) {
  const auto terms = static_cast<double>(d);
  return std::max(std::sqrt(terms), terms / 8);
}

/// Bytes of a buffer of inputs or outputs of an AttentionProblem: output_bytes(dtype) per element.
[[nodiscard]] std::vector<std::byte> encode(DType dtype, std::span<const float> values);
/// Inverse of encode().
[[nodiscard]] std::vector<float> decode(DType dtype, std::span<const std::byte> bytes);

/// Nearest e4m3 number, ties to even; saturates at +-448.
[[nodiscard]] float round_to_e4m3(float value);

/// Quantizes Q, K or V in place: rows of d bf16 numbers become scale x e4m3, rounded to bf16. A rotated Q is also
/// divided by d, since the kernels' Hadamard matrix has entries of 1 and -1. Pre: d is a power of two if Q or K is
/// rotated.
void quantize(std::span<float> matrix, Tensor tensor, std::int64_t d, const Quantization&);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/float16.h"

#include <bit>
#include <cmath>

namespace attnscope {
namespace {

/// x >> shift, rounded to nearest, ties to even. Pre: 0 < shift < 32.
constexpr std::uint32_t shift_right_to_even(std::uint32_t x, int shift) {
  const std::uint32_t half = std::uint32_t{1} << (shift - 1);
  const std::uint32_t odd = (x >> shift) & 1U;
  return (x + half - 1 + odd) >> shift;
}

std::uint16_t fp16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFF'FFFFU;
  std::uint32_t half = 0;
  if (magnitude > 0x7F80'0000U) {
    half = 0x7E00U;  // NaN
  } else if (magnitude >= 0x4780'0000U) {
    half = 0x7C00U;  // 65536 and more, infinity included
  } else if (magnitude >= 0x3880'0000U) {
    // A normal number: move the exponent's bias from 127 to 15; rounding may carry into it, up to infinity.
    half = shift_right_to_even(magnitude - 0x3800'0000U, 13);
  } else if (magnitude >= 0x3300'0000U) {
    // Subnormal: units of 2^-24. The significand 1.f * 2^(e - 127) becomes an integer by a shift of 126 - e.
    const int exponent = static_cast<int>(magnitude >> 23);
    half = shift_right_to_even((magnitude & 0x7F'FFFFU) | 0x80'0000U, 126 - exponent);
  }
  return static_cast<std::uint16_t>(sign | half);
}

float fp16_value(std::uint16_t bits) {
  const bool negative = (bits & 0x8000U) != 0;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(fraction), -24);
    return negative ? -value : value;
  }
  const std::uint32_t wide_exponent = exponent == 0x1F ? 0xFFU : exponent + 112;
  return std::bit_cast<float>((negative ? 0x8000'0000U : 0U) | (wide_exponent << 23) | (fraction << 13));
}

std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFF'FFFFU) > 0x7F80'0000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);  // NaN, made quiet
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace

std::uint16_t to_bits(DType dtype, float value) {
  return dtype == DType::fp16 ? fp16_bits(value) : bf16_bits(value);
}

float from_bits(DType dtype, std::uint16_t bits) {
  return dtype == DType::fp16 ? fp16_value(bits) : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace attnscope

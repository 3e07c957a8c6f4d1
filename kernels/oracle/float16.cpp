// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/float16.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

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
    half = 0x7C00U;  // 65536 or more, including infinity
  } else if (magnitude >= 0x3880'0000U) {
    // Normal: changes the exponent bias from 127 to 15; rounding may carry into the exponent, up to infinity.
    half = shift_right_to_even(magnitude - 0x3800'0000U, 13);
  } else if (magnitude >= 0x3300'0000U) {
    // Subnormal, in units of 2^-24: shifting 1.f * 2^(e - 127) right by 126 - e gives an integer.
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
  if ((bits & 0x7FFF'FFFFU) > 0x7F80'0000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace

std::uint16_t to_bits(DType dtype, float value) {
  return dtype == DType::fp16 ? fp16_bits(value) : bf16_bits(value);
}

float from_bits(DType dtype, std::uint16_t bits) {
  return dtype == DType::fp16 ? fp16_value(bits) : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float round_intermediate(DType dtype, float value, double roundoffs) {
  if (dtype != DType::fp32) return round_to(dtype, value);
  const bool above = (std::bit_cast<std::uint32_t>(value) * 0x9E37'79B9U >> 31U) != 0;
  return static_cast<float>(static_cast<double>(value) * (1 + (above ? roundoffs : -roundoffs) * fp32_roundoff));
}

std::vector<std::byte> encode(DType dtype, std::span<const float> values) {
  const auto size = static_cast<std::size_t>(output_bytes(dtype));
  std::vector<std::byte> bytes(values.size() * size);
  if (dtype == DType::fp32) {
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = to_bits(dtype, values[i]);
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

std::vector<float> decode(DType dtype, std::span<const std::byte> bytes) {
  const auto size = static_cast<std::size_t>(output_bytes(dtype));
  std::vector<float> values(bytes.size() / size);
  if (dtype == DType::fp32) {
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, &bytes[i * size], size);
    values[i] = from_bits(dtype, bits);
  }
  return values;
}

namespace {

constexpr float max_e4m3 = 448;

/// Exponent of the smallest power-of-two scale with which all magnitudes fit into e4m3; at least -100.
int scale_exponent(float largest) {
  constexpr int least = -100;
  if (largest == 0) return least;
  const int exponent = std::max(std::ilogb(largest) - std::ilogb(max_e4m3), least);
  return largest > std::ldexp(max_e4m3, exponent) ? exponent + 1 : exponent;
}

/// One bit of a multiplicative hash (Knuth) of the column.
bool flipped(std::size_t column) {
  return (static_cast<std::uint32_t>(column + 1) * 0x9E37'79B9U >> 17U & 1U) != 0;
}

/// Multiplies a row by random signs and the Hadamard matrix, with butterflies in fp32.
void rotate(std::span<float> row) {
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (flipped(c)) row[c] = -row[c];
  }
  for (std::size_t step = 1; step < row.size(); step *= 2) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if ((c & step) != 0) continue;
      const float low = row[c];
      const float high = row[c + step];
      row[c] = low + high;
      row[c + step] = low - high;
    }
  }
}

}  // namespace

float round_to_e4m3(float value) {
  constexpr int fraction_bits = 3;
  constexpr int min_exponent = -6;
  if (std::isnan(value)) return value;
  if (std::abs(value) >= max_e4m3) return std::copysign(max_e4m3, value);
  const int exponent = value == 0 ? min_exponent : std::max(std::ilogb(value), min_exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, fraction_bits - exponent)), exponent - fraction_bits);
}

void quantize(std::span<float> matrix, Tensor tensor, std::int64_t d, const Quantization& by) {
  const auto block = static_cast<std::size_t>((tensor == Tensor::q ? by.query_rows : by.keys) * d);
  if (block == 0) return;
  const bool rotated = by.rotated && tensor != Tensor::v;
  const float restored = rotated && tensor == Tensor::q ? 1.0F / static_cast<float>(d) : 1.0F;
  for (std::size_t first = 0; first < matrix.size(); first += block) {
    const auto rows = matrix.subspan(first, std::min(block, matrix.size() - first));
    for (std::size_t row = 0; rotated && row < rows.size(); row += static_cast<std::size_t>(d)) {
      rotate(rows.subspan(row, static_cast<std::size_t>(d)));
    }
    float largest = 0;
    for (const float value : rows) largest = std::max(largest, std::abs(value));
    const int exponent = scale_exponent(largest);
    for (float& value : rows) {
      const float scaled = std::ldexp(round_to_e4m3(std::ldexp(value, -exponent)), exponent);
      value = round_to(DType::bf16, scaled * restored);
    }
  }
}

}  // namespace attnscope

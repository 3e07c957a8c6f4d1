// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/float16.h"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace attnscope {

std::uint16_t to_bits(DType dtype, float value) {
  return dtype == DType::fp16 ? Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(value))
                              : Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(value));
}

float from_bits(DType dtype, std::uint16_t bits) {
  return dtype == DType::fp16 ? static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits))
                              : static_cast<float>(Eigen::numext::bit_cast<Eigen::bfloat16>(bits));
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

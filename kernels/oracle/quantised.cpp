// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/quantised.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/oracle/float16.h"

namespace attnscope {
namespace {

constexpr float e4m3_largest = 448;

/// Of the least power of two in which no magnitude is beyond e4m3, down to 2^-100.
int scale_exponent(float largest) {
  constexpr int least = -100;
  if (largest == 0) return least;
  const int exponent = std::max(std::ilogb(largest) - std::ilogb(e4m3_largest), least);
  return largest > std::ldexp(e4m3_largest, exponent) ? exponent + 1 : exponent;
}

/// A bit of a multiplicative hash (Knuth) of the column.
bool flipped(std::size_t column) {
  return (static_cast<std::uint32_t>(column + 1) * 0x9E37'79B9U >> 17U & 1U) != 0;
}

/// One row times the Hadamard matrix behind the signs, by butterflies in fp32.
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
  constexpr int least_exponent = -6;
  if (std::isnan(value)) return value;
  if (std::abs(value) >= e4m3_largest) return std::copysign(e4m3_largest, value);
  const int exponent = value == 0 ? least_exponent : std::max(std::ilogb(value), least_exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, fraction_bits - exponent)), exponent - fraction_bits);
}

void quantise(std::span<std::uint16_t> matrix, Tensor tensor, std::int64_t d, const Quantisation& by) {
  const auto block = static_cast<std::size_t>((tensor == Tensor::q ? by.query_rows : by.keys) * d);
  if (block == 0) return;
  const bool rotated = by.rotated && tensor != Tensor::v;
  const float restored = rotated && tensor == Tensor::q ? 1.0F / static_cast<float>(d) : 1.0F;
  for (std::size_t first = 0; first < matrix.size(); first += block) {
    const auto rows = matrix.subspan(first, std::min(block, matrix.size() - first));
    std::vector<float> values(rows.size());
    std::ranges::transform(rows, values.begin(), [](std::uint16_t bits) { return from_bits(DType::bf16, bits); });
    for (std::size_t row = 0; rotated && row < values.size(); row += static_cast<std::size_t>(d)) {
      rotate(std::span(values).subspan(row, static_cast<std::size_t>(d)));
    }
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    const int exponent = scale_exponent(largest);
    std::ranges::transform(values, rows.begin(), [&](float value) {
      const float scaled = std::ldexp(round_to_e4m3(std::ldexp(value, -exponent)), exponent);
      return to_bits(DType::bf16, scaled * restored);
    });
  }
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/oracle/float16.h"

namespace attnscope {
namespace {

TEST(E4m3, RoundsToTheNearestAndTiesToEven) {
  // OCP 8-bit floating point specification, E4M3: 3 fraction bits, normal from 2^-6, subnormal from 2^-9, maximum 448.
  EXPECT_EQ(round_to_e4m3(17), 16);
  EXPECT_EQ(round_to_e4m3(19), 20);
  EXPECT_EQ(round_to_e4m3(-0.3F), -0.3125F);
  EXPECT_EQ(round_to_e4m3(432), 448) << "a tie rounds to even: 448";
  EXPECT_EQ(round_to_e4m3(500), 448);
  EXPECT_EQ(round_to_e4m3(-std::numeric_limits<float>::infinity()), -448);
  EXPECT_EQ(round_to_e4m3(0x1p-9F), 0x1p-9F);
  EXPECT_EQ(round_to_e4m3(0x1p-10F), 0) << "a tie rounds to even: 0";
  EXPECT_EQ(round_to_e4m3(0x1.8p-9F), 0x1p-8F);
  EXPECT_TRUE(std::isnan(round_to_e4m3(std::nanf(""))));
}

std::vector<float> random_matrix(std::size_t rows, std::size_t d, unsigned seed, float outlier) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> matrix(rows * d);
  for (float& value : matrix) value = round_to(DType::bf16, normal(random));
  matrix[d + 3] = round_to(DType::bf16, outlier);
  return matrix;
}

double rms_error(const std::vector<float>& made, const std::vector<float>& given) {
  double squares = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const double error = static_cast<double>(made[i] - given[i]);
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(made.size()));
}

TEST(Quantise, EachBlockHasItsScale) {
  constexpr std::size_t d = 64;
  // One block of two has an outlier so large that its small numbers vanish.
  const std::vector<float> given = random_matrix(128, d, 1, 1e6F);
  std::vector<float> made = given;
  quantize(made, Tensor::q, d, {.query_rows = 64, .keys = 128});
  const auto block = [](const std::vector<float>& matrix, std::size_t i) {
    return std::vector(matrix.begin() + static_cast<std::ptrdiff_t>(i * 64 * d),
                       matrix.begin() + static_cast<std::ptrdiff_t>((i + 1) * 64 * d));
  };
  EXPECT_GT(rms_error(block(made, 0), block(given, 0)), 0.9);
  // Half a step of 2^-3 of a number's binade is 4% of it on average.
  EXPECT_LT(rms_error(block(made, 1), block(given, 1)), 0.04);
  EXPECT_GT(rms_error(block(made, 1), block(given, 1)), 0.01);
}

TEST(Quantise, ARotationKeepsDotProductsAndSpreadsOutliers) {
  constexpr std::size_t d = 128;
  constexpr std::size_t rows = 128;
  const std::vector<float> q = random_matrix(rows, d, 2, 57);
  const std::vector<float> k = random_matrix(rows, d, 3, 57);
  const auto product = [&](const std::vector<float>& a, const std::vector<float>& b, std::size_t row) {
    double sum = 0;
    for (std::size_t c = 0; c < d; ++c) {
      sum += static_cast<double>(a[row * d + c]) * static_cast<double>(b[row * d + c]);
    }
    return sum;
  };
  const auto error = [&](bool rotated) {
    std::vector<float> q8 = q;
    std::vector<float> k8 = k;
    const Quantization by{.query_rows = rows, .keys = rows, .rotated = rotated};
    quantize(q8, Tensor::q, d, by);
    quantize(k8, Tensor::k, d, by);
    double squares = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const double difference = product(q8, k8, row) - product(q, k, row);
      squares += difference * difference;
    }
    return std::sqrt(squares / rows);
  };
  // Scores of N(0, 128) have a standard deviation of 11; the rows with an outlier of 57 in both score 3,249.
  EXPECT_LT(error(true), 2.0);
  EXPECT_LT(error(true), error(false));
}

TEST(Quantise, KeepsQueriesWithoutBlocks) {
  const std::vector<float> given = random_matrix(64, 64, 4, 5);
  std::vector<float> q = given;
  std::vector<float> k = given;
  quantize(q, Tensor::q, 64, {.keys = 64});
  quantize(k, Tensor::k, 64, {.keys = 64});
  EXPECT_EQ(q, given);
  EXPECT_NE(k, given);
}

TEST(Quantise, ValuesAreNeverRotated) {
  constexpr std::size_t d = 64;
  std::vector<float> plain = random_matrix(128, d, 4, 5);
  std::vector<float> rotated = plain;
  quantize(plain, Tensor::v, d, {.query_rows = 64, .keys = 128});
  quantize(rotated, Tensor::v, d, {.query_rows = 64, .keys = 128, .rotated = true});
  EXPECT_EQ(plain, rotated);
}

}  // namespace
}  // namespace attnscope

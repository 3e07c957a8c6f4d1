// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/float16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attnscope {
namespace {

constexpr float infinite_float = std::numeric_limits<float>::infinity();

struct Pattern {
  float value;
  std::uint16_t bits;
};

TEST(Float16, Fp16KnownPatterns) {
  for (const auto& [value, bits] : {
           Pattern{0.0F, 0x0000}, Pattern{-0.0F, 0x8000}, Pattern{1.0F, 0x3C00}, Pattern{-2.0F, 0xC000},
           Pattern{65504.0F, 0x7BFF}, Pattern{infinite_float, 0x7C00}, Pattern{-infinite_float, 0xFC00},
           Pattern{0x1p-14F, 0x0400}, Pattern{0x1.FF8p-15F, 0x03FF},  // largest subnormal
           Pattern{0x1p-24F, 0x0001},                                 // smallest subnormal
           Pattern{0x1.554p-2F, 0x3555},                              // nearest to 1/3
       }) {
    EXPECT_EQ(to_bits(DType::fp16, value), bits) << value;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(from_bits(DType::fp16, bits)), std::bit_cast<std::uint32_t>(value)) << value;
  }
}

TEST(Float16, Fp16RoundsToNearestEven) {
  EXPECT_EQ(to_bits(DType::fp16, 1.0F + 0x1p-11F), 0x3C00);      // halfway, rounds down to even
  EXPECT_EQ(to_bits(DType::fp16, 1.0F + 0x1.8p-10F), 0x3C02);    // halfway, rounds up to even
  EXPECT_EQ(to_bits(DType::fp16, 1.0F + 0x1.002p-11F), 0x3C01);  // just above halfway
  EXPECT_EQ(to_bits(DType::fp16, 65519.99F), 0x7BFF);
  EXPECT_EQ(to_bits(DType::fp16, 65520.0F), 0x7C00);  // halfway to 2^16: rounds to infinity
  EXPECT_EQ(to_bits(DType::fp16, 1e30F), 0x7C00);
  EXPECT_EQ(to_bits(DType::fp16, 0x1p-25F), 0x0000);  // halfway to the smallest subnormal
  EXPECT_EQ(to_bits(DType::fp16, 0x1.000002p-25F), 0x0001);
  EXPECT_EQ(to_bits(DType::fp16, 0x1.8p-24F), 0x0002);
  EXPECT_EQ(to_bits(DType::fp16, 0x1.FFFp-15F), 0x0400);  // rounds up to a normal number
  EXPECT_EQ(to_bits(DType::fp16, 1e-20F), 0x0000);
  EXPECT_EQ(to_bits(DType::fp16, -1e-20F), 0x8000);
}

TEST(Float16, Bf16KnownPatterns) {
  for (const auto& [value, bits] :
       {Pattern{0.0F, 0x0000}, Pattern{1.0F, 0x3F80}, Pattern{-2.0F, 0xC000}, Pattern{infinite_float, 0x7F80},
        Pattern{-infinite_float, 0xFF80}, Pattern{0x1p-126F, 0x0080}, Pattern{0x1p-133F, 0x0001}}) {
    EXPECT_EQ(to_bits(DType::bf16, value), bits) << value;
    EXPECT_EQ(from_bits(DType::bf16, bits), value);
  }
  EXPECT_EQ(to_bits(DType::bf16, 1.0F + 0x1p-8F), 0x3F80);
  EXPECT_EQ(to_bits(DType::bf16, 1.0F + 0x1.8p-7F), 0x3F82);
  EXPECT_EQ(to_bits(DType::bf16, std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(to_bits(DType::bf16, 3.14159274F), 0x4049);
}

TEST(Float16, NanStaysNan) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    EXPECT_TRUE(std::isnan(round_to(dtype, std::numeric_limits<float>::quiet_NaN())));
    // A NaN with zero upper fraction bits must not become infinity.
    EXPECT_TRUE(std::isnan(round_to(dtype, std::bit_cast<float>(0x7F80'0001U))));
    EXPECT_TRUE(std::isnan(from_bits(dtype, 0xFFFF)));
  }
}

TEST(Float16, BuffersHaveTheOutputTypeOfTheProblem) {
  const std::vector<float> values{1.0F, -0.3F, 0x1.fffffep3F};
  for (const auto& [dtype, size] : {std::pair{DType::fp16, 2U}, std::pair{DType::bf16, 2U}, std::pair{DType::fp8, 2U},
                                    std::pair{DType::fp32, 4U}}) {
    std::vector<float> rounded;
    for (const float x : values) rounded.push_back(round_to(dtype, x));
    const std::vector<std::byte> bytes = encode(dtype, values);
    EXPECT_EQ(bytes.size(), values.size() * size);
    EXPECT_EQ(decode(dtype, bytes), rounded);
    EXPECT_TRUE(std::isnan(decode(dtype, std::vector(size, std::byte{0xFF}))[0]));
  }
  EXPECT_EQ(encode(DType::bf16, std::vector{1.0F}), (std::vector{std::byte{0x80}, std::byte{0x3F}}));
  EXPECT_EQ(decode(DType::fp32, encode(DType::fp32, values)), values);
}

TEST(Float16, IntermediateResultsOfFp32HaveAnErrorOfEitherSign) {
  EXPECT_EQ(round_intermediate(DType::fp16, 1.0F + 0x1p-11F, 8), 1.0F);
  int above = 0;
  for (int i = 0; i < 1000; ++i) {
    const float value = 1.0F + static_cast<float>(i) * 0x1p-10F;
    const float off = round_intermediate(DType::fp32, value, 16) / value - 1;
    EXPECT_NEAR(std::abs(off), 0x1p-20F, 0x1p-23F);
    above += off > 0 ? 1 : 0;
  }
  EXPECT_NEAR(above, 500, 100);
  EXPECT_EQ(round_intermediate(DType::fp32, 0, 16), 0);
}

TEST(Float16, EveryFiniteValueSurvivesTheRoundTrip) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      const float value = from_bits(dtype, half);
      if (!std::isnan(value)) {
        ASSERT_EQ(to_bits(dtype, value), half) << value;
      }
    }
  }
}

}  // namespace
}  // namespace attnscope

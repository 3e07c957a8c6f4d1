// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/philox_shape.h"
#include "kernels/model/attention.h"
#include "kernels/oracle/inputs.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <tuple>

namespace attnscope {
namespace {

constexpr std::array<unsigned, 4> words(const Philox4& p) {
  return {p.word[0], p.word[1], p.word[2], p.word[3]};
}

TEST(Philox, KnownAnswers) {
  using Words = std::array<unsigned, 4>;
  EXPECT_EQ(words(philox({{0, 0, 0, 0}}, 0, 0)), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(words(philox({{~0U, ~0U, ~0U, ~0U}}, ~0U, ~0U)), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0)),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, EachEntryHasAUniqueByte) {
  // (counter, byte) pairs of a 64 x 96 matrix are unique and in range.
  std::set<std::tuple<unsigned, unsigned, unsigned, unsigned>> taken;
  for (unsigned row = 0; row < 64; ++row) {
    for (unsigned column = 0; column < 96; ++column) {
      const unsigned byte = dropout_byte_index(row, column);
      ASSERT_LT(byte, 16U);
      ASSERT_TRUE(taken.insert({row / 16, column / 32, row % 8 * 4 + column % 8 / 2, byte}).second);
    }
  }
  EXPECT_EQ(taken.size(), 64U * 96);
}

/// The oracle has an independent implementation.
TEST(Philox, OracleMatchesKernels) {
  int differing = 0;
  for (const unsigned instance : {0U, 1U, 1000U}) {
    for (unsigned row = 0; row < 70; ++row) {
      for (unsigned column = 0; column < 70; ++column) {
        const unsigned kernels = dropout_byte(static_cast<unsigned>(dropout_seed), instance, row, column);
        ASSERT_EQ(dropout_draw(instance, row, column), static_cast<int>(kernels)) << row << ", " << column;
        differing += kernels != dropout_byte(static_cast<unsigned>(dropout_seed), instance, row, column + 1) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(differing, 14'000);
}

TEST(Philox, OneCallCoversSixteenEntries) {
  const Philox4 bytes = dropout_bytes(7, 3, 16 + 5, 64 + 6);
  for (unsigned row = 16; row < 32; ++row) {
    for (unsigned column = 64; column < 96; ++column) {
      if (row % 8 != 5 || column % 8 / 2 != 3) continue;
      const unsigned at = dropout_byte_index(row, column);
      EXPECT_EQ(dropout_byte(7, 3, row, column), bytes.word[at / 4] >> (at % 4 * 8) & 0xFFU);
    }
  }
}

TEST(Philox, BytesAreUniformAndDifferBetweenInstancesAndSeeds) {
  double sum = 0;
  int same_instance = 0;
  int same_seed = 0;
  for (unsigned row = 0; row < 128; ++row) {
    for (unsigned column = 0; column < 128; ++column) {
      const unsigned byte = dropout_byte(1, 0, row, column);
      sum += byte;
      same_instance += byte == dropout_byte(1, 1, row, column) ? 1 : 0;
      same_seed += byte == dropout_byte(2, 0, row, column) ? 1 : 0;
    }
  }
  EXPECT_NEAR(sum / (128 * 128), 127.5, 2.5);
  EXPECT_LT(same_instance, 128);  // 64 expected by chance
  EXPECT_LT(same_seed, 128);
}

}  // namespace
}  // namespace attnscope

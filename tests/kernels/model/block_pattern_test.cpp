// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/block_pattern.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace attnscope {
namespace {

TEST(BlockPattern, CountsWhatTheMaskSaysSquareBySquare) {
  for (const char* words : {"blocks:16:butterfly", "blocks:16:stride7", "blocks:16:random30", "blocks:16:random0"}) {
    const Mask mask = parse_mask(words).value();
    constexpr std::int64_t rows = 70;
    constexpr std::int64_t columns = 200;
    const auto pattern = BlockPattern::of(mask, rows, columns);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (const auto& [first, last] : {std::pair{0, 200}, std::pair{63, 65}, std::pair{1, 64}, std::pair{64, 128},
                                        std::pair{17, 17}, std::pair{5, 199}}) {
        std::int64_t count = 0;
        for (std::int64_t j = first; j < last; ++j) count += mask.block_counts(i, j) ? 1 : 0;
        EXPECT_EQ(pattern->in_row(i, first, last), count) << words << " row " << i << " from " << first;
      }
    }
    for (std::int64_t i = 0; i < rows; i += 13) {
      std::int64_t n = 0;
      for (std::int64_t j = 5; j < columns; ++j) {
        if (!mask.block_counts(i, j)) continue;
        EXPECT_EQ(pattern->nth_in_row(i, 5, n++), j) << words << " row " << i;
      }
    }
    for (std::int64_t j = 0; j < columns; j += 7) {
      std::int64_t n = 0;
      for (std::int64_t i = 2; i < rows; ++i) {
        if (!mask.block_counts(i, j)) continue;
        EXPECT_EQ(pattern->nth_in_column(j, 2, n++), i) << words << " column " << j;
      }
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      std::int64_t count = 0;
      for (std::int64_t i = 3; i < 67; ++i) {
        EXPECT_EQ(pattern->counts(i, j), mask.block_counts(i, j));
        count += mask.block_counts(i, j) ? 1 : 0;
      }
      EXPECT_EQ(pattern->in_column(j, 3, 67), count) << words << " column " << j;
    }
  }
}

TEST(BlockPattern, APatternAskedForAgainIsTheSameObjectAndALargerOneIsMade) {
  const Mask mask = parse_mask("blocks:32:random55").value();
  const auto first = BlockPattern::of(mask, 20, 30);
  EXPECT_EQ(BlockPattern::of(mask, 20, 10), first) << "a part of it";
  const auto larger = BlockPattern::of(mask, 40, 30);
  EXPECT_NE(larger, first);
  EXPECT_EQ(larger->in_row(39, 0, 30), [&] {
    std::int64_t count = 0;
    for (std::int64_t j = 0; j < 30; ++j) count += mask.block_counts(39, j) ? 1 : 0;
    return count;
  }());
  EXPECT_NE(BlockPattern::of(parse_mask("blocks:32:random56").value(), 40, 30), larger);
}

}  // namespace
}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/block_pattern.h"
#include "kernels/model/mask.h"
#include "tests/kernels/programs.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::HasWords;
using test::mask_of;
using ::testing::HasSubstr;

TEST(MaskText, RoundTrip) {
  for (const char* text :
       {"full", "causal", "window:64:0", "window:0:0", "window:inf:5", "window:128:inf", "lengths:ramp", "lengths:0",
        "lengths:300/512/7", "blocks:128:butterfly", "blocks:16:stride1", "blocks:64:stride4", "blocks:256:random0",
        "blocks:256:random100", "causal+lengths:ramp", "window:33:17+lengths:5/0+blocks:64:random25",
        "causal+blocks:128:butterfly"}) {
    EXPECT_EQ(to_string(mask_of(text)), text);
    EXPECT_EQ(mask_of(to_string(mask_of(text))), mask_of(text)) << text;
  }
  EXPECT_EQ(to_string(mask_of("window:inf:0")), "causal");
  EXPECT_EQ(to_string(mask_of("window:inf:inf")), "full");
  EXPECT_EQ(to_string(mask_of("full+causal")), "causal");
  EXPECT_EQ(to_string(mask_of("blocks:64:stride2+causal")), "causal+blocks:64:stride2");
  EXPECT_EQ(mask_of("full"), Mask::none);
  EXPECT_EQ(mask_of("causal"), Mask::causal);
  EXPECT_NE(mask_of("lengths:1/2"), mask_of("lengths:2/1"));
}

TEST(MaskText, ErrorsNameTheCauseAndAcceptedForms) {
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"", ""},
      {"diagonal", "diagonal"},
      {"none", "none"},
      {"causal+", ""},
      {"Causal", "Causal"},
      {"window:-1:0", "left -1"},
      {"window:3:-2", "right -2"},
      {"window:x:0", "left x inf"},
      {"window:4:0x", "right 0x inf"},
      {"window:99999999999999999999:0", "left 99999999999999999999 inf"},
      {"window:4", ""},
      {"window:1:2:3", ""},
      {"causal+window:4:4", "window"},
      {"window:4:4+causal", "window"},
      {"causal+causal", "window"},
      {"lengths", "lengths:ramp"},
      {"lengths:5/-1", "-1"},
      {"lengths:5//6", "length"},
      {"lengths:all", "all"},
      {"lengths:ramp+lengths:5", "lengths"},
      {"blocks:128", "blocks:SIZE:PATTERN"},
      {"blocks:0:butterfly", "16 0"},
      {"blocks:24:butterfly", "16 24"},
      {"blocks:-16:butterfly", "16 -16"},
      {"blocks:big:butterfly", "16 big"},
      {"blocks:64:checker", "checker"},
      {"blocks:64:stride0", "stride 0"},
      {"blocks:64:stride", "stride"},
      {"blocks:64:random101", "101 100"},
      {"blocks:64:random-1", "-1 100"},
      {"blocks:64:butterfly+blocks:64:stride2", "blocks"}};
  for (const auto& [text, words] : wrong) {
    const auto parsed = parse_mask(text);
    ASSERT_FALSE(parsed.ok()) << text;
    const std::string error = attnscope::text(parsed.error());
    EXPECT_THAT(error, HasSubstr("'" + std::string(text) + "'"));
    EXPECT_THAT(error, HasWords(words)) << text;
    EXPECT_THAT(error, HasWords("full causal window:LEFT:RIGHT lengths:ramp")) << text;
  }
}

TEST(MaskText, LimitsStridesAndLengths) {
  EXPECT_TRUE(parse_mask("blocks:64:stride1048576").ok());
  EXPECT_FALSE(parse_mask("blocks:64:stride1048577").ok());
  std::string lengths = "lengths:1";
  for (int i = 1; i < 1 << 16; ++i) lengths += "/1";
  EXPECT_TRUE(parse_mask(lengths).ok());
  EXPECT_FALSE(parse_mask(lengths + "/1").ok());
}

TEST(MaskText, MasksAreOrderedByAllProperties) {
  const std::vector<const char*> texts{"full",
                                       "causal",
                                       "window:5:0",
                                       "window:5:1",
                                       "lengths:ramp",
                                       "lengths:1/2",
                                       "lengths:1/3",
                                       "blocks:16:butterfly",
                                       "blocks:32:butterfly",
                                       "blocks:16:stride2",
                                       "blocks:16:stride3",
                                       "blocks:16:random2"};
  for (const char* a : texts) {
    for (const char* b : texts) EXPECT_EQ(mask_of(a) < mask_of(b) || mask_of(b) < mask_of(a), a != b) << a << " " << b;
  }
}

TEST(MaskBlocks, PatternsMatchTheirDefinitions) {
  const Mask butterfly = mask_of("blocks:16:butterfly");
  const Mask stride = mask_of("blocks:16:stride3");
  const Mask none = mask_of("blocks:16:random0");
  const Mask all = mask_of("blocks:16:random100");
  const Mask quarter = mask_of("blocks:16:random25");
  int counted = 0;
  for (std::int64_t i = 0; i < 64; ++i) {
    for (std::int64_t j = 0; j < 64; ++j) {
      const std::int64_t distance = std::abs(i - j);
      bool power = distance == 0;
      for (std::int64_t x = 1; x <= 64; x *= 2) power |= distance == x;
      EXPECT_EQ(butterfly.block_counts(i, j), power);
      EXPECT_EQ(stride.block_counts(i, j), i == j || j == i - 1 || j % 3 == 2);
      EXPECT_EQ(none.block_counts(i, j), i == j);
      EXPECT_TRUE(all.block_counts(i, j));
      EXPECT_TRUE(Mask::none.block_counts(i, j));
      counted += quarter.block_counts(i, j) ? 1 : 0;
    }
  }
  EXPECT_NEAR(counted, 64 + (64 * 63) / 4, 120);
}

TEST(KeyLengths, RampListAndFull) {
  AttentionProblem p{.batch = 4, .n_q = 1, .n_k = 10};
  const auto lengths = [&] {
    std::vector<std::int64_t> all;
    for (std::int64_t entry = 0; entry < p.batch; ++entry) all.push_back(key_length(p, entry));
    return all;
  };
  EXPECT_EQ(lengths(), (std::vector<std::int64_t>{10, 10, 10, 10}));
  p.mask = mask_of("lengths:ramp");
  EXPECT_EQ(lengths(), (std::vector<std::int64_t>{3, 5, 8, 10}));
  p.mask = mask_of("lengths:10/0/7/1");
  EXPECT_EQ(lengths(), (std::vector<std::int64_t>{10, 0, 7, 1}));
}

/// Definition of the mask in mask.h, for one pair.
bool sees(const AttentionProblem& p, std::int64_t entry, std::int64_t i, std::int64_t j) {
  const std::int64_t length = key_length(p, entry);
  const std::int64_t diagonal = i + length - p.n_q;
  return j < length && (p.mask.left == Mask::unlimited || diagonal - p.mask.left <= j) &&
         (p.mask.right == Mask::unlimited || j <= diagonal + p.mask.right);
}

TEST(VisibleKeys, MatchTheDefinition) {
  for (const char* text : {"full", "causal", "window:0:0", "window:3:0", "window:2:4", "window:inf:2", "window:5:inf",
                           "lengths:ramp", "lengths:0/9/4", "causal+lengths:0/9/4", "window:2:1+lengths:ramp"}) {
    for (const std::int64_t n_q : {1, 2, 5, 9, 14}) {
      const AttentionProblem p{.mask = mask_of(text), .batch = 3, .heads_q = 2, .heads_kv = 1, .n_q = n_q, .n_k = 9};
      std::int64_t pairs = 0;
      for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        for (std::int64_t i = 0; i < n_q; ++i) {
          const KeyRange range = visible_keys(p, entry, i);
          EXPECT_LE(range.first, range.last);
          for (std::int64_t j = 0; j < p.n_k; ++j) {
            EXPECT_EQ(j >= range.first && j < range.last, sees(p, entry, i, j))
                << text << " n_q " << n_q << " entry " << entry << " row " << i << " key " << j;
          }
          pairs += p.heads_q * (range.last - range.first);
        }
      }
      EXPECT_EQ(unmasked_pairs(p), pairs) << text << " n_q " << n_q;
    }
  }
}

TEST(UnmaskedPairs, BlockMasksMatchCounting) {
  for (const char* text : {"blocks:16:butterfly", "blocks:32:stride2", "blocks:16:random30",
                           "causal+blocks:16:butterfly", "window:20:3+blocks:32:random50",
                           "lengths:ramp+blocks:16:stride3", "causal+lengths:0/77+blocks:32:butterfly"}) {
    for (const std::int64_t n_q : {1, 47, 96}) {
      const AttentionProblem p{.mask = mask_of(text), .batch = 2, .heads_q = 3, .n_q = n_q, .n_k = 90};
      std::int64_t pairs = 0;
      for (std::int64_t entry = 0; entry < 2; ++entry) {
        for (std::int64_t i = 0; i < n_q; ++i) {
          for (std::int64_t j = 0; j < 90; ++j) {
            const std::int64_t size = p.mask.block_size;
            pairs += sees(p, entry, i, j) && p.mask.block_counts(i / size, j / size) ? p.heads_q : 0;
          }
        }
      }
      EXPECT_EQ(unmasked_pairs(p), pairs) << text << " n_q " << n_q;
    }
  }
}

TEST(BlockPattern, MatchesTheMaskSquareBySquare) {
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
        EXPECT_EQ(pattern->count_in_row(i, first, last), count) << words << " row " << i << " from " << first;
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
      EXPECT_EQ(pattern->count_in_column(j, 3, 67), count) << words << " column " << j;
    }
  }
}

TEST(BlockPattern, CachesPatternsAndCreatesLargerOnes) {
  const Mask mask = parse_mask("blocks:32:random55").value();
  const auto first = BlockPattern::of(mask, 20, 30);
  EXPECT_EQ(BlockPattern::of(mask, 20, 10), first) << "a part of it";
  const auto larger = BlockPattern::of(mask, 40, 30);
  EXPECT_NE(larger, first);
  EXPECT_EQ(larger->count_in_row(39, 0, 30), [&] {
    std::int64_t count = 0;
    for (std::int64_t j = 0; j < 30; ++j) count += mask.block_counts(39, j) ? 1 : 0;
    return count;
  }());
  EXPECT_NE(BlockPattern::of(parse_mask("blocks:32:random56").value(), 40, 30), larger);
}

}  // namespace
}  // namespace attnscope

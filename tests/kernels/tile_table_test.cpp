// SPDX-License-Identifier: Apache-2.0
#include "kernels/tile_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

using ::testing::HasSubstr;

const DeviceLimits& h200() {
  return *find_gpu("h200");
}

constexpr std::string_view text =
    "# comment\n"
    "algorithm,pass,arch,mask,d,br,bc,warps,stages,reason\n"
    "fa2,fwd,9.0,full,64,192,128,0,0,of 40 tiles; at worst 1.010, and more\n"
    "fa2,fwd,9.0,full,128,128,96,0,2,because\n"
    "fa2,fwd,9.0,causal,128,64,64,4,0,because\n"
    "fa2,bwd,9.0,full,128,64,128,0,0,because\n";

TEST(TileTable, ParsesAndPrintsTheSame) {
  const auto table = parse_tile_table(text).value();
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(table[0].reason, "of 40 tiles; at worst 1.010, and more");
  EXPECT_EQ(table[1].tile, (TileShape{.br = 128, .bc = 96, .stages = 2}));
  EXPECT_EQ(table[2].tile, (TileShape{.br = 64, .bc = 64, .warps = 4}));
  EXPECT_TRUE(table[2].causal);
  EXPECT_EQ(table[3].pass, Pass::bwd);
  EXPECT_EQ(parse_tile_table(format_tile_table(table)).value(), table);
}

TEST(TileTable, AMistakeIsNamedWithItsLine) {
  EXPECT_THAT(parse_tile_table("fa2,fwd,9.0,full,64,192\n").error(), HasSubstr("line 1: it has fewer than 10 fields"));
  EXPECT_THAT(parse_tile_table("\nfa2,fwd,9.0,half,64,1,1,0,0,x\n").error(), HasSubstr("line 2: mask 'half'"));
  EXPECT_THAT(parse_tile_table("fa2,up,9.0,full,64,1,1,0,0,x\n").error(), HasSubstr("unknown pass 'up'"));
  EXPECT_THAT(parse_tile_table("fa2,fwd,9.0,full,d,1,1,0,0,x\n").error(), HasSubstr("whole numbers"));
  EXPECT_THAT(parse_tile_table("fa2,fwd,9.0,full,64,-1,1,0,0,x\n").error(), HasSubstr("whole numbers"));
}

TEST(TileTable, ALineHoldsFromTheNextSmallerHeadDimensionOn) {
  const auto table = parse_tile_table(text).value();
  const auto br_of = [&](AttentionProblem p) {
    const TileChoice* choice = find_tile_choice(table, "fa2", p, h200());
    return choice == nullptr ? 0 : choice->tile.br;
  };
  EXPECT_EQ(br_of({.d = 32}), 192);
  EXPECT_EQ(br_of({.d = 64}), 192);
  EXPECT_EQ(br_of({.d = 80}), 128);
  EXPECT_EQ(br_of({.d = 192}), 0);
  EXPECT_EQ(br_of({.mask = Mask::causal, .d = 16}), 64);
  EXPECT_EQ(br_of({.mask = parse_mask("lengths:ramp").value(), .d = 64}), 192);
  EXPECT_EQ(br_of({.mask = parse_mask("window:5:7").value(), .d = 64}), 64);
  EXPECT_EQ(br_of({.pass = Pass::fwd_bwd, .d = 64}), 0);
  EXPECT_EQ(find_tile_choice(table, "fa1", {.d = 64}, h200()), nullptr);
  EXPECT_EQ(find_tile_choice(table, "fa2", {.d = 64}, *find_gpu("a100")), nullptr);
}

TEST(TileTable, EveryLineOfOursRunsAndIsWhatAutoPicks) {
  for (const TileChoice& choice : tile_table()) {
    SCOPED_TRACE(choice.algorithm + " " + choice.arch + " " + choice.reason);
    const Algorithm* algorithm = find_algorithm(choice.algorithm);
    ASSERT_NE(algorithm, nullptr);
    ASSERT_EQ(choice.arch, "9.0") << "name a GPU for it here";
    const AttentionProblem p{.pass = choice.pass,
                             .mask = choice.causal ? Mask::causal : Mask::none,
                             .batch = 4,
                             .heads_q = 16,
                             .heads_kv = 16,
                             .n_q = 4096,
                             .n_k = 4096,
                             .d = choice.d};
    EXPECT_FALSE(algorithm->refusal(p, choice.tile, h200()));
    EXPECT_EQ(auto_tile(*algorithm, p, h200()), choice.tile);
  }
}

TEST(TileTable, WithoutALineTheAlgorithmsOwnRuleHolds) {
  const Algorithm& fa2 = *find_algorithm("fa2");
  const AttentionProblem p{.n_q = 512, .n_k = 512, .d = 128};
  EXPECT_EQ(auto_tile(fa2, p, *find_gpu("a100")), fa2.default_tile(p, *find_gpu("a100")));
}

}  // namespace
}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "kernels/tile_table.h"
#include "kernels/common_knobs.h"
#include "kernels/registry.h"
#include "tests/kernels/modified_algorithm.h"
#include "tests/kernels/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

using test::h200;

constexpr std::string_view lines =
    "# comment\n"
    "algorithm,pass,arch,mask,d,n,br,bc,warps,stages,splits,reason\n"
    "fa2,fwd,9.0,full,64,16384,192,128,0,0,0,of 40 tiles; at worst 1.010, and more\n"
    "fa2,fwd,9.0,full,128,4096,128,96,0,2,0,because\n"
    "fa2,fwd,9.0,full,128,512,64,96,0,0,0,because\n"
    "fa2,fwd,9.0,full,128,1024,96,96,0,0,0,because\n"
    "fa2,fwd,9.0,causal,128,1024,64,64,4,0,0,because\n"
    "fa2,bwd,9.0,full,128,1024,64,128,0,0,0,because\n"
    "splitkv,fwd,9.0,full,128,4096,16,128,0,0,24,because\n";

TEST(TileTable, Parses) {
  const auto table = parse_tile_table(lines);
  ASSERT_EQ(table.size(), 7U);
  EXPECT_EQ(table[0].reason, "of 40 tiles; at worst 1.010, and more");
  EXPECT_EQ(table[0].n, 16384);
  EXPECT_EQ(table[1].config, (Tiling{.br = 128, .bc = 96, .stages = 2}));
  EXPECT_EQ(table[4].config, (Tiling{.br = 64, .bc = 64, .warps = 4}));
  EXPECT_TRUE(table[4].causal);
  EXPECT_EQ(table[5].pass, Pass::bwd);
  EXPECT_EQ(table[6].config, (Tiling{.br = 16, .bc = 128, .splits = 24}));
}

TEST(TileTable, ErrorsNameTheLine) {
  const std::string header = "algorithm,pass,arch,mask,d,n,br,bc,warps,stages,splits,reason\n";
  const auto error = [](const std::string& lines) { return [lines] { (void)parse_tile_table(lines); }; };
  using testing::HasSubstr;
  using testing::ThrowsMessage;
  for (const char* wrong :
       {"fa2,fwd,9.0,full,64,512,192\n", "fa2,fwd,9.0,half,64,512,1,1,0,0,0,x\n",
        "fa2,up,9.0,full,64,512,1,1,0,0,0,x\n", "fa2,fwd,9.0,full,d,512,1,1,0,0,0,x\n",
        "fa2,fwd,9.0,full,64,n,1,1,0,0,0,x\n", "fa2,fwd,9.0,full,64,512,-1,1,0,0,0,x\n",
        "fa2,fwd,9.0,full,64,512,1,1,0,x,0,x\n", "fa2,fwd,9.0,full,64,512,1,1,0,0,x,x\n",
        "algorithm,pass,arch,mask,d,n,br,bc,cluster,reason\n", "algorithm,pass,arch,mask,d,n,br,bc,raster,reason\n"}) {
    EXPECT_THAT(error(header + "\n" + wrong), ThrowsMessage<std::invalid_argument>(HasSubstr("line 3"))) << wrong;
  }
  EXPECT_THAT(error("fa2,fwd,9.0,full,64,512,1,1,0,0,0,x\n"), ThrowsMessage<std::invalid_argument>(HasSubstr("line 1")))
      << "missing header";
}

TEST(TileTable, LineCoversRangeOfHeadDimensions) {
  const auto table = parse_tile_table(lines);
  const auto br_of = [&](const AttentionProblem& p) {
    const TileChoice* choice = find_tile_choice(table, "fa2", p, h200());
    return choice == nullptr ? 0 : choice->config.tile.br;
  };
  EXPECT_EQ(br_of({.n_k = 4096, .d = 32}), 192);
  EXPECT_EQ(br_of({.n_k = 4096, .d = 64}), 192);
  EXPECT_EQ(br_of({.n_k = 4096, .d = 80}), 128);
  EXPECT_EQ(br_of({.n_k = 4096, .d = 192}), 0);
  EXPECT_EQ(br_of({.mask = Mask::causal, .d = 16}), 64);
  EXPECT_EQ(br_of({.mask = parse_mask("lengths:ramp").value(), .d = 64}), 192);
  EXPECT_EQ(br_of({.mask = parse_mask("window:5:7").value(), .d = 64}), 64);
  EXPECT_EQ(br_of({.pass = Pass::fwd_bwd, .d = 64}), 0);
  EXPECT_EQ(find_tile_choice(table, "fa1", {.d = 64}, h200()), nullptr);
  EXPECT_EQ(find_tile_choice(table, "fa2", {.d = 64}, *find_gpu("a100")), nullptr);
}

TEST(TileTable, LineCoversRangeOfLengths) {
  const auto table = parse_tile_table(lines);
  for (const auto& [n, br] : {std::pair{1, 64},
                              {511, 64},
                              {512, 64},
                              {513, 96},
                              {1024, 96},
                              {1025, 128},
                              {4096, 128},
                              {4097, 128},
                              {131072, 128}}) {
    // n_k selects the line, not n_q; d is matched before the length: d 64 has a line for n 16384.
    for (const std::int64_t d : {80, 128}) {
      const TileChoice* choice = find_tile_choice(table, "fa2", {.n_q = 700, .n_k = n, .d = d}, h200());
      ASSERT_NE(choice, nullptr);
      EXPECT_EQ(choice->config.tile.br, br) << "n_k " << n << " d " << d;
    }
  }
}

TEST(TileTable, BuiltInLinesAreFeasibleAndSelected) {
  for (const TileChoice& choice : tile_table()) {
    SCOPED_TRACE(choice.algorithm + " " + choice.arch + " " + choice.reason);
    const Algorithm* algorithm = built_in_algorithms().find(choice.algorithm);
    ASSERT_NE(algorithm, nullptr);
    ASSERT_EQ(choice.arch, "9.0") << "name a GPU for it here";
    AttentionProblem p{.pass = choice.pass,
                       .mask = choice.causal ? Mask::causal : Mask::none,
                       .batch = 4,
                       .heads_q = 16,
                       .heads_kv = 16,
                       .n_q = choice.n,
                       .n_k = choice.n,
                       .d = choice.d};
    if (algorithm->facts().for_decoding) {
      p.batch = p.n_q = 1;
      p.heads_kv = tuning_kv_heads(p.d);
      p.heads_q = tuning_gqa_group * p.heads_kv;
    }
    EXPECT_FALSE(algorithm->refusal(p, choice.config, h200()));
    Tiling expected = tiling_from(choice.config);
    if (expected.splits == 0) expected.splits = tiling_from(algorithm->default_config(p, h200())).splits;
    EXPECT_EQ(auto_config(*algorithm, p, h200()), expected);
    if (!algorithm->facts().for_decoding) continue;
    AttentionProblem more_heads = p;
    more_heads.batch = 8;
    AttentionProblem few_keys = p;
    few_keys.n_k = 256;
    for (const AttentionProblem& other : {more_heads, few_keys}) {
      EXPECT_EQ(tiling_from(auto_config(*algorithm, other, h200())).splits,
                tiling_from(algorithm->default_config(other, h200())).splits);
    }
  }
}

TEST(TileTable, DecodingLinesUseEightQueryHeadsPerKvHead) {
  EXPECT_EQ(tuning_kv_heads(128), 2);
  EXPECT_EQ(tuning_kv_heads(80), 3);
  EXPECT_EQ(tuning_kv_heads(256), 1);
  EXPECT_EQ(tuning_kv_heads(512), 1);
}

TEST(TileTable, FallsBackToDefaultConfig) {
  const Algorithm& fa2 = *built_in_algorithms().find("fa2");
  const AttentionProblem p{.n_q = 512, .n_k = 512, .d = 128};
  EXPECT_EQ(auto_config(fa2, p, *find_gpu("a100")), fa2.default_config(p, *find_gpu("a100")));
}

}  // namespace
}  // namespace attnscope

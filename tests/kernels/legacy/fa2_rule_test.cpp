// SPDX-License-Identifier: Apache-2.0
// The expected answers were taken from version 0.1 itself, from the plans that it made.
#include "kernels/legacy/fa2_rule.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace attnscope::legacy {
namespace {

Fa2Run on_h200(int br, int bc, int stages = 0) {
  return {
      .br = br, .bc = bc, .stages = stages, .compute_major = 9, .compute_minor = 0, .shared_bytes_per_block = 232'448};
}

AttentionProblem problem(std::int64_t d, Pass pass = Pass::fwd, std::string_view mask = "none", double dropout = 0) {
  return {.pass = pass, .mask = parse_mask(mask).value(), .n_q = 4096, .n_k = 4096, .d = d, .dropout = dropout};
}

constexpr std::array tall{64, 128, 192};

/// Of each d the widest Bc that ran on wgmma, for Br 64, 128 and 192, with 0 (the kernel's choice), 1, 2 and 3 stages;
/// every narrower one did too.
struct Widest {
  std::int64_t d;
  std::array<std::array<int, 4>, 3> bc;
};
constexpr std::array<Widest, 16> forward{{
    {16, {{{224, 224, 224, 224}, {240, 240, 240, 240}, {160, 160, 160, 160}}}},
    {32, {{{208, 208, 208, 208}, {240, 240, 240, 240}, {144, 144, 144, 144}}}},
    {48, {{{208, 208, 208, 208}, {224, 224, 224, 224}, {144, 144, 144, 144}}}},
    {64, {{{192, 192, 192, 192}, {208, 208, 208, 208}, {128, 128, 128, 128}}}},
    {80, {{{176, 176, 176, 128}, {208, 208, 192, 128}, {112, 112, 112, 112}}}},
    {96, {{{176, 176, 176, 128}, {192, 192, 192, 128}, {112, 112, 112, 112}}}},
    {112, {{{160, 160, 160, 128}, {176, 176, 176, 128}, {96, 96, 96, 96}}}},
    {128, {{{144, 144, 144, 128}, {176, 176, 176, 128}, {80, 80, 80, 80}}}},
    {144, {{{144, 144, 128, 80}, {160, 160, 112, 64}, {80, 80, 80, 64}}}},
    {160, {{{128, 128, 128, 80}, {144, 144, 112, 64}, {64, 64, 64, 64}}}},
    {176, {{{112, 112, 112, 80}, {144, 144, 112, 64}, {48, 48, 48, 48}}}},
    {192, {{{112, 112, 112, 80}, {128, 128, 112, 64}, {48, 48, 48, 48}}}},
    {208, {{{80, 80, 80, 64}, {112, 112, 80, 48}, {16, 16, 16, 16}}}},
    {224, {{{80, 80, 80, 64}, {96, 96, 80, 48}, {16, 16, 16, 16}}}},
    {240, {{{64, 64, 64, 64}, {80, 80, 80, 48}, {0, 0, 0, 0}}}},
    {256, {{{48, 48, 48, 48}, {80, 80, 80, 48}, {0, 0, 0, 0}}}},
}};

TEST(Fa2Of01, ForwardPassesRanOnWgmmaUpToTheWidestTile) {
  for (const auto& [d, widest] : forward) {
    for (std::size_t rows = 0; rows < tall.size(); ++rows) {
      for (int stages = 0; stages <= 3; ++stages) {
        for (int bc = 16; bc <= 512; bc += 16) {
          EXPECT_EQ(ran_on_wgmma(problem(d), on_h200(tall[rows], bc, stages)),
                    bc <= widest[rows][static_cast<std::size_t>(stages)])
              << "d " << d << " " << tall[rows] << "x" << bc << " stages " << stages;
        }
      }
    }
    for (const int br : {16, 32, 48, 80, 96, 112, 160, 224, 256, 512}) {
      EXPECT_FALSE(ran_on_wgmma(problem(d), on_h200(br, 16))) << br;
    }
  }
  EXPECT_FALSE(ran_on_wgmma(problem(16), on_h200(64, 16, 4)));
}

TEST(Fa2Of01, ForwardNeitherMaskNorDropoutNorRasterMattered) {
  for (const char* mask : {"causal", "window:64:0", "lengths:ramp", "blocks:128:butterfly"}) {
    for (const double dropout : {0.0, 0.1}) {
      Fa2Run run = on_h200(64, 64);
      run.q_fastest = false;
      EXPECT_TRUE(ran_on_wgmma(problem(64, Pass::fwd, mask, dropout), run)) << mask;
    }
  }
}

TEST(Fa2Of01, ForwardTheWarpsHadToBeWholeWarpgroups) {
  for (const int br : tall) {
    for (int warps = 1; warps <= 16; ++warps) {
      Fa2Run run = on_h200(br, 64);
      run.warps = warps;
      EXPECT_EQ(ran_on_wgmma(problem(64), run), warps == br / 16) << br << " rows, " << warps << " warps";
    }
  }
}

TEST(Fa2Of01, BackwardPassesHadOneTile) {
  for (const auto& [d, widest] : forward) {
    for (int br = 16; br <= 256; br += 16) {
      for (int bc = 16; bc <= 256; bc += 16) {
        const bool one = (d == 64 && br == 128 && bc == 128) || (d == 128 && br == 64 && bc == 128);
        EXPECT_EQ(ran_on_wgmma(problem(d, Pass::bwd), on_h200(br, bc)), one) << d << " " << br << "x" << bc;
      }
    }
  }
  for (const std::int64_t d : {64, 128}) {
    const Fa2Run run = on_h200(d == 64 ? 128 : 64, 128);
    for (const char* mask : {"causal", "window:64:0", "lengths:ramp"}) {
      EXPECT_TRUE(ran_on_wgmma(problem(d, Pass::bwd, mask), run)) << mask;
    }
    EXPECT_FALSE(ran_on_wgmma(problem(d, Pass::bwd, "blocks:128:butterfly"), run));
    EXPECT_FALSE(ran_on_wgmma(problem(d, Pass::bwd, "none", 0.1), run));
    Fa2Run other_raster = run;
    other_raster.q_fastest = false;
    EXPECT_FALSE(ran_on_wgmma(problem(d, Pass::bwd), other_raster));
    // Of both passes one is enough: here the forward pass alone.
    EXPECT_TRUE(ran_on_wgmma(problem(d, Pass::fwd_bwd, "none", 0.1), other_raster));
  }
  EXPECT_FALSE(ran_on_wgmma(problem(256, Pass::fwd_bwd), on_h200(64, 64)));
  EXPECT_TRUE(ran_on_wgmma(problem(192, Pass::fwd_bwd), on_h200(64, 64)));
}

TEST(Fa2Of01, OtherGpusRanMma) {
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 6}, {8, 9}, {10, 0}, {12, 0}}) {
    for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
      Fa2Run run = on_h200(128, 128);
      run.compute_major = major, run.compute_minor = minor;
      EXPECT_FALSE(ran_on_wgmma(problem(64, pass), run)) << major << "." << minor;
    }
  }
  Fa2Run smaller = on_h200(64, 64);
  smaller.shared_bytes_per_block = 232'447;
  EXPECT_FALSE(ran_on_wgmma(problem(64), smaller));
}

/// The points of fa2 in the sample that came with version 0.1, "128x64*3": three of that tile.
struct Sampled {
  Pass pass;
  const char* mask;
  std::int64_t d;
  int stages;
  bool wgmma;
  const char* tiles;
};

TEST(Fa2Of01, OfTheSamplesPointsEightyFourRanOnWgmma) {
  const std::vector<Sampled> points{
      {Pass::bwd, "none", 128, 0, true, "64x128*5"},
      {Pass::bwd, "none", 64, 0, true, "128x128*5"},
      {Pass::fwd, "blocks:128:butterfly", 128, 0, true, "128x128*3"},
      {Pass::fwd, "causal", 128, 0, true, "128x128*3"},
      {Pass::fwd, "lengths:ramp", 128, 0, true, "128x144*3"},
      {Pass::fwd, "none", 128, 0, false,
       "16x16 16x32 16x48 16x64 16x80 16x96 16x112 16x128 16x160 16x192 16x224 16x256 16x320 "
       "16x384 32x16 32x32 32x48 32x64 32x80 32x96 32x112 32x128 32x160 32x192 32x224 32x256 "
       "32x320 32x384 48x16 48x32 48x48 48x64 48x80 48x96 48x112 48x128 48x160 48x192 48x224 "
       "48x256 48x320 48x384 64x160 64x192 64x224 64x256 64x320 64x384 80x16 80x32 80x48 80x64 "
       "80x80 80x96 80x112 80x128 80x160 80x192 80x224 80x256 80x320 80x384 96x16 96x32 96x48 "
       "96x64 96x80 96x96 96x112 96x128 96x160 96x192 96x224 96x256 96x320 96x384 112x16 112x32 "
       "112x48 112x64 112x80 112x96 112x112 112x128 112x160 112x192 112x224 112x256 112x320 "
       "112x384 128x192 128x224 128x256 128x320 128x384 160x16 160x32 160x48 160x64 160x80 "
       "160x96 160x112 160x128 160x160 160x192 160x224 160x256 160x320 192x96 192x112 192x128 "
       "192x160 192x192 192x224 192x256 192x320 224x16 224x32 224x48 224x64 224x80 224x96 "
       "224x112 224x128 224x160 224x192 224x224 224x256 224x320 256x16 256x32 256x48 256x64 "
       "256x80 256x96 256x112 256x128 256x160 256x192 256x224 256x256 256x320"},
      {Pass::fwd, "none", 128, 0, true,
       "64x16 64x32 64x48 64x64 64x80 64x96 64x112 64x128 128x16 128x32 128x48 128x64 128x80 "
       "128x96 128x112 128x128 128x144*16 128x160 192x16 192x32 192x48 192x64 192x80*6"},
      {Pass::fwd, "none", 64, 0, false, "32x32 32x64 32x128 32x256 64x256 128x256 256x32 256x64 256x128 256x256"},
      {Pass::fwd, "none", 64, 0, true, "64x32 64x64 64x128 128x32 128x64 128x128"},
      {Pass::fwd, "none", 64, 3, true, "192x96*12"},
      {Pass::fwd, "window:1024:0", 128, 0, true, "128x128*3"},
      {Pass::fwd_bwd, "none", 64, 0, true, "128x128"},
  };
  int on_wgmma = 0;
  int all = 0;
  for (const Sampled& row : points) {
    std::istringstream words(row.tiles);
    for (std::string word; words >> word;) {
      int br = 0;
      int bc = 0;
      int count = 1;
      char sign = 0;
      std::istringstream(word) >> br >> sign >> bc >> sign >> count;
      if (word.find('*') == std::string::npos) count = 1;  // a failed read leaves 0
      const AttentionProblem p = problem(row.d, row.pass, row.mask);
      EXPECT_EQ(ran_on_wgmma(p, on_h200(br, bc, row.stages)), row.wgmma) << describe(p) << " " << word;
      EXPECT_EQ(shown_algorithm("fa2", p, on_h200(br, bc, row.stages)), row.wgmma ? "fa2 (wgmma, 0.1)" : "fa2");
      EXPECT_EQ(shown_algorithm("fa1", p, on_h200(br, bc, row.stages)), "fa1");
      all += count;
      on_wgmma += row.wgmma ? count : 0;
    }
  }
  EXPECT_EQ(all, 236);
  EXPECT_EQ(on_wgmma, 84);
}

}  // namespace
}  // namespace attnscope::legacy

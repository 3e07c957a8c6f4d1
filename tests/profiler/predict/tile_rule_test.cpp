// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/tile_rule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/common_knobs.h"
#include "kernels/registry.h"
#include "tests/kernels/modified_algorithm.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::kib;

AttentionProblem problem_of(std::int64_t d = 64, Pass pass = Pass::fwd) {
  AttentionProblem problem = fixtures::spec("fa1", 4096, 64, 64, d).problem;
  problem.pass = pass;
  return problem;
}

const Algorithm& algorithm(const char* name) {
  return *built_in_algorithms().find(name);
}

std::optional<RuleTile> rule(const char* name, std::int64_t m_bytes, std::int64_t d = 64, Pass pass = Pass::fwd) {
  return paper_rule_tile(algorithm(name), problem_of(d, pass), {}, fixtures::h200(), m_bytes);
}

TEST(NearestTile, MinimizesTheLogDistance) {
  EXPECT_DOUBLE_EQ(tile_distance({64, 64}, {128, 64}), std::log(2.0));
  EXPECT_DOUBLE_EQ(tile_distance({128, 64}, {64, 64}), tile_distance({64, 64}, {64, 128}));
  const AttentionProblem problem = problem_of(128);
  const Config asked(TileShape{.br = 512, .bc = 512});
  ASSERT_TRUE(algorithm("fa2").refusal(problem, asked, fixtures::h200()));
  const auto nearest = nearest_tile(algorithm("fa2"), problem, asked, fixtures::h200());
  ASSERT_TRUE(nearest);
  EXPECT_FALSE(algorithm("fa2").refusal(problem, *nearest, fixtures::h200()));
  const double distance = tile_distance(nearest->tile, asked.tile);
  for (int br = 16; br <= tile_side_limit; br += 16) {
    for (int bc = 16; bc <= tile_side_limit; bc += 16) {
      const TileShape tile{.br = br, .bc = bc};
      if (tile_distance(tile, asked.tile) >= distance) continue;
      EXPECT_TRUE(algorithm("fa2").refusal(problem, tile, fixtures::h200())) << describe(tile);
    }
  }
}

TEST(NearestTile, AcceptsSidesThatAreNoMultiplesOf16) {
  const auto nearest = nearest_tile(algorithm("fa2"), problem_of(), TileShape{.br = 100, .bc = 70}, fixtures::h200());
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->tile, (TileShape{.br = 96, .bc = 64}));
}

TEST(NearestTile, IsTheLargerOfTwoAtEqualDistance) {
  Facts facts = algorithm("fa2").facts();
  facts.br = {32, 128};
  facts.bc = {64};
  const test::ModifiedAlgorithm fa2(algorithm("fa2"), facts);
  const auto nearest = nearest_tile(fa2, problem_of(), TileShape{.br = 64, .bc = 64}, fixtures::h200());
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->tile, (TileShape{.br = 128, .bc = 64})) << "half and twice the rows are equally far";
}

TEST(NearestTile, DropsOnlyTileKnobs) {
  Config asked(TileShape{.br = 256, .bc = 256});
  asked.knobs.set("warps", std::int64_t{7});
  asked.knobs.set("raster", std::string(knob::heads_fastest));
  const auto nearest = nearest_tile(algorithm("fa2"), problem_of(128), asked, fixtures::h200());
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->knobs, (Knobs{{"raster", std::string(knob::heads_fastest)}}));
}

TEST(NearestTile, IsEmptyIfNoTileIsFeasible) {
  EXPECT_FALSE(nearest_tile(algorithm("fa3"), problem_of(), {}, *find_gpu("A100"))) << "no wgmma";
  EXPECT_FALSE(nearest_tile(algorithm("fa2"), problem_of(72), {}, fixtures::h200())) << "d 72 is not supported";
}

TEST(TilesAround, AreSortedByDistanceAndInRange) {
  const std::vector<TileShape> tiles = tiles_around({}, {.br = 128, .bc = 16}, 2);
  ASSERT_EQ(tiles.size(), 5U * 3 - 1) << "16 is the smallest side";
  EXPECT_EQ(tiles[0], (TileShape{.br = 112, .bc = 16}));
  for (std::size_t i = 1; i < tiles.size(); ++i) {
    EXPECT_LE(tile_distance(tiles[i - 1], {128, 16}), tile_distance(tiles[i], {128, 16}));
  }
  // An unusual side is kept as is.
  EXPECT_EQ(
      tiles_around({}, {.br = 144, .bc = 64}, 1),
      (std::vector<TileShape>{{160, 64}, {128, 64}, {144, 80}, {160, 80}, {128, 80}, {144, 48}, {160, 48}, {128, 48}}));
}

TEST(TilesAround, UseTheSidesOfTheAlgorithm) {
  Facts facts;
  facts.br = {64, 128};
  facts.bc = {32};
  EXPECT_EQ(tiles_around(facts, {.br = 64, .bc = 32}, 3), (std::vector<TileShape>{{128, 32}}));
}

TEST(PaperRuleTile, FollowsThePapersRule) {
  // 64 KiB: M = 32768 elements, ceil(M / 4d) = 128 at d 64.
  const auto fa1 = rule("fa1", 64 * kib);
  ASSERT_TRUE(fa1);
  EXPECT_EQ(fa1->outer, TileSide::bc);
  EXPECT_EQ(fa1->asked, (TileShape{.br = 64, .bc = 128}));
  ASSERT_TRUE(fa1->config);
  EXPECT_EQ(fa1->config->tile, fa1->asked) << "(Br + 2 Bc) d elements of 2 bytes are 40 KiB";
  const auto fa2 = rule("fa2", 64 * kib);
  ASSERT_TRUE(fa2);
  EXPECT_EQ(fa2->outer, TileSide::br) << "query-stationary: Br and Bc are exchanged";
  EXPECT_EQ(fa2->asked, (TileShape{.br = 128, .bc = 64}));
  EXPECT_EQ(rule("fa2", 64 * kib, 64, Pass::bwd)->outer, TileSide::bc) << "the backward pass is key-stationary";
}

TEST(PaperRuleTile, IsRoundedDownTo16) {
  // 30 KiB: 15360 elements, ceil(15360 / 256) = 60.
  const auto tile = rule("fa1", 30 * kib);
  EXPECT_EQ(tile->asked, (TileShape{.br = 60, .bc = 60}));
  EXPECT_EQ(tile->config->tile, (TileShape{.br = 48, .bc = 48}));
  EXPECT_EQ(rule("fa1", 16 * kib, 128)->config->tile, (TileShape{.br = 16, .bc = 16})) << "the smallest";
}

TEST(PaperRuleTile, FeasibleTilesFitIntoM) {
  for (const char* name : {"fa1", "fa2"}) {
    for (std::int64_t m = 14 * kib; m <= 227 * kib; m += 3 * kib) {
      const auto tile = rule(name, m, 128);
      ASSERT_TRUE(tile);
      if (!tile->config) continue;
      DeviceLimits within = fixtures::h200();
      within.shared_bytes_per_block = m;
      EXPECT_FALSE(algorithm(name).refusal(problem_of(128), *tile->config, within)) << name << " " << m;
    }
  }
}

TEST(PaperRuleTile, ReportsIfLargerMChangesNothing) {
  for (const char* name : {"fa1", "fa2"}) {
    bool ended = false;
    for (std::int64_t m = 16 * kib; m <= 227 * kib; m += kib) {
      const auto tile = rule(name, m);
      ASSERT_TRUE(tile && tile->config);
      EXPECT_TRUE(tile->unchanged_by_larger_m || !ended) << name << " " << m << ": stays unchanged for all larger M";
      ended = tile->unchanged_by_larger_m;
      bool same = true;
      for (std::int64_t more = m; more <= 227 * kib; more += kib)
        same = same && rule(name, more)->config == tile->config;
      EXPECT_EQ(tile->unchanged_by_larger_m, same) << name << " " << m;
    }
    EXPECT_TRUE(ended);
  }
}

TEST(PaperRuleTile, ReportsTheLimitingRefusal) {
  // All shared memory of an H200 gives 448 keys, but dK and dV in fp32 exceed the registers.
  const auto tile = rule("fa1", 227 * kib, 64, Pass::bwd);
  ASSERT_TRUE(tile && tile->config);
  EXPECT_GT(tile->asked.bc, tile->config->tile.bc + 16);
  EXPECT_TRUE(tile->unchanged_by_larger_m);
  ASSERT_TRUE(tile->limiting_refusal);
  EXPECT_NE(tile->limiting_refusal->cause, Refusal::Cause::shared_memory);
}

TEST(PaperRuleTile, IsEmptyForAlgorithmsWithoutATrafficSide) {
  EXPECT_FALSE(rule("naive", 64 * kib));
  EXPECT_FALSE(rule("splitkv", 64 * kib));
}

}  // namespace
}  // namespace attnscope::analysis

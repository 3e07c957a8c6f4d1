// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "kernels/registry.h"
#include "profiler/plan/sweep.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope {
namespace {

using fixtures::h200;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<PointSpec> planned(const SweepRequest& request) {
  const auto plan = make_plan(request, h200(), built_in_algorithms());
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : text(plan.error()));
  return plan.ok() ? plan->points : std::vector<PointSpec>();
}

std::vector<PointSpec> planned(const std::vector<std::string>& axes, std::vector<std::string> algorithms) {
  SweepRequest request{.preset = {}, .axes = {}, .algorithms = std::move(algorithms)};
  for (const std::string& text : axes) request.axes.push_back(*parse_axis(text, built_in_algorithms()));
  return planned(request);
}

std::vector<std::int64_t> ms_of(const std::vector<PointSpec>& points) {
  return predicted_collection_ms(points, built_in_algorithms());
}

/// Checks the invariants of any cut of any plan.
void expect_valid_partition(const std::vector<PointSpec>& points, const std::vector<std::int64_t>& ms, int count) {
  const std::vector<PointIndices> shards = cut(points, ms, count);
  ASSERT_EQ(shards.size(), static_cast<std::size_t>(count));
  std::vector<int> shard_of(points.size(), -1);
  for (std::size_t s = 0; s < shards.size(); ++s) {
    EXPECT_TRUE(std::ranges::is_sorted(shards[s]));
    for (const std::size_t place : shards[s]) {
      ASSERT_LT(place, points.size());
      EXPECT_EQ(shard_of[place], -1) << "in two shards";
      shard_of[place] = static_cast<int>(s);
    }
  }
  EXPECT_EQ(std::ranges::count(shard_of, -1), 0) << "in none";

  const std::int64_t total = std::accumulate(ms.begin(), ms.end(), std::int64_t{0});
  std::int64_t largest = total / (8 * count);
  for (const PointIndices& group : comparison_groups(points)) {
    std::int64_t its = 0;
    for (const std::size_t place : group) {
      EXPECT_EQ(shard_of[place], shard_of[group.front()]) << "a group is split";
      its += ms[place];
    }
    largest = std::max(largest, its);
  }
  for (const PointIndices& shard : shards) {
    std::int64_t load = 0;
    for (const std::size_t place : shard) load += ms[place];
    EXPECT_LE(load, total / count + largest) << "worse than the longest-processing-time-first rule";
  }
  EXPECT_EQ(shards, cut(points, ms, count));
}

TEST(Shards, of_every_preset_are_valid) {
  for (const Preset& preset : presets()) {
    const std::vector<PointSpec> points = planned({.preset = std::string(preset.name), .axes = {}, .algorithms = {}});
    const std::vector<std::int64_t> ms = ms_of(points);
    for (const int count : {2, 3, 7, 8, 64, 1000}) {
      SCOPED_TRACE(std::string(preset.name) + " in " + std::to_string(count));
      expect_valid_partition(points, ms, count);
    }
  }
}

TEST(Shards, of_random_plans_are_valid) {
  std::mt19937 random(20261128);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same plans each time
  const auto some = [&](std::vector<std::string> values) {
    std::ranges::shuffle(values, random);
    values.resize(1 + random() % values.size());
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
    return text;
  };
  for (int i = 0; i < 40; ++i) {
    const std::vector<std::string> axes{"N=" + some({"256", "512", "1024", "2048", "4096", "8192"}),
                                        "d=" + some({"64", "128"}),
                                        "mask=" + some({"full", "causal"}),
                                        "br=" + some({"64", "128", "192"}),
                                        "bc=" + some({"32", "64", "96", "128"}),
                                        "heads=" + some({"2", "16", "64"}),
                                        "pass=" + some({"fwd", "bwd"})};
    const std::vector<PointSpec> points = planned(axes, {"naive", "fa1", "fa2"});
    SCOPED_TRACE(i);
    std::vector<std::int64_t> ms = ms_of(points);
    if (i % 2 == 1) std::ranges::generate(ms, [&] { return static_cast<std::int64_t>(random() % 100'000); });
    expect_valid_partition(points, ms, 1 + static_cast<int>(random() % 20));
  }
}

TEST(Shards, a_map_is_a_group_and_so_is_a_curve) {
  // Two problems with nine tiles each: two maps per algorithm.
  const auto maps = planned({"N=1024,2048", "br=64,128,192", "bc=64,96,128"}, {"fa2"});
  ASSERT_EQ(maps.size(), 18U);
  const std::vector<PointIndices> groups = comparison_groups(maps);
  ASSERT_EQ(groups.size(), 2U);
  for (const PointIndices& group : groups) {
    EXPECT_EQ(group.size(), 9U);
    for (const std::size_t place : group) EXPECT_EQ(maps[place].problem, maps[group.front()].problem);
  }
  // Two tiles and five lengths: one group of two curves.
  EXPECT_EQ(comparison_groups(planned({"N=512,1024,2048,4096,8192", "br=64,128", "bc=64"}, {"fa2"})).size(), 1U);
  EXPECT_EQ(comparison_groups(planned({"N=512,1024,2048", "mask=full,causal"}, {"fa1", "fa2"})).size(), 4U);
  // As many tiles as lengths are maps: one group per length. One tile more or less decides.
  EXPECT_EQ(comparison_groups(planned({"N=512,1024", "br=64,128", "bc=64"}, {"fa2"})).size(), 2U);
  EXPECT_EQ(comparison_groups(planned({"N=512,1024,2048", "br=64,128", "bc=64"}, {"fa2"})).size(), 1U);
  EXPECT_EQ(comparison_groups(planned({"N=512", "br=64,128", "bc=64"}, {"fa2"})).size(), 1U);
  EXPECT_EQ(comparison_groups(planned({"n_q=512,1024", "n_k=1024", "br=64", "bc=64"}, {"fa2"})).size(), 1U);
  // Lengths of maps need not have the same number of tiles: the largest map decides.
  std::vector<PointSpec> uneven = planned({"N=512,1024", "br=64,128", "bc=64"}, {"fa2"});
  uneven.pop_back();
  EXPECT_THAT(comparison_groups(uneven), ElementsAre(PointIndices{0, 1}, PointIndices{2}));
  uneven.push_back(uneven[2]);
  uneven.back().tile.br = 128;
  uneven.erase(uneven.begin());
  EXPECT_THAT(comparison_groups(uneven), ElementsAre(PointIndices{0}, PointIndices{1, 2}));
  EXPECT_TRUE(comparison_groups({}).empty());
}

TEST(Shards, small_groups_with_equal_inputs_stay_together) {
  std::vector<PointSpec> points;
  std::vector<std::int64_t> ms;
  for (std::int64_t problem = 0; problem < 40; ++problem) {
    for (const char* algorithm : {"fa1", "fa2"}) {
      points.push_back({.algorithm = algorithm,
                        .problem = {.batch = problem + 1, .n_q = 1024, .n_k = 1024, .d = 64},
                        .tile = {.br = 64, .bc = 64}});
      ms.push_back(100);
    }
  }
  for (const PointIndices& shard : cut(points, ms, 2)) {
    ASSERT_EQ(shard.size(), 40U);
    for (std::size_t i = 0; i < shard.size(); i += 2) {
      EXPECT_EQ(points[shard[i]].problem, points[shard[i + 1]].problem);
    }
  }
  const auto apart = cut({points.data(), 2}, {ms.data(), 2}, 2);
  EXPECT_THAT(apart, ElementsAre(PointIndices{0}, PointIndices{1})) << "balance has priority over shared inputs";
}

TEST(Shards, adjacent_points_with_equal_inputs_join_their_groups) {
  std::vector<PointSpec> points;
  for (const char problem : std::string_view("PPQRRRSSSTT")) {
    points.push_back({.algorithm = "fa2", .problem = {.batch = problem}});
  }
  // Points 5 and 6 are in no group. S joins the last two groups, T the last and the first.
  const std::vector<PointIndices> groups{{0, 9}, {1}, {2, 3}, {4}, {7}, {8, 10}};
  EXPECT_THAT(input_bundles(points, groups), ElementsAre(0, 0, 2, 2, 0, 0));
  EXPECT_THAT(input_bundles({points.data(), 3}, std::vector<PointIndices>{{2}, {1}, {0}}), ElementsAre(0, 1, 1));
  EXPECT_TRUE(input_bundles({}, {}).empty());
}

TEST(Shards, bundles_of_an_eighth_of_a_shard_stay_whole) {
  for (const std::int64_t bundles : {16, 15}) {  // in two shards: a sixteenth of all, and more
    std::vector<PointSpec> points;
    for (std::int64_t batch = 1; batch <= bundles; ++batch) {
      for (const char* algorithm : {"fa1", "fa2"}) {
        points.push_back({.algorithm = algorithm, .problem = {.batch = batch, .n_q = 64, .n_k = 64, .d = 64}});
      }
    }
    const auto shards = cut(points, std::vector<std::int64_t>(points.size(), 100), 2);
    const bool whole = std::ranges::all_of(
        shards[0], [&](std::size_t place) { return std::ranges::binary_search(shards[0], place ^ 1U); });
    EXPECT_EQ(whole, bundles == 16) << bundles;
  }
}

TEST(Shards, slower_points_cost_more_and_infeasible_ones_nothing) {
  const auto points = planned({"N=1024,16384", "d=64", "br=64", "bc=64,1024"}, {"fa2"});
  const std::vector<std::int64_t> ms = ms_of(points);
  ASSERT_EQ(points.size(), 4U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].tile.bc == 1024) {
      EXPECT_EQ(ms[i], 0);
    } else {
      EXPECT_GE(ms[i], 50);
    }
  }
  EXPECT_GT(std::ranges::max(ms), 50);
}

TEST(Shards, parse_shard_accepts_only_k_of_n) {
  for (const Shard& shard : {Shard{3, 8}, Shard{1, 1}, Shard{8, 8}, Shard{1, 10000}}) {
    const auto parsed = parse_shard(to_string(shard));
    ASSERT_TRUE(parsed.ok()) << to_string(shard);
    EXPECT_EQ(*parsed, shard);
  }
  EXPECT_EQ(to_string(Shard{3, 8}), "3/8");
  for (const char* wrong :
       {"", "3", "3/", "/8", "0/8", "9/8", "-1/8", "3/8/2", "3/8 ", "a/b", "1/10001", "1/99999999999"}) {
    const auto shard = parse_shard(wrong);
    ASSERT_FALSE(shard.ok()) << wrong;
    EXPECT_THAT(text(shard.error()), HasSubstr("3/8"));
  }
}

TEST(Shards, uid_depends_on_plan_shards_and_name) {
  const std::vector<PointIndices> two{{0, 1}, {2}};
  std::set<std::string> uids{partition_uid("a", two, ""),
                             partition_uid("b", two, ""),
                             partition_uid("a", two, "again"),
                             partition_uid("a", std::vector<PointIndices>{{0}, {1, 2}}, ""),
                             partition_uid("a", std::vector<PointIndices>{{0, 1}, {3}}, ""),
                             partition_uid("a", std::vector<PointIndices>{{0, 3}, {2}}, "")};
  EXPECT_EQ(uids.size(), 6U);
  EXPECT_EQ(partition_uid("a", two, ""), *uids.find(partition_uid("a", two, "")));
  for (const std::string& uid : uids) EXPECT_EQ(uid.size(), 32U);
}

}  // namespace
}  // namespace attnscope

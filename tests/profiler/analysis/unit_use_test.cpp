// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/unit_use.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace attnscope::analysis {
namespace {

PointRecord counted(std::initializer_list<std::pair<std::string_view, double>> values) {
  PointRecord record;
  KernelRecord& all = record.kernels.emplace_back();
  for (const auto& [key, value] : values) {
    all.metrics.push_back({std::string(key), value, std::string(find_metric(key)->unit), Provenance::measured});
  }
  return record;
}

TEST(UnitUse, TheBusiestUnitIsTheBound) {
  const PointRecord record = counted({{"use_tensor_pct", 61}, {"use_xu_pct", 83}, {"use_dram_pct", 12}});
  const auto bound = named_bound(record);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->metric->key, "use_xu_pct");
  EXPECT_EQ(bound->value, 83);
  EXPECT_EQ(bound->provenance, Provenance::measured);
  const auto uses = unit_uses(record);
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[1].metric->key, "use_tensor_pct");
  EXPECT_EQ(uses[2].metric->key, "use_dram_pct");
}

TEST(UnitUse, WhatWasNotCountedNamesNothing) {
  EXPECT_FALSE(named_bound(PointRecord{}));
  // Every counting pass has these: a tensor pipe alone is no comparison of units, and a stall is no unit.
  EXPECT_FALSE(named_bound(counted({{"tensor_pipe_pct", 90}, {"stall_wait", 7}, {"shared_wavefronts", 1e9}})));
  EXPECT_FALSE(named_bound(counted({{"use_xu_pct", 10}}), "fwd")) << "of a kernel that is not there";
}

TEST(UnitUse, OfEqualUsesTheTablesFirstIsNamed) {
  EXPECT_EQ(named_bound(counted({{"use_dram_pct", 40}, {"use_tensor_pct", 40}}))->metric->key, "use_tensor_pct");
}

TEST(UnitUse, ThreeLongestStallsThatAnyWarpMet) {
  const auto stalls = longest_stalls(counted({{"stall_wait", 0.4},
                                              {"stall_long_scoreboard", 3.5},
                                              {"stall_barrier", 1.25},
                                              {"stall_gmma", 0},
                                              {"stall_mio_throttle", 0.7}}));
  ASSERT_EQ(stalls.size(), stalls_shown);
  EXPECT_EQ(stalls[0].metric->key, "stall_long_scoreboard");
  EXPECT_EQ(stalls[1].metric->key, "stall_barrier");
  EXPECT_EQ(stalls[2].metric->key, "stall_mio_throttle");
  EXPECT_EQ(longest_stalls(counted({{"stall_wait", 0.4}, {"stall_gmma", 0}})).size(), 1U) << "nobody waited for wgmma";
}

}  // namespace
}  // namespace attnscope::analysis

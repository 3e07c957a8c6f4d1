// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/unit_use.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "kernels/model/pipeline_model.h"

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

TEST(UnitUse, BesideATermStandsTheBusiestOfItsUnits) {
  const PointRecord record =
      counted({{"use_tensor_pct", 61}, {"use_fma_pct", 20}, {"use_alu_pct", 35}, {"use_issue_pct", 90}});
  EXPECT_EQ(use_beside(TimeTerm::tensor, record)->value, 61);
  EXPECT_EQ(use_beside(TimeTerm::fp32, record)->metric->key, "use_alu_pct") << "of FMA and ALU";
  EXPECT_FALSE(use_beside(TimeTerm::dram, record)) << "not counted";
  EXPECT_FALSE(use_beside(TimeTerm::latency, record)) << "no unit stands for it";
  EXPECT_FALSE(use_beside(TimeTerm::launch, record));
}

TEST(UnitUse, TheModelsBoundIsItsLongestTerm) {
  EXPECT_FALSE(predicted_bound(counted({{"use_tensor_pct", 61}})));
  const auto bound = predicted_bound(counted({{"time_tensor_ns", 300}, {"time_dram_ns", 150}, {"time_fp32_ns", 0}}));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->term.metric->key, "time_tensor_ns");
  EXPECT_EQ(text(bound->name), text(find_metric("use_tensor_pct")->label()));
  EXPECT_EQ(bound->factor, 2);
  EXPECT_EQ(text(predicted_bound(counted({{"time_latency_ns", 3}}))->name), "latency");
  EXPECT_EQ(time_terms(counted({{"time_tensor_ns", 300}, {"time_fp32_ns", 0}})).size(), 1U);
}

TEST(UnitUse, EachTermOfTheModelIsAMetric) {
  std::vector<std::string_view> terms;
  for (const Metric& metric : metrics_table()) {
    if (metric.time_term) terms.push_back(metric.key);
  }
  ASSERT_EQ(terms.size(), time_term_count);
  EXPECT_EQ(terms[static_cast<std::size_t>(TimeTerm::tensor)], "time_tensor_ns");
  EXPECT_EQ(terms[static_cast<std::size_t>(TimeTerm::exponential)], "time_exponential_ns");
  EXPECT_EQ(terms[static_cast<std::size_t>(TimeTerm::fp32)], "time_fp32_ns");
  EXPECT_EQ(terms[static_cast<std::size_t>(TimeTerm::shared_memory)], "time_shared_ns");
  EXPECT_EQ(terms[static_cast<std::size_t>(TimeTerm::l2_port)], "time_l2_port_ns");
  EXPECT_EQ(terms[static_cast<std::size_t>(TimeTerm::latency)], "time_latency_ns");
  EXPECT_EQ(terms[static_cast<std::size_t>(TimeTerm::l2)], "time_l2_ns");
  EXPECT_EQ(terms[static_cast<std::size_t>(TimeTerm::dram)], "time_dram_ns");
  EXPECT_EQ(terms[static_cast<std::size_t>(TimeTerm::launch)], "time_launch_ns");
}

TEST(UnitUse, ABoundThatCountersContradictIsSaidByName) {
  const auto same = compare_bounds(
      counted({{"time_tensor_ns", 300}, {"time_dram_ns", 150}, {"use_tensor_pct", 61}, {"use_dram_pct", 12}}));
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->agree);
  const auto other = compare_bounds(
      counted({{"time_tensor_ns", 300}, {"time_dram_ns", 150}, {"use_tensor_pct", 31}, {"use_dram_pct", 82}}));
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->agree);
  EXPECT_EQ(other->predicted.term.metric->key, "time_tensor_ns");
  EXPECT_EQ(other->measured.metric->key, "use_dram_pct");
  // L2 shows in its slices or on the way to the SMs; latency in that nothing is busy.
  EXPECT_TRUE(compare_bounds(counted({{"time_l2_ns", 300}, {"use_l2_to_sm_pct", 82}}))->agree);
  EXPECT_TRUE(compare_bounds(counted({{"time_latency_ns", 300}, {"use_tensor_pct", 41}}))->agree);
  EXPECT_FALSE(compare_bounds(counted({{"time_latency_ns", 300}, {"use_tensor_pct", 81}}))->agree);
  EXPECT_FALSE(compare_bounds(counted({{"time_latency_ns", 300}})));
}

TEST(UnitUse, SharesAreOfTheKernelWhereItsCyclesWereCounted) {
  PointRecord bare = counted({{"use_tensor_pct", 61}});
  EXPECT_FALSE(uses_are_of_kernel(bare));
  bare.provenance = Provenance::imported;
  EXPECT_TRUE(uses_are_of_kernel(bare)) << "a profiler counts a kernel";
  PointRecord scaled =
      counted({{"use_tensor_pct", 61}, {"sm_cycles", 2e6}, {"sm_active_cycles", 1e6}, {"counted_range_ns", 1e6}});
  EXPECT_FALSE(uses_are_of_kernel(scaled)) << "no time was taken";
  scaled.kernels.front().samples_ns = {5e5};
  EXPECT_TRUE(uses_are_of_kernel(scaled));
  PointRecord half = counted({{"use_tensor_pct", 61}, {"sm_active_cycles", 1e6}});
  half.kernels.front().samples_ns = {5e5};
  EXPECT_FALSE(uses_are_of_kernel(half)) << "somebody asked for that counter alone";
  PointRecord imported = counted({{"use_tensor_pct", 61}});
  imported.provenance = Provenance::imported;
  EXPECT_TRUE(uses_are_of_kernel(imported)) << "Nsight Compute counts the kernel alone";
}

}  // namespace
}  // namespace attnscope::analysis

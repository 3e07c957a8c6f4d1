// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/unit_utilization.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/model/pipeline_model.h"
#include "messages/bound.h"
#include "profiler/metrics/model_metrics.h"

namespace attnscope::analysis {
namespace {

using Counts = std::initializer_list<std::pair<std::string_view, double>>;

PointRecord counted(Counts values) {
  PointRecord record;
  KernelRecord& all = record.kernels.emplace_back();
  for (const auto& [key, value] : values) {
    all.metrics.push_back({std::string(key), value, std::string(find_metric(key)->unit), Provenance::measured});
  }
  return record;
}

/// Counts all units; those without a value are idle.
PointRecord all_counted(Counts values) {
  PointRecord record = counted(values);
  KernelRecord& all = record.kernels.front();
  for (const std::string_view unit : {"tensor", "xu", "fma", "alu", "shared", "l2_port", "dram"}) {
    const std::string key = std::string(unit) + "_utilization_pct";
    if (!all.metric(key)) all.metrics.push_back({key, 0, "percent", Provenance::measured});
  }
  return record;
}

TEST(UnitUtilization, TheBusiestUnitIsTheBound) {
  const PointRecord record =
      counted({{"tensor_utilization_pct", 61}, {"xu_utilization_pct", 83}, {"dram_utilization_pct", 12}});
  const auto bound = busiest_unit(record);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->metric->key, "xu_utilization_pct");
  EXPECT_EQ(bound->value, 83);
  EXPECT_EQ(bound->provenance, Provenance::measured);
  const auto uses = unit_utilizations(record);
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[1].metric->key, "tensor_utilization_pct");
  EXPECT_EQ(uses[2].metric->key, "dram_utilization_pct");
}

TEST(UnitUtilization, IsEmptyWithoutCounters) {
  EXPECT_FALSE(busiest_unit(PointRecord{}));
  // Default counters are not enough: the tensor pipe alone is no comparison of units, and a stall is not a unit.
  EXPECT_FALSE(busiest_unit(counted({{"tensor_pipe_pct", 90}, {"stall_wait", 7}, {"shared_wavefronts", 1e9}})));
  EXPECT_FALSE(busiest_unit(counted({{"xu_utilization_pct", 10}}), "fwd")) << "unknown kernel";
}

TEST(UnitUtilization, TiesFollowTableOrder) {
  EXPECT_EQ(busiest_unit(counted({{"dram_utilization_pct", 40}, {"tensor_utilization_pct", 40}}))->metric->key,
            "tensor_utilization_pct");
}

TEST(UnitUtilization, TopThreeNonzeroStalls) {
  const auto stalls = top_stalls(counted({{"stall_wait", 0.4},
                                          {"stall_long_scoreboard", 3.5},
                                          {"stall_barrier", 1.25},
                                          {"stall_gmma", 0},
                                          {"stall_mio_throttle", 0.7}}));
  ASSERT_EQ(stalls.size(), default_stall_count);
  EXPECT_EQ(stalls[0].metric->key, "stall_long_scoreboard");
  EXPECT_EQ(stalls[1].metric->key, "stall_barrier");
  EXPECT_EQ(stalls[2].metric->key, "stall_mio_throttle");
  EXPECT_EQ(top_stalls(counted({{"stall_wait", 0.4}, {"stall_gmma", 0}})).size(), 1U) << "zero stalls are omitted";
}

TEST(UnitUtilization, IssueSlotsAndL2SlicesAreExcluded) {
  EXPECT_EQ(
      busiest_unit(counted({{"issue_utilization_pct", 90}, {"l2_utilization_pct", 80}, {"alu_utilization_pct", 35}}))
          ->metric->key,
      "alu_utilization_pct");
}

TEST(UnitUtilization, CountedBoundUsesTheWholeTime) {
  EXPECT_FALSE(counted_bound(PointRecord{}));
  PointRecord record = all_counted({{"tensor_utilization_pct", 72},
                                    {"shared_utilization_pct", 64},
                                    {"sm_active_cycles", 1500},
                                    {"sm_cycles", 4000},
                                    {"counted_range_ns", 3000}});
  record.kernels[0].kernel = "all";
  EXPECT_TRUE(counted_bound(record)->binds) << "72% of active cycles";
  record.kernels[0].samples_ns = {1000, 1000, 1000};
  record.clocks.emplace();
  record.clocks->sm_clock_hz = 2e9;
  const CountedBound bound = *counted_bound(record);
  EXPECT_EQ(bound.busiest.metric->key, "tensor_utilization_pct");
  EXPECT_DOUBLE_EQ(bound.busiest.value, 54);
  EXPECT_FALSE(bound.binds);
  EXPECT_EQ(display_text(bound), Message(msg::bound::counted_alone{.counted = Message(msg::bound::latency{})}));
}

TEST(UnitUtilization, CountedUtilizationUsesTheWholeTime) {
  PointRecord record = counted({{"tensor_utilization_pct", 80},
                                {"dram_utilization_pct", 40},
                                {"sm_active_cycles", 1500},
                                {"sm_cycles", 4000},
                                {"counted_range_ns", 3000}});
  record.kernels.front().samples_ns = {1000};
  EXPECT_FALSE(counted_utilization(GpuUnit::tensor, record)) << "unknown clock";
  record.clocks.emplace().sm_clock_hz = 2e9;
  EXPECT_DOUBLE_EQ(*counted_utilization(GpuUnit::tensor, record), 60) << "1500 of 2000 cycles had warps";
  EXPECT_DOUBLE_EQ(*counted_utilization(GpuUnit::dram, record), 40);
  EXPECT_FALSE(counted_utilization(GpuUnit::exponential, record)) << "not counted";
}

TEST(UnitUtilization, AllUnitsOfABoundAreSharesOfTheTime) {
  // 62% of the cycles are 46.5% of the time, which is less than DRAM's 50%.
  PointRecord record = all_counted({{"alu_utilization_pct", 62},
                                    {"dram_utilization_pct", 50},
                                    {"sm_active_cycles", 1500},
                                    {"sm_cycles", 4000},
                                    {"counted_range_ns", 3000}});
  record.kernels.front().samples_ns = {1000};
  record.clocks.emplace().sm_clock_hz = 2e9;
  EXPECT_EQ(counted_bound(record)->busiest.metric->key, "dram_utilization_pct");
  EXPECT_TRUE(counted_bound(record)->busiest.of_time);
  EXPECT_EQ(busiest_unit(record)->metric->key, "dram_utilization_pct");
  const auto uses = unit_utilizations(record);
  ASSERT_GE(uses.size(), 2U);
  EXPECT_DOUBLE_EQ(uses[1].value, 46.5) << "all units have one base";
  EXPECT_EQ(uses[1].provenance, Provenance::derived);
}

TEST(UnitUtilization, BottleneckTextNamesTheTopStall) {
  EXPECT_TRUE(bottleneck_text(PointRecord{}).empty());
  EXPECT_EQ(
      text(bottleneck_text(all_counted({{"tensor_utilization_pct", 83.4}, {"stall_gmma", 3}, {"stall_wait", 1}}))),
      "Bottleneck: tensor cores, 83% of the cycles. Top stall: wgmma.");
  EXPECT_EQ(text(bottleneck_text(all_counted({{"tensor_utilization_pct", 52}}))),
            "Latency-bound; busiest unit: tensor cores, 52% of the cycles.");
  EXPECT_TRUE(bottleneck_text(counted({{"dram_utilization_pct", 85}})).empty()) << "other units may be busier";
  EXPECT_TRUE(bottleneck_text(counted({{"model_tensor_utilization_pct", 90}})).empty()) << "a prediction is no finding";
}

TEST(UnitUtilization, EveryModeledUnitHasAMetric) {
  constexpr std::array keys{"model_tensor_utilization_pct", "model_xu_utilization_pct", "model_shared_utilization_pct",
                            "model_l2_port_utilization_pct", "model_dram_utilization_pct"};
  for (const GpuUnit unit : gpu_units) EXPECT_EQ(metric_of(unit).key, keys.at(static_cast<std::size_t>(unit)));
}

TEST(UnitUtilization, ReportsContradictingBounds) {
  const auto same = compare_bounds(all_counted({{"model_tensor_utilization_pct", 70},
                                                {"model_dram_utilization_pct", 20},
                                                {"tensor_utilization_pct", 72},
                                                {"dram_utilization_pct", 12}}));
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->agree);
  const auto at = [](const char* unit, const char* percent) {
    return Message(msg::bound::unit_at{.percent = percent, .unit = find_metric(unit)->label()});
  };
  // Without a clock the counters are shares of cycles, not of the time.
  const auto of_cycles = [](const char* unit, const char* percent) {
    return Message(msg::bound::unit_at_cycles{.percent = percent, .unit = find_metric(unit)->label()});
  };
  const char* const tensor = "tensor_utilization_pct";
  EXPECT_EQ(display_text(*same),
            Message(msg::bound::agree{.counted = of_cycles(tensor, "72"), .predicted = at(tensor, "70")}));
  const auto other = compare_bounds(all_counted({{"model_tensor_utilization_pct", 70},
                                                 {"model_dram_utilization_pct", 20},
                                                 {"tensor_utilization_pct", 31},
                                                 {"dram_utilization_pct", 82}}));
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->agree);
  EXPECT_EQ(display_text(*other), Message(msg::bound::differ{.counted = of_cycles("dram_utilization_pct", "82"),
                                                             .predicted = at(tensor, "70")}));
  const auto agree = [](Counts values) { return compare_bounds(all_counted(values))->agree; };
  EXPECT_TRUE(
      agree({{"model_tensor_utilization_pct", 70}, {"tensor_utilization_pct", 68}, {"shared_utilization_pct", 72}}))
      << "within the tolerance";
  EXPECT_FALSE(agree({{"model_tensor_utilization_pct", 70}, {"tensor_utilization_pct", 40}}))
      << "busiest unit is below the threshold";
  EXPECT_TRUE(agree({{"model_tensor_utilization_pct", 61}, {"tensor_utilization_pct", 57}}))
      << "within the tolerance of the threshold";
  // If no unit is busy, differences between the busiest units do not matter.
  EXPECT_TRUE(
      agree({{"model_tensor_utilization_pct", 30}, {"tensor_utilization_pct", 31}, {"shared_utilization_pct", 55}}));
  EXPECT_TRUE(agree({{"model_tensor_utilization_pct", 57}, {"tensor_utilization_pct", 62}}));
  EXPECT_FALSE(
      agree({{"model_tensor_utilization_pct", 30}, {"tensor_utilization_pct", 31}, {"shared_utilization_pct", 81}}));
  EXPECT_FALSE(
      agree({{"model_tensor_utilization_pct", 30}, {"tensor_utilization_pct", 31}, {"alu_utilization_pct", 81}}))
      << "unit without a model";
  EXPECT_FALSE(compare_bounds(counted({{"model_tensor_utilization_pct", 30}}))) << "no counters";
  EXPECT_FALSE(compare_bounds(counted({{"model_tensor_utilization_pct", 30}, {"dram_utilization_pct", 40}})))
      << "only some units were counted";
}

TEST(UnitUtilization, IsRelativeToKernelWithActiveCycles) {
  PointRecord bare = counted({{"tensor_utilization_pct", 61}});
  EXPECT_FALSE(is_relative_to_kernel(bare));
  bare.provenance = Provenance::imported;
  EXPECT_TRUE(is_relative_to_kernel(bare)) << "imported from a profiler";
  PointRecord scaled = counted(
      {{"tensor_utilization_pct", 61}, {"sm_cycles", 2e6}, {"sm_active_cycles", 1e6}, {"counted_range_ns", 1e6}});
  EXPECT_FALSE(is_relative_to_kernel(scaled)) << "no timing samples";
  scaled.kernels.front().samples_ns = {5e5};
  EXPECT_TRUE(is_relative_to_kernel(scaled));
  PointRecord half = counted({{"tensor_utilization_pct", 61}, {"sm_active_cycles", 1e6}});
  half.kernels.front().samples_ns = {5e5};
  EXPECT_FALSE(is_relative_to_kernel(half)) << "only this counter was requested";
  PointRecord imported = counted({{"tensor_utilization_pct", 61}});
  imported.provenance = Provenance::imported;
  EXPECT_TRUE(is_relative_to_kernel(imported)) << "Nsight Compute counts only the kernel";
}

}  // namespace
}  // namespace attnscope::analysis

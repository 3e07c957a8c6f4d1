// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/use_error.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/speed_of_light.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {
namespace {

using Values = std::initializer_list<std::pair<const char*, double>>;

KernelRecord kernel(const std::string& name, Values values) {
  KernelRecord record{.kernel = name, .metrics = {}, .samples_ns = {1000}, .occupancy_limiter = {}};
  for (const auto& [key, value] : values) {
    record.metrics.push_back({key, value, std::string(find_metric(key)->unit), Provenance::measured});
  }
  return record;
}

TEST(UseErrors, AreOfLaunchesAndOfWhatIsPredictedNow) {
  PointRecord measured;
  measured.clocks.emplace().sm_clock_hz = 2e9;
  const auto counted = [&](const std::string& name, double tensor, double dram) {
    return kernel(name, {{"use_tensor_pct", tensor},
                         {"use_dram_pct", dram},
                         {"sm_active_cycles", 2000},
                         {"sm_cycles", 4000},
                         {"counted_range_ns", 3000},
                         {"model_tensor_pct", 1}});
  };
  measured.kernels = {counted("all", 0, 0), counted("first", 70, 10), counted("second", 20, 80)};
  PointRecord predicted;
  predicted.kernels = {kernel("first", {{"model_tensor_pct", 75}, {"model_dram_pct", 10}}),
                       kernel("second", {{"model_tensor_pct", 65}, {"model_dram_pct", 50}})};
  const UseErrors errors = use_errors(std::vector<PredictedPoint>{{.measured = &measured, .predicted = &predicted}});
  EXPECT_EQ(errors.bounds, 2U);
  EXPECT_EQ(errors.confirmed, 1U) << "the second waits for DRAM";
  EXPECT_EQ(errors.quiet, 0U);
  const auto& tensor = errors.units.at(static_cast<std::size_t>(GpuUnit::tensor));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->launches, 2U) << "their mean is no launch";
  EXPECT_NEAR(tensor->median, (0.05 + 0.45) / 2, 1e-12);
  EXPECT_FALSE(errors.units.at(static_cast<std::size_t>(GpuUnit::exponential))) << "nobody counted it";
}

LaunchTime launch(double ns, double tensor_ns, double dram_ns) {
  LaunchTime time{.ns = ns, .clock_hz = 1e9, .launch_ns = 100, .sms = 132};
  time.busy_ns[static_cast<std::size_t>(GpuUnit::tensor)] = tensor_ns;
  time.busy_ns[static_cast<std::size_t>(GpuUnit::dram)] = dram_ns;
  return time;
}

TEST(SpeedOfLight, TheBusiestUnitBindsIfItIsBusyAtAll) {
  const std::vector<LaunchTime> both{launch(1000, 900, 100), launch(3000, 300, 2500)};
  const SpeedOfLight light = speed_of_light(both);
  EXPECT_DOUBLE_EQ(light.of(GpuUnit::tensor), 0.3);
  EXPECT_DOUBLE_EQ(light.of(GpuUnit::dram), 0.65);
  EXPECT_DOUBLE_EQ(light.launch, 0.05);
  EXPECT_NEAR(light.rest, 1 - 0.65 - 0.05, 1e-12);
  EXPECT_EQ(light.bound(), GpuUnit::dram);
  EXPECT_EQ(text(bound_words(light)), "DRAM busy for 65% of it");

  std::vector<LaunchTime> idle{launch(1000, 500, 100)};
  EXPECT_FALSE(speed_of_light(idle).bound());
  EXPECT_EQ(text(bound_words(speed_of_light(idle))),
            "no unit is busy for 60% of it or more (the busiest, tensor cores, for 50%): latency and issue");
  idle.front().empty_sms = 68;
  EXPECT_FALSE(speed_of_light(idle).starved()) << "which costs nothing here";
  idle.front().idle_ns = 350;
  EXPECT_EQ(text(bound_words(speed_of_light(idle))), "68 of 132 SMs have no block");
}

}  // namespace
}  // namespace attnscope::analysis

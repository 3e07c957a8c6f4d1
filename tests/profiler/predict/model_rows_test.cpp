// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/launch_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "profiler/predict/modeled_values.h"
#include "profiler/predict/speed_of_light.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::h200;
using ::testing::ElementsAre;

PointSpec spec_on(const char* algorithm, int gpus, Pass pass = Pass::fwd, DType dtype = DType::fp16) {
  PointSpec spec = fixtures::spec(algorithm, 4096, 128, 128);
  spec.problem.heads_q = spec.problem.heads_kv = 16;
  spec.problem.gpus = gpus;
  spec.problem.pass = pass;
  spec.problem.dtype = dtype;
  return spec;
}

std::vector<std::string> names(const std::vector<ModelRow>& rows) {
  std::vector<std::string> all;
  for (const ModelRow& row : rows) all.push_back(row.kernel);
  return all;
}

TEST(ModelRows, ListKernelsAfterTheirSum) {
  const DeviceRates rates = device_rates(h200());
  EXPECT_THAT(names(point_model_rows(spec_on("fa2", 1), h200(), rates)), ElementsAre("all"));
  EXPECT_THAT(names(point_model_rows(spec_on("allgather", 4), h200(), rates)), ElementsAre("all", "attention"))
      << "one kernel, four launches";
  const auto backward = point_model_rows(spec_on("fa2", 1, Pass::bwd), h200(), rates);
  EXPECT_THAT(names(backward), ElementsAre("all", "fwd", "dot", "bwd", "convert"));
  EXPECT_FALSE(backward[1].reason.empty()) << "setup";
  EXPECT_FALSE(backward[1].time || backward[1].predicted_ns);
  double ns = 0;
  Traffic traffic;
  for (std::size_t i = 2; i < backward.size(); ++i) {
    ASSERT_TRUE(backward[i].time) << i;
    EXPECT_EQ(backward[i].predicted_ns, backward[i].time->ns);
    ns += backward[i].time->ns - backward[i].time->hidden_ns;
    traffic += *backward[i].traffic;
  }
  EXPECT_GT(backward[3].time->ns, backward[2].time->ns) << "each kernel has its own time";
  EXPECT_NEAR(*backward[0].predicted_ns, ns, 1e-6 * ns);
  EXPECT_EQ(backward[0].traffic, traffic) << "without setup";
  const auto quantized = point_model_rows(spec_on("fa3", 1, Pass::fwd, DType::fp8), h200(), rates);
  EXPECT_EQ(quantized.front().kernel, "all") << "setup launches are listed, too";
  EXPECT_EQ(quantized.back().kernel, "fwd");
}

TEST(ModelRows, SumRunsOfSeveralGpus) {
  const auto rows = point_model_rows(spec_on("ring", 4), h200(), device_rates(h200()));
  EXPECT_THAT(names(rows), ElementsAre("all", "attention", "combine"));
  EXPECT_EQ(rows[1].runs, 16);
  EXPECT_EQ(rows[2].runs, 4);
  Traffic traffic = 16 * *rows[1].traffic;
  traffic += 4 * *rows[2].traffic;
  EXPECT_EQ(rows[0].traffic, traffic);
}

TEST(ModeledValues, BandwidthsArePerGpu) {
  std::vector<PointRecord> records(2);
  records[0].spec = spec_on("ring", 2);
  records[1].spec = spec_on("mine", 1);
  const PointTable table = fixtures::Points(records).table();
  ModeledValues modeled(table);
  const Exploration e = explore({.spec = records[0].spec}, h200(), built_in_algorithms());
  EXPECT_DOUBLE_EQ(modeled.at(0, metric_key::dram_bandwidth).value(), e.dram_bytes / 2 / e.ns * 1e9);
  EXPECT_DOUBLE_EQ(modeled.at(0, metric_key::l2_sm_bandwidth).value(),
                   static_cast<double>(e.traffic.total()) / 2 / e.ns * 1e9);
  EXPECT_EQ(modeled.at(0, metric_key::sm_to_l2_bytes), static_cast<double>(e.traffic.sm_to_l2_bytes));
  EXPECT_NE(e.traffic.sm_to_l2_bytes, e.traffic.l2_to_sm_bytes);
  const ExploredKernel& longest = e.kernels.at(e.longest());
  EXPECT_EQ(longest.name, "attention") << "not the combine";
  EXPECT_EQ(modeled.at(0, metric_key::theoretical_occupancy_pct), longest.occupancy.warps_pct);
  EXPECT_FALSE(modeled.at(1, metric_key::time_median_ns)) << "unknown algorithm";
}

/// A launch of 100 ns, 10 of them launch overhead, with these busy times.
LaunchTime launch_time(double tensor_ns, double dram_ns, double idle_ns = 0) {
  LaunchTime time;
  time.ns = 100;
  time.launch_ns = 10;
  time.idle_ns = idle_ns;
  time.busy_ns[static_cast<std::size_t>(GpuUnit::tensor)] = tensor_ns;
  time.busy_ns[static_cast<std::size_t>(GpuUnit::dram)] = dram_ns;
  return time;
}

TEST(SpeedOfLight, SharesOfTwoLaunches) {
  LaunchTime second = launch_time(30, 90, 20);
  second.ns = 110;
  second.hidden_ns = 10;  // starts early: both launches take 200 ns
  second.empty_sms = 7;
  second.sms = 132;
  const SpeedOfLight light = speed_of_light(std::vector{launch_time(50, 30), second});
  EXPECT_DOUBLE_EQ(light.of(GpuUnit::tensor), 0.4);
  EXPECT_DOUBLE_EQ(light.of(GpuUnit::dram), 0.6);
  EXPECT_DOUBLE_EQ(light.launch, 0.05);
  EXPECT_DOUBLE_EQ(light.idle, 0.1);
  EXPECT_DOUBLE_EQ(light.rest, 0.25);
  EXPECT_EQ(light.empty_sms, 7) << "of the longer one";
  EXPECT_EQ(light.sms, 132);
  EXPECT_EQ(light.bound(), GpuUnit::dram) << "60% suffice";
  SpeedOfLight waits = light;
  waits.wait(0.5);
  EXPECT_DOUBLE_EQ(waits.of(GpuUnit::dram), 0.3);
  EXPECT_DOUBLE_EQ(waits.launch + waits.idle + waits.rest, 0.2);
  EXPECT_TRUE(waits.is_wait_bound());
  EXPECT_FALSE(waits.bound());
}

TEST(SpeedOfLight, BoundsNeedSixtyPercent) {
  const auto bound = [](double tensor, double dram) {
    return speed_of_light(std::vector{launch_time(tensor, dram)}).bound();
  };
  EXPECT_FALSE(bound(59.9, 10));
  EXPECT_EQ(bound(60, 10), GpuUnit::tensor);
  EXPECT_EQ(bound(70, 70), GpuUnit::tensor) << "the first of equals";
  EXPECT_EQ(speed_of_light(std::vector{launch_time(95, 0, 20)}).rest, 0) << "units overlap";
  SpeedOfLight waits = speed_of_light(std::vector{launch_time(95, 0)});
  waits.waiting = 0.96;
  EXPECT_FALSE(waits.bound()) << "waits longer than it works";
  waits.waiting = 0.95;
  EXPECT_EQ(waits.bound(), GpuUnit::tensor);
}

}  // namespace
}  // namespace attnscope::analysis

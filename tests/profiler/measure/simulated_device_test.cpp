// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/simulated_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "kernels/model/device_rates.h"
#include "kernels/registry.h"
#include "messages/provenance.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"
#include "profiler/plan/sweep.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

PointRecord simulate(const std::string& algorithm, std::int64_t n, std::int64_t heads) {
  PointSpec spec;
  spec.algorithm = algorithm;
  spec.problem.n_q = spec.problem.n_k = n;
  spec.problem.heads_q = spec.problem.heads_kv = heads;
  spec.problem.d = 128;
  spec.tile = {.br = 128, .bc = 128};
  const auto device = make_simulated_device(*find_gpu("H200"), built_in_algorithms());
  MeasureOptions options;
  options.extra_metrics = {"dram__bytes_read.sum"};
  PointRecord record = device->measure(spec, options, {});
  EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
  return record;
}

Provenance origin_of(const PointRecord& record, std::string_view key, std::string_view kernel = "all") {
  const auto value = evaluate(key, record, kernel);
  EXPECT_TRUE(value) << key << " of " << kernel;
  return value ? value->provenance : Provenance::measured;
}

// Simulates each kind of launch once and combines the times by the schedule.
TEST(SimulatedDevice, SimulatesMultiGpuSchedules) {
  PointSpec spec{.algorithm = "ring", .problem = {}, .tile = {.br = 128, .bc = 128}};
  spec.problem = {.mask = Mask::causal, .heads_q = 16, .heads_kv = 16, .n_q = 16'384, .n_k = 16'384, .d = 128};
  const auto device = make_simulated_device(*find_gpu("H200"), built_in_algorithms());
  const auto measured = [&] { return device->measure(spec, {}, {}); };
  const auto value = [](const PointRecord& record, std::string_view key, std::string_view kernel = "all") {
    return evaluate(key, record, kernel).value_or(MetricValue()).value;
  };
  const double alone = value(measured(), metric_key::time_median_ns);
  spec.problem.gpus = 4;
  const PointRecord contiguous = measured();
  spec.problem.gpu_order = GpuOrder::zigzag;
  const PointRecord zigzag = measured();
  for (const PointRecord* record : {&contiguous, &zigzag}) {
    EXPECT_EQ(value(*record, metric_key::link_bytes), value(*record, metric_key::model_link_bytes));
    EXPECT_NEAR(value(*record, metric_key::gpu_attention_ns) + value(*record, metric_key::gpu_combine_ns) +
                    value(*record, metric_key::gpu_exposed_ns),
                value(*record, metric_key::time_median_ns), 1e-6);
    EXPECT_EQ(value(*record, metric_key::l2_sm_bytes), value(*record, metric_key::model_l2_sm_bytes));
  }
  DeviceLimits unvalidated_gpu = *find_gpu("H200");
  unvalidated_gpu.name = "NVIDIA L40S";  // times are hidden for this name
  const PointRecord unvalidated = make_simulated_device(unvalidated_gpu, built_in_algorithms())->measure(spec, {}, {});
  EXPECT_EQ(value(unvalidated, metric_key::link_bytes), value(zigzag, metric_key::link_bytes));
  EXPECT_TRUE(unvalidated.kernel("all")->samples_ns.empty());
  EXPECT_FALSE(evaluate(metric_key::gpu_attention_ns, unvalidated));
  // Four diagonal and six earlier blocks, each with its individual traffic.
  for (const std::string_view key : {metric_key::l2_to_sm_bytes, metric_key::sm_to_l2_bytes,
                                     metric_key::dram_read_bytes, metric_key::dram_write_bytes}) {
    EXPECT_DOUBLE_EQ(value(contiguous, key),
                     4 * value(contiguous, key, "diagonal") + 6 * value(contiguous, key, "earlier") +
                         value(contiguous, key, "combine 1+0") + value(contiguous, key, "combine 2+0") +
                         value(contiguous, key, "combine 3+0") + value(contiguous, key, "combine"))
        << key;
  }
  EXPECT_NEAR(value(zigzag, metric_key::gpu_imbalance), 1, 0.02);
  EXPECT_GT(value(contiguous, metric_key::gpu_imbalance), 1.5);
  EXPECT_LT(value(zigzag, metric_key::time_median_ns), value(contiguous, metric_key::time_median_ns));
  EXPECT_GT(value(zigzag, metric_key::time_median_ns), alone / 4);
  spec.problem.gpus = 8;
  EXPECT_EQ(measured().disposition, Disposition::ok);
  spec.problem.gpus = 9;
  spec.problem.n_q = spec.problem.n_k = 18 * 1024;
  const PointRecord more = measured();
  EXPECT_EQ(more.disposition, Disposition::infeasible);
  EXPECT_THAT(more.reason, test::IsReason("point.too_few_gpus", "9 8"));
}

// At this length the softmax launch alone exceeds the simulator's limit.
TEST(SimulatedDevice, PartialSimulationIsExtrapolated) {
  const PointRecord record = simulate("naive", 16384, 3);
  ASSERT_EQ(record.kernel("softmax")->complete, false);
  ASSERT_EQ(record.kernel("qk")->complete, true);
  ASSERT_EQ(record.kernel("all")->complete, false);
  EXPECT_EQ(record.provenance, Provenance::simulated) << "the point itself is simulated";
  EXPECT_EQ(record.origin(), Provenance::extrapolated);
  EXPECT_EQ(record.origin("qk"), Provenance::simulated);
  for (const std::string_view key :
       {metric_key::dram_read_bytes, metric_key::dram_write_bytes, metric_key::achieved_occupancy_pct,
        metric_key::dram_bytes, metric_key::time_median_ns, metric_key::time_q3_ns, metric_key::dram_bandwidth,
        metric_key::l2_sm_bandwidth, std::string_view("dram__bytes_read.sum")}) {
    EXPECT_EQ(origin_of(record, key), Provenance::extrapolated) << key;
    EXPECT_EQ(origin_of(record, key, "softmax"), Provenance::extrapolated) << key;
    EXPECT_EQ(origin_of(record, key, "qk"), Provenance::simulated) << key;
  }
  for (const std::string_view key : {metric_key::tflops, metric_key::dram_settled_bytes,
                                     metric_key::dram_over_compulsory, metric_key::arithmetic_intensity}) {
    EXPECT_EQ(origin_of(record, key), Provenance::extrapolated) << key;
  }
  // From the closed form, which equals a complete simulation.
  for (const std::string_view key :
       {metric_key::l2_to_sm_bytes, metric_key::l2_sm_bytes, metric_key::l2_sm_over_model}) {
    EXPECT_EQ(origin_of(record, key), Provenance::simulated) << key;
    EXPECT_EQ(origin_of(record, key, "softmax"), Provenance::simulated) << key;
  }
  EXPECT_EQ(evaluate(metric_key::l2_sm_over_model, record)->value, 1);
}

TEST(SimulatedDevice, CompleteSimulationIsSimulated) {
  const PointRecord record = simulate("naive", 1024, 4);
  EXPECT_EQ(record.origin(), Provenance::simulated);
  for (const KernelRecord& kernel : record.kernels) {
    EXPECT_EQ(kernel.complete, true);
    for (const Metric& metric : metrics_table()) {
      const auto value = evaluate(metric.key, record, kernel.kernel);
      EXPECT_FALSE(value && value->provenance == Provenance::extrapolated) << metric.key;
    }
  }
  EXPECT_EQ(origin_of(record, metric_key::dram_settled_bytes), Provenance::simulated);
}

TEST(SimulatedDevice, RecordsUtilization) {
  const PointRecord record = simulate("fa2", 2048, 132);
  double most = 0;
  for (const GpuUnit unit : gpu_units) {
    const auto use = evaluate(metric_of(unit).key, record);
    ASSERT_TRUE(use) << to_string(unit);
    EXPECT_EQ(use->provenance, Provenance::simulated);
    EXPECT_EQ(use->unit, "percent");
    most = std::max(most, use->value);
  }
  EXPECT_GT(most, 30);
  EXPECT_LE(most, 100);

  const PointRecord several = simulate("naive", 1024, 3);
  double busy_ns = 0;
  for (const char* kernel : {"qk", "softmax", "pv"}) {
    busy_ns += evaluate("model_tensor_utilization_pct", several, kernel)->value *
               evaluate(metric_key::time_median_ns, several, kernel)->value;
  }
  const double whole_ns = evaluate(metric_key::time_median_ns, several)->value;
  EXPECT_NEAR(evaluate("model_tensor_utilization_pct", several)->value, busy_ns / whole_ns, 0.1 * busy_ns / whole_ns)
      << "except for overlapping launches";
}

// The scores fit in L2: in sequence, only the first launch starts with a cold L2.
TEST(SimulatedDevice, TimesPlanAndEachLaunch) {
  const PointRecord record = simulate("naive", 1024, 8);
  double alone = 0;
  double launching = 0;
  for (const char* kernel : {"qk", "softmax", "pv"}) {
    alone += evaluate(metric_key::time_median_ns, record, kernel)->value;
    launching += evaluate("time_launch_ns", record, kernel)->value;
  }
  const double together = evaluate(metric_key::time_median_ns, record)->value;
  EXPECT_LT(together, alone);
  EXPECT_GT(together, launching);
  double bytes = 0;
  for (const char* kernel : {"qk", "softmax", "pv"}) {
    bytes += evaluate(metric_key::dram_settled_bytes, record, kernel)->value;
  }
  EXPECT_EQ(evaluate(metric_key::dram_settled_bytes, record)->value, bytes) << "as counted: each launch with a cold L2";
}

TEST(SimulatedDevice, ExactMemoryIsSufficient) {
  const PointSpec spec{.algorithm = "fa2", .problem = {.n_q = 256, .n_k = 256, .d = 64}, .tile = {.br = 64, .bc = 64}};
  DeviceLimits limits = *find_gpu("H200");
  const std::int64_t needed =
      built_in_algorithms().find("fa2")->plan(spec.problem, spec.config(), limits).buffer_bytes();
  for (const auto& [there, end] : {std::pair(needed, Disposition::ok), {needed - 1, Disposition::out_of_memory}}) {
    limits.dram_bytes = there;
    EXPECT_EQ(make_simulated_device(limits, built_in_algorithms())->measure(spec, {}, {}).disposition, end);
  }
}

TEST(SimulatedDevice, AddedDelayIncreasesTime) {
  const auto device = make_simulated_device(*find_gpu("H200"), built_in_algorithms());
  const PointSpec spec{.algorithm = "fa2", .problem = {.n_q = 256, .n_k = 256, .d = 64}, .tile = {.br = 64, .bc = 64}};
  const auto ns = [&](const MeasureOptions& options) {
    return evaluate(metric_key::time_median_ns, device->measure(spec, options, {}))->value;
  };
  MeasureOptions options;
  options.spin = std::chrono::microseconds(3);
  EXPECT_DOUBLE_EQ(ns(options), ns({}) + 3000);
}

TEST(SimulatedDevice, NamesTheL2Source) {
  EXPECT_EQ(make_simulated_device(*find_gpu("A100"), built_in_algorithms())->info().l2_source, "NVIDIA H200");
  EXPECT_EQ(make_simulated_device(*find_gpu("H200"), built_in_algorithms())->info().l2_source, "");
}

TEST(SimulatedDevice, UnitsOfOneGpuDiffer) {
  for (const auto& [unit, uuid, ordinal] : {std::tuple(0, "SIM-NVIDIA-H200", 0),
                                            {1, "SIM-NVIDIA-H200#1", 0},
                                            {2, "SIM-NVIDIA-H200#2", 1},
                                            {12, "SIM-NVIDIA-H200#12", 11}}) {
    const auto device = make_simulated_device(*find_gpu("H200"), built_in_algorithms(), {}, unit);
    EXPECT_EQ(device->info().uuid, uuid);
    EXPECT_EQ(device->info().ordinal, ordinal) << uuid;
  }
}

TEST(SimulatedDevice, CountersAreOptional) {
  const auto device = make_simulated_device(*find_gpu("H200"), built_in_algorithms());
  const PointSpec spec{.algorithm = "fa2", .problem = {.n_q = 256, .n_k = 256, .d = 64}, .tile = {.br = 64, .bc = 64}};
  MeasureOptions options;
  options.extra_metrics = {"lts__t_bytes.sum", "dram__bytes_write.sum"};
  const PointRecord counted = device->measure(spec, options, {});
  EXPECT_EQ(counted.kernel("all")->metric("dram__bytes_write.sum"), counted.kernel("all")->metric("dram_write_bytes"));
  EXPECT_FALSE(counted.kernel("all")->metric("dram__bytes_read.sum")) << "not asked for";
  options.counters = false;
  const PointRecord timed = device->measure(spec, options, {});
  EXPECT_FALSE(timed.kernel("all")->metric("dram_write_bytes"));
  EXPECT_EQ(timed.kernel("all")->samples_ns, counted.kernel("all")->samples_ns);
  const std::vector<std::string> names{"dram__bytes_read.sum", "dram__bytes_wrote.sum", "sm__nothing"};
  const auto unknown = device->unknown_metrics(names);
  ASSERT_EQ(unknown.size(), 2U);
  EXPECT_EQ(unknown[0].name, names[1]);
  EXPECT_EQ(unknown[0].near.front(), "dram__bytes_write.sum");
  EXPECT_EQ(unknown[1].name, names[2]);
}

TEST(SharedSession, HoldsSixteenPointsOfAQuarterOfTheMemory) {
  const Registry& known = built_in_algorithms();
  const auto spec = [](std::int64_t n) {
    return PointSpec{.algorithm = "fa2", .problem = {.n_q = n, .n_k = n, .d = 64}, .tile = {.br = 64, .bc = 64}};
  };
  DeviceLimits limits = *find_gpu("H200");
  EXPECT_TRUE(fits_in_session(std::vector(15, spec(64)), spec(64), limits, known));
  EXPECT_FALSE(fits_in_session(std::vector(16, spec(64)), spec(64), limits, known));
  const std::vector waiting{spec(256), spec(1024)};
  limits.dram_bytes = 0;
  for (const std::int64_t n : {256, 512, 1024}) limits.dram_bytes += 4 * required_memory_bytes(spec(n), limits, known);
  EXPECT_TRUE(fits_in_session(waiting, spec(512), limits, known));
  --limits.dram_bytes;
  EXPECT_FALSE(fits_in_session(waiting, spec(512), limits, known));
}

/// Halving the measured DRAM rate doubles the time of a DRAM-bound kernel, and rates_source names the source.
TEST(SimulatedDevice, UsesMeasuredRates) {
  const DeviceLimits& h200 = *find_gpu("H200");
  const double table = device_rates(h200).dram_bytes_per_second;
  const MeasuredCeilings half{
      .ceilings = {{.name = std::string(ceiling_key::dram_read), .value = table / 2, .unit = "byte/s"},
                   {.name = std::string(ceiling_key::dram_copy), .value = table / 2, .unit = "byte/s"}},
      .from = "another H200"};
  const auto time = [&](Device& device) {
    PointSpec spec;
    spec.algorithm = "naive";
    spec.problem = {.heads_q = 16, .heads_kv = 16, .n_q = 4096, .n_k = 4096, .d = 64};
    return evaluate(metric_key::time_median_ns, device.measure(spec, {}, CancelToken()))->value;
  };
  const auto by_table = make_simulated_device(h200, built_in_algorithms());
  const auto measured = make_simulated_device(h200, built_in_algorithms(), half);
  EXPECT_GT(time(*measured), 1.3 * time(*by_table)) << "naive is DRAM-bound";
  EXPECT_EQ(measured->info().rates_source, "another H200");
  EXPECT_EQ(by_table->info().rates_source, "");
  MeasuredCeilings l2 = half;
  l2.ceilings = {{.name = std::string(ceiling_key::l2_read), .value = 1e12, .unit = "byte/s"}};
  EXPECT_EQ(make_simulated_device(h200, built_in_algorithms(), l2)->info().rates_source, "another H200");
  const MeasuredCeilings without{.ceilings = {{.name = "dram_copy_clock", .value = 1e9, .unit = "hertz"}},
                                 .from = "it"};
  EXPECT_EQ(make_simulated_device(h200, built_in_algorithms(), without)->info().rates_source, "") << "no rate was used";
}

TEST(Provenance, NamesAndTitles) {
  EXPECT_EQ(to_string(Provenance::extrapolated), "extrapolated");
  EXPECT_EQ(*parse_provenance("extrapolated"), Provenance::extrapolated);
  EXPECT_EQ(title(Provenance::extrapolated), Message(msg::provenance::extrapolated{}));
  EXPECT_EQ(title(Provenance::simulated), Message(msg::provenance::simulated{}));
  EXPECT_EQ(title(Provenance::measured), Message(msg::provenance::measured{}));
}

}  // namespace
}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/metrics.h"
#include "kernels/common_knobs.h"

#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <set>
#include <tuple>

#include "kernels/model/io_model.h"
#include "kernels/registry.h"
#include "profiler/metrics/model_metrics.h"
#include "tests/kernels/tiling.h"

namespace attnscope {
namespace {

namespace key = metric_key;

// One head, N 64, d 64: 4 * 64 * 64 * 64 = 2^20 operations.
PointRecord measured_point() {
  PointRecord record;
  record.spec = {.algorithm = "fa2", .problem = {.n_q = 64, .n_k = 64, .d = 64}, .tile = {}};
  KernelRecord all;
  all.samples_ns = {3000, 1000, 2000};
  all.metrics = {{std::string(key::dram_read_bytes), 6000, "byte", Provenance::measured},
                 {std::string(key::dram_write_bytes), 2000, "byte", Provenance::measured},
                 {std::string(key::l2_to_sm_bytes), 30000, "byte", Provenance::measured},
                 {std::string(key::sm_to_l2_bytes), 3000, "byte", Provenance::measured},
                 {std::string(key::model_l2_to_sm_bytes), 29000, "byte", Provenance::modeled},
                 {std::string(key::model_sm_to_l2_bytes), 1000, "byte", Provenance::modeled},
                 {std::string(key::model_compulsory_bytes), 4000, "byte", Provenance::modeled}};
  record.kernels.push_back(all);
  return record;
}

void expect_metric(const PointRecord& record, std::string_view name, double value, std::string_view unit,
                   Provenance provenance) {
  const auto metric = evaluate(name, record);
  ASSERT_TRUE(metric.has_value()) << name;
  EXPECT_EQ(metric->name, name);
  EXPECT_DOUBLE_EQ(metric->value, value) << name;
  EXPECT_EQ(metric->unit, unit) << name;
  EXPECT_EQ(metric->provenance, provenance) << name;
}

TEST(MetricsTable, KeysAndCountersAreUniqueAndEveryRowIsComplete) {
  std::set<std::string_view> keys;
  std::set<std::string_view> counters;
  for (const Metric& metric : metrics_table()) {
    EXPECT_TRUE(keys.insert(metric.key).second) << metric.key;
    EXPECT_FALSE(metric.unit.empty()) << metric.key;
    EXPECT_FALSE(metric.label().empty()) << metric.key;
    EXPECT_FALSE(metric.help().empty()) << metric.key;
    if (!metric.counter.empty()) {
      EXPECT_TRUE(counters.insert(metric.counter).second) << metric.counter;
    }
    EXPECT_TRUE(!metric.collected_by_default || !metric.counter.empty()) << metric.key;
  }
}

TEST(MetricsTable, KernelMemoryPrintsAsCapacity) {
  const auto words = [](std::string_view name, double value) {
    return metric_text({std::string(name), value, std::string(find_metric(name)->unit), Provenance::measured});
  };
  EXPECT_EQ(words(key::shared_bytes, 98304), "96 KiB");
  EXPECT_EQ(words(key::local_bytes, 512), "512 B");
  EXPECT_EQ(words(key::dram_read_bytes, 98304), "98.3 kB");
  EXPECT_EQ(words(key::l2_sm_over_model, 1.00123), "1.0012");
}

TEST(MetricsTable, CountersHaveNsightComputeNames) {
  EXPECT_EQ(find_metric(key::dram_read_bytes)->counter, "dram__bytes_read.sum");
  EXPECT_EQ(find_metric(key::dram_read_bytes)->counter_cc12, "dram__bytes_op_read.sum");
  EXPECT_EQ(find_metric(key::l2_to_sm_bytes)->counter, "l1tex__m_xbar2l1tex_read_bytes.sum");
  EXPECT_EQ(find_metric(key::sm_to_l2_bytes)->counter, "l1tex__m_l1tex2xbar_write_bytes.sum");
  EXPECT_EQ(find_metric("no_such_metric"), nullptr);
}

TEST(MetricsTable, UtilizationIsPercentOfPeakAndStallsAreWarps) {
  std::size_t uses = 0;
  for (const Metric& metric : metrics_table()) {
    if (metric.why == CounterGroup::use) {
      EXPECT_EQ(metric.unit, "percent") << metric.key;
      EXPECT_TRUE(metric.counter.ends_with(".pct_of_peak_sustained_elapsed")) << metric.key;
      ++uses;
    }
    if (metric.why == CounterGroup::stall) {
      EXPECT_TRUE(metric.counter.ends_with("_per_issue_active.ratio")) << metric.key;
    }
    EXPECT_FALSE(metric.why != CounterGroup::none && metric.collected_by_default) << metric.key;
    EXPECT_EQ(find_counter(metric.counter), metric.counter.empty() ? nullptr : &metric) << metric.key;
  }
  EXPECT_GE(uses, 6U);
  EXPECT_EQ(find_counter("dram__bytes_op_read.sum"), find_metric(key::dram_read_bytes));
  EXPECT_EQ(find_counter("no_such_counter.sum"), nullptr);
}

TEST(MetricsTable, OnlyBytesTimesAndActivityHaveABetterDirection) {
  const std::set<std::string_view> less{
      key::dram_read_bytes, key::dram_write_bytes,      key::l2_to_sm_bytes,         key::sm_to_l2_bytes,
      key::memory_bytes,    key::dram_read_in_sequence, key::dram_write_in_sequence, key::host_call_ns,
      key::saved_bytes,     key::model_l2_to_sm_bytes,  key::model_sm_to_l2_bytes,   key::dram_bytes,
      key::l2_sm_bytes,     key::model_l2_sm_bytes,     key::time_median_ns,         key::time_q1_ns,
      key::time_q3_ns,      key::dram_writeback_bytes,  key::dram_settled_bytes};
  const std::set<std::string_view> more{key::tflops, key::tensor_pipe_pct, key::achieved_occupancy_pct,
                                        key::theoretical_occupancy_pct};
  for (const Metric& metric : metrics_table()) {
    const BetterDirection expected = less.contains(metric.key)   ? BetterDirection::less
                                     : more.contains(metric.key) ? BetterDirection::more
                                                                 : BetterDirection::neither;
    EXPECT_EQ(metric.better, expected) << metric.key;
  }
}

TEST(MetricsTable, TimesAndRatesFollowTheClocks) {
  for (const Metric& metric : metrics_table()) {
    const bool over_time = metric.unit == "ns" || metric.unit == "Tflop/s" || metric.unit == "byte/s";
    // Counter range times are not sampled. The time components of several GPUs have one value per round. Host time does
    // not depend on the GPU.
    const bool sampled =
        metric.why == CounterGroup::none && !metric.key.starts_with("gpu_") && metric.key != key::host_call_ns;
    EXPECT_EQ(metric.depends_on_clock, over_time && sampled) << metric.key;
  }
}

TEST(Evaluate, StoredValuesAreUnchanged) {
  expect_metric(measured_point(), key::dram_read_bytes, 6000, "byte", Provenance::measured);
}

TEST(Evaluate, ImportedQuartilesGiveTheSpread) {
  PointRecord record = measured_point();
  record.provenance = Provenance::imported;
  record.kernels[0].samples_ns.clear();
  record.kernels[0].metrics = {{std::string(key::time_median_ns), 2000, "ns", Provenance::imported},
                               {std::string(key::time_q1_ns), 1800, "ns", Provenance::imported},
                               {std::string(key::time_q3_ns), 2300, "ns", Provenance::imported}};
  expect_metric(record, key::time_spread, 0.25, "1", Provenance::imported);
}

TEST(Evaluate, DerivesSumsRatesAndRatios) {
  const PointRecord record = measured_point();
  expect_metric(record, key::time_median_ns, 2000, "ns", Provenance::measured);
  expect_metric(record, key::time_q1_ns, 1500, "ns", Provenance::measured);
  expect_metric(record, key::time_q3_ns, 2500, "ns", Provenance::measured);
  expect_metric(record, key::time_spread, 0.5, "1", Provenance::measured);
  expect_metric(record, key::dram_bytes, 8000, "byte", Provenance::measured);
  expect_metric(record, key::l2_sm_bytes, 33000, "byte", Provenance::measured);
  expect_metric(record, key::model_l2_sm_bytes, 30000, "byte", Provenance::modeled);
  expect_metric(record, key::dram_bandwidth, 4e9, "byte/s", Provenance::derived);
  expect_metric(record, key::l2_sm_bandwidth, 16.5e9, "byte/s", Provenance::derived);
  expect_metric(record, key::l2_sm_over_model, 1.1, "1", Provenance::derived);
  expect_metric(record, key::dram_over_compulsory, 2, "1", Provenance::derived);
  expect_metric(record, key::tflops, 1048576 / 2000e-9 / 1e12, "Tflop/s", Provenance::derived);
  expect_metric(record, key::arithmetic_intensity, 1048576 / 8000.0, "flop/byte", Provenance::derived);
}

TEST(Evaluate, SettledBytesAreReadWriteAndWriteBack) {
  PointRecord record = measured_point();
  EXPECT_FALSE(evaluate(key::dram_settled_bytes, record).has_value()) << "the write-back is unknown";
  EXPECT_EQ(dram_traffic(record)->name, key::dram_bytes);
  EXPECT_EQ(dram_traffic(record)->value, 8000);
  record.kernels[0].metrics.push_back({std::string(key::dram_writeback_bytes), 4000, "byte", Provenance::measured});
  expect_metric(record, key::dram_settled_bytes, 12000, "byte", Provenance::measured);
  expect_metric(record, key::dram_bytes, 8000, "byte", Provenance::measured);
  EXPECT_EQ(dram_traffic(record)->name, key::dram_settled_bytes);
  EXPECT_EQ(dram_traffic(record)->value, 12000);
  expect_metric(record, key::dram_over_compulsory, 3, "1", Provenance::derived);
  expect_metric(record, key::arithmetic_intensity, 1048576 / 12000.0, "flop/byte", Provenance::derived);
  // The later write-back does not affect the kernel's bandwidth.
  expect_metric(record, key::dram_bandwidth, 4e9, "byte/s", Provenance::derived);
  EXPECT_FALSE(dram_traffic(record, "qk").has_value());
}

TEST(Evaluate, SimulatedColdLaunchesAreSettled) {
  PointRecord record = measured_point();
  record.provenance = Provenance::simulated;
  for (MetricValue& metric : record.kernels[0].metrics) {
    if (metric.provenance == Provenance::measured) metric.provenance = Provenance::simulated;
  }
  record.kernels.push_back(record.kernels[0]);
  record.kernels[1].kernel = "pv";
  expect_metric(record, key::dram_settled_bytes, 8000, "byte", Provenance::simulated);
  EXPECT_EQ(evaluate(key::dram_settled_bytes, record, "pv")->value, 8000) << "each launch ends with its write-back";
  EXPECT_EQ(dram_traffic(record, "pv")->name, key::dram_settled_bytes);
  record.spec.cache = CacheState::warm;
  EXPECT_FALSE(evaluate(key::dram_settled_bytes, record).has_value());
}

TEST(Evaluate, ValuesFromSimulationsAreSimulated) {
  PointRecord record = measured_point();
  record.provenance = Provenance::simulated;
  for (MetricValue& metric : record.kernels[0].metrics) {
    if (metric.provenance == Provenance::measured) metric.provenance = Provenance::simulated;
  }
  EXPECT_EQ(evaluate(key::time_median_ns, record)->provenance, Provenance::simulated);
  EXPECT_EQ(evaluate(key::l2_sm_over_model, record)->provenance, Provenance::simulated);
  EXPECT_EQ(evaluate(key::tflops, record)->provenance, Provenance::simulated);
}

TEST(Evaluate, ValuesFromImportsAreImported) {
  PointRecord record = measured_point();
  record.provenance = Provenance::imported;
  record.kernels[0].metrics[0].provenance = Provenance::imported;
  record.kernels[0].metrics[1].provenance = Provenance::simulated;
  EXPECT_EQ(evaluate(key::dram_bytes, record)->provenance, Provenance::imported);
  EXPECT_EQ(evaluate(key::tflops, record)->provenance, Provenance::imported);
  EXPECT_EQ(evaluate(key::model_l2_sm_bytes, record)->provenance, Provenance::modeled);
}

TEST(Evaluate, EmptyIfAnInputIsMissing) {
  PointRecord record = measured_point();
  EXPECT_FALSE(evaluate(key::registers, record).has_value());
  EXPECT_FALSE(evaluate(key::dram_bytes, record, "qk").has_value());
  record.kernels[0].samples_ns.clear();
  EXPECT_FALSE(evaluate(key::tflops, record).has_value());
  record.kernels[0].metrics.erase(record.kernels[0].metrics.begin());
  EXPECT_FALSE(evaluate(key::dram_bytes, record).has_value());
}

TEST(Evaluate, OneKernelOfSeveralHasNoTflops) {
  PointRecord record = measured_point();
  record.kernels.push_back(record.kernels[0]);
  record.kernels[1].kernel = "qk";
  EXPECT_TRUE(evaluate(key::time_median_ns, record, "qk").has_value());
  EXPECT_FALSE(evaluate(key::tflops, record, "qk").has_value());
}

TEST(Evaluate, RatesOfSeveralGpusArePerGpu) {
  PointRecord record = measured_point();
  record.spec.problem.gpus = 2;
  record.kernels.push_back(record.kernels[0]);
  record.kernels[1].kernel = "fwd";
  expect_metric(record, key::tflops, 1048576 / 2000e-9 / 1e12 / 2, "Tflop/s", Provenance::derived);
  expect_metric(record, key::dram_bandwidth, 2e9, "byte/s", Provenance::derived);
  expect_metric(record, key::l2_sm_bandwidth, 8.25e9, "byte/s", Provenance::derived);
  EXPECT_DOUBLE_EQ(evaluate(key::dram_bandwidth, record, "fwd")->value, 4e9) << "one launch runs on one GPU";
}

TEST(Evaluate, QuartilesOfARateAreThoseOfItsTime) {
  PointRecord record = measured_point();  // times 1500, 2000 and 2500 ns
  const auto bandwidth = quartiles(key::dram_bandwidth, record);
  ASSERT_TRUE(bandwidth);
  EXPECT_DOUBLE_EQ(bandwidth->q1, 3.2e9);
  EXPECT_DOUBLE_EQ(bandwidth->q3, 8e9 / 1.5);
  const auto time = quartiles(key::time_median_ns, record);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->q1, 1500);
  EXPECT_EQ(time->q3, 2500);
  EXPECT_FALSE(quartiles(key::time_q1_ns, record));
  EXPECT_FALSE(quartiles(key::dram_bandwidth, record, "qk"));
  record.kernels[0].samples_ns = {0, 0, 5};
  EXPECT_FALSE(quartiles(key::tflops, record)) << "a quartile of zero";
  record.kernels[0].samples_ns.clear();
  EXPECT_FALSE(quartiles(key::dram_bandwidth, record));
}

TEST(Evaluate, ADivisorOfZeroHasNoValue) {
  PointRecord record = measured_point();
  record.kernels[0].metrics[6].value = 0;
  EXPECT_FALSE(evaluate(key::dram_over_compulsory, record));
  record.kernels[0].samples_ns = {0};
  EXPECT_FALSE(evaluate(key::tflops, record));
  EXPECT_FALSE(evaluate("no_such_metric", record));
  record.kernels[0].metrics.erase(record.kernels[0].metrics.begin() + 1);  // written bytes
  EXPECT_FALSE(evaluate(key::dram_bytes, record)) << "of two numbers one is missing";
}

TEST(ModelMetrics, SeveralGpusHaveTimesByPart) {
  const ScheduleTimes times{.attention_ns = 1, .combine_ns = 2, .exposed_ns = 4, .copies_ns = 3, .imbalance = 5};
  for (const auto& [given, computed] : {std::pair(Provenance::measured, Provenance::derived),
                                        std::pair(Provenance::simulated, Provenance::simulated)}) {
    KernelRecord all;
    add_link_bytes(all, 6, Provenance::modeled);
    add_multi_gpu_times(all, times, given);
    const std::tuple<std::string_view, double, Provenance> expected[] = {
        {key::link_bytes, 6, Provenance::modeled}, {key::gpu_attention_ns, 1, given},
        {key::gpu_combine_ns, 2, given},           {key::gpu_copies_ns, 3, given},
        {key::gpu_exposed_ns, 4, computed},        {key::gpu_imbalance, 5, computed}};
    ASSERT_EQ(all.metrics.size(), std::size(expected));
    for (std::size_t i = 0; i < all.metrics.size(); ++i) {
      const auto& [name, value, provenance] = expected[i];
      EXPECT_EQ(all.metrics[i].name, name);
      EXPECT_EQ(all.metrics[i].value, value) << name;
      EXPECT_EQ(all.metrics[i].provenance, provenance) << name;
    }
  }
}

TEST(ModelMetrics, UtilizationIsThatOfAllLaunches) {
  std::array<LaunchTime, 2> times;
  for (std::size_t unit = 0; unit < gpu_units.size(); ++unit) {
    times[0].busy_ns[unit] = static_cast<double>(unit);
    times[1].busy_ns[unit] = 10;
  }
  times[0].ns = 20;
  times[1].ns = 30;
  KernelRecord all;
  add_predicted_utilization(all, times, Provenance::modeled);
  ASSERT_EQ(all.metrics.size(), gpu_units.size());
  for (std::size_t unit = 0; unit < gpu_units.size(); ++unit) {
    EXPECT_EQ(all.metrics[unit].name, metric_of(gpu_units[unit]).key);
    EXPECT_DOUBLE_EQ(all.metrics[unit].value, 20 + 2.0 * static_cast<double>(unit)) << all.metrics[unit].name;
  }
}

TEST(ModelMetrics, NaiveHasKernelsAndSum) {
  const AttentionProblem problem{.heads_q = 4, .heads_kv = 4, .n_q = 256, .n_k = 256, .d = 64};
  const Algorithm& naive = *built_in_algorithms().find("naive");
  const AttentionPlan plan = naive.plan(problem, Tiling{.br = 64, .bc = 64}, known_gpus().front());
  PointRecord record;
  add_model_metrics(naive, plan, problem, record);
  ASSERT_EQ(record.kernels.size(), plan.launches.size() + 1);
  EXPECT_EQ(record.kernels[0].kernel, "all");
  double sum = 0;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    EXPECT_EQ(record.kernels[i + 1].kernel, plan.launches[i].name);
    sum += *record.kernels[i + 1].metric(key::model_l2_to_sm_bytes);
  }
  EXPECT_DOUBLE_EQ(*record.kernels[0].metric(key::model_l2_to_sm_bytes), sum);
  // Q, K, V and O: 4 heads, 256 x 64, 2 bytes per element.
  EXPECT_DOUBLE_EQ(*record.kernels[0].metric(key::model_compulsory_bytes), 4.0 * 4 * 256 * 64 * 2);
  EXPECT_EQ(record.kernels[0].metrics[0].provenance, Provenance::modeled);
}

TEST(ModelMetrics, OneLaunchHasOnlyAll) {
  const AttentionProblem problem{.n_q = 256, .n_k = 256, .d = 64};
  PointRecord record;
  record.kernels.emplace_back();
  const Algorithm& fa2 = *built_in_algorithms().find("fa2");
  add_model_metrics(fa2, fa2.plan(problem, Tiling{.br = 64, .bc = 64}, known_gpus().front()), problem, record);
  ASSERT_EQ(record.kernels.size(), 1U);
  // Reads Q once, K and V once per Q tile (4); writes O and fp32 LSE.
  EXPECT_DOUBLE_EQ(*record.kernels[0].metric(key::model_l2_to_sm_bytes), (256 * 64 + 4.0 * 2 * 256 * 64) * 2);
  EXPECT_DOUBLE_EQ(*record.kernels[0].metric(key::model_sm_to_l2_bytes), 256 * 64 * 2 + 256 * 4);
}

TEST(ModelMetrics, SetupLaunchesAreExcluded) {
  const AttentionProblem problem{.n_q = 256, .n_k = 256, .d = 64};
  const Algorithm& naive = *built_in_algorithms().find("naive");
  AttentionPlan plan = naive.plan(problem, Tiling{.br = 64, .bc = 64}, known_gpus().front());
  ASSERT_EQ(plan.launches.size(), 3U);
  plan.launches[0].setup = true;
  PointRecord several;
  add_model_metrics(naive, plan, problem, several);
  ASSERT_EQ(several.kernels.size(), 3U);
  EXPECT_EQ(several.kernels[1].kernel, plan.launches[1].name);
  EXPECT_DOUBLE_EQ(*several.kernels[0].metric(key::model_l2_to_sm_bytes),
                   static_cast<double>(plan.launches[1].traffic.l2_to_sm_bytes) +
                       static_cast<double>(plan.launches[2].traffic.l2_to_sm_bytes));
  plan.launches[1].setup = true;
  PointRecord one;
  add_model_metrics(naive, plan, problem, one);
  ASSERT_EQ(one.kernels.size(), 1U) << "one measured launch: only \"all\"";
  EXPECT_DOUBLE_EQ(*one.kernels[0].metric(key::model_l2_to_sm_bytes),
                   static_cast<double>(plan.launches[2].traffic.l2_to_sm_bytes));
}

}  // namespace
}  // namespace attnscope

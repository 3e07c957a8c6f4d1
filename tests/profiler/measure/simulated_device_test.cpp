// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/simulated_device.h"

#include <gtest/gtest.h>

#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"

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

// Naive's launches read and write S and P: at this length the softmax alone is longer than what is played of a launch.
TEST(SimulatedDevice, WhatWasNotPlayedWholeIsExtrapolated) {
  const PointRecord record = simulate("naive", 16384, 3);
  ASSERT_EQ(record.kernel("softmax")->complete, false);
  ASSERT_EQ(record.kernel("qk")->complete, true);
  ASSERT_EQ(record.kernel("all")->complete, false);
  EXPECT_EQ(record.provenance, Provenance::simulated) << "it is a simulated point";
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
  // The closed form, which is what playing the rest would add up to.
  for (const std::string_view key :
       {metric_key::l2_to_sm_bytes, metric_key::l2_sm_bytes, metric_key::l2_sm_over_model}) {
    EXPECT_EQ(origin_of(record, key), Provenance::simulated) << key;
    EXPECT_EQ(origin_of(record, key, "softmax"), Provenance::simulated) << key;
  }
  EXPECT_EQ(evaluate(metric_key::l2_sm_over_model, record)->value, 1);
}

TEST(SimulatedDevice, WhatWasPlayedWholeIsSimulated) {
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

TEST(Provenance, WordsForFilesAndForPeople) {
  EXPECT_EQ(to_string(Provenance::extrapolated), "extrapolated");
  EXPECT_EQ(*parse_provenance("extrapolated"), Provenance::extrapolated);
  EXPECT_EQ(text(title(Provenance::extrapolated)), "simulated, extrapolated");
  EXPECT_EQ(text(title(Provenance::simulated)), "simulated");
  EXPECT_EQ(text(title(Provenance::measured)), "measured");
}

}  // namespace
}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/prediction_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {
namespace {

constexpr double mib = 1024.0 * 1024;

class Prediction {
 public:
  std::string device = "GPU-1";
  std::string run = "1";
  bool settled = true;
  std::string algorithm = "fa2";
  Pass pass = Pass::fwd;
  DType dtype = DType::fp16;

  void add(std::int64_t n, TileShape tile, double measured_ns, double predicted_ns, double measured_bytes = 100 * mib,
           double predicted_bytes = 100 * mib) {
    PointSpec spec;
    spec.algorithm = algorithm;
    spec.problem = {.dtype = dtype, .pass = pass, .heads_q = 8, .heads_kv = 8, .n_q = n, .n_k = n, .d = 64};
    spec.tile = tile;
    const PointRecord& measured = record(spec, measured_ns, measured_bytes);
    PointRecord& predicted = record(spec, predicted_ns, predicted_bytes);
    predicted.provenance = Provenance::simulated;
    for (MetricValue& value : predicted.kernels.front().metrics) value.provenance = Provenance::simulated;
    pairs_.push_back({&measured, &predicted, device, run});
  }
  [[nodiscard]] std::vector<ErrorRow> rows() const { return prediction_errors(pairs_); }
  [[nodiscard]] ErrorRow sum(std::string_view quantity) const {
    for (const ErrorRow& row : rows()) {
      if (row.algorithm == "all" && row.half == "both" && row.quantity == quantity) return row;
    }
    return {};
  }

 private:
  PointRecord& record(const PointSpec& spec, double ns, double bytes) {
    PointRecord& record = records_.emplace_back();
    record.spec = spec;
    KernelRecord& all = record.kernels.emplace_back();
    all.samples_ns = {ns};
    all.metrics = {{std::string(metric_key::dram_read_bytes), bytes, "byte", Provenance::measured},
                   {std::string(metric_key::dram_write_bytes), 0, "byte", Provenance::measured}};
    if (settled) {
      all.metrics.push_back({std::string(metric_key::dram_writeback_bytes), 0, "byte", Provenance::measured});
    }
    return record;
  }
  std::deque<PointRecord> records_;
  std::vector<PredictedPoint> pairs_;
};

TEST(PredictionError, EachProblemCountsOnce) {
  Prediction points;
  for (int i = 0; i < 9; ++i) points.add(1024, {.br = 16 * (i + 1), .bc = 64}, 100, 150);
  points.add(2048, {.br = 64, .bc = 64}, 100, 100);
  points.add(4096, {.br = 64, .bc = 64}, 200, 180);
  const ErrorRow row = points.sum("time");
  EXPECT_EQ(row.points, 11U);
  EXPECT_EQ(row.problems, 3U);
  EXPECT_NEAR(row.median, 0.1, 1e-12);  // median of 0.5, 0 and 0.1
  EXPECT_NEAR(row.p95, 0.46, 1e-12);    // 0.9 of the way from 0.1 to 0.5
}

TEST(PredictionError, SmallTrafficAndMissingValuesAreSkipped) {
  Prediction points;
  points.add(1024, {.br = 64, .bc = 64}, 0, 100, 64 * mib, 640 * mib);
  points.add(2048, {.br = 64, .bc = 64}, 100, 0, 200 * mib, 220 * mib);
  points.add(4096, {.br = 64, .bc = 64}, 100, 100, 63 * mib, 630 * mib);
  EXPECT_EQ(points.sum("dram_bytes").points, 1U);
  EXPECT_NEAR(points.sum("dram_bytes").median, 0.1, 1e-12);
  EXPECT_EQ(points.sum("time").points, 1U);
}

TEST(PredictionError, UnsettledBytesAreSkipped) {
  Prediction points;
  points.add(1024, {.br = 64, .bc = 64}, 100, 100, 200 * mib, 220 * mib);
  points.settled = false;  // simulated values are settled: cold launches end with a write-back
  points.add(2048, {.br = 64, .bc = 64}, 100, 100, 200 * mib, 300 * mib);
  EXPECT_EQ(points.sum("dram_bytes").points, 1U);
  EXPECT_NEAR(points.sum("dram_bytes").median, 0.1, 1e-12);
  EXPECT_EQ(points.sum("time").points, 2U);
}

TEST(PredictionError, DevicesCountSeparately) {
  Prediction points;
  for (int i = 0; i < 12; ++i) points.add(1024, {.br = 16 * (i + 1), .bc = 64}, 100 + i, 100 + i);
  points.device = "GPU-2";
  points.run = "2";
  for (int i = 0; i < 12; ++i) points.add(1024, {.br = 16 * (i + 1), .bc = 64}, 200 - i, 100 + i);
  EXPECT_EQ(points.sum("time").problems, 2U);
  EXPECT_EQ(points.sum("tile_ratio").problems, 2U);
}

TEST(PredictionError, AlgorithmsPassesAndTypesCountSeparately) {
  Prediction points;
  double predicted = 110;
  for (const auto& [algorithm, pass, dtype] : {std::tuple("fa2", Pass::fwd, DType::fp16),
                                               {"fa2", Pass::bwd, DType::fp16},
                                               {"fa1", Pass::fwd, DType::fp16},
                                               {"fa3", Pass::fwd, DType::bf16},
                                               {"fa3", Pass::fwd, DType::fp8}}) {
    points.algorithm = algorithm;
    points.pass = pass;
    points.dtype = dtype;
    points.add(1024, {.br = 64, .bc = 64}, 100, predicted);
    predicted += 10;
  }
  std::map<std::string, double> medians;
  for (const ErrorRow& row : points.rows()) {
    if (row.quantity == "time" && row.algorithm != "all") medians[row.algorithm + " " + row.pass] = row.median;
  }
  const std::map<std::string, double> expected{
      {"fa1 fwd", 0.3}, {"fa2 bwd", 0.2}, {"fa2 fwd", 0.1}, {"fa3 fp8 fwd", 0.5}, {"fa3 fwd", 0.4}};
  ASSERT_EQ(medians.size(), expected.size());
  for (const auto& [group, median] : expected) EXPECT_NEAR(medians[group], median, 1e-12) << group;
  EXPECT_EQ(points.sum("time").problems, 5U);
  EXPECT_NEAR(points.sum("time").median, 0.3, 1e-12);
}

TEST(PredictionError, TilesMeasuredTwiceCountOnce) {
  Prediction points;
  for (int i = 0; i < 11; ++i) points.add(1024, {.br = 16 * (i + 1), .bc = 64}, 100 + i, 100 + i);
  points.run = "2";
  points.add(1024, {.br = 16, .bc = 64}, 300, 100);
  points.add(1024, {.br = 256, .bc = 64}, 300, 100);  // a new tile, but in a run that is skipped
  EXPECT_EQ(points.sum("tile_ratio").problems, 0U) << "11 distinct tiles";
  points.run = "3";  // shares no tile with the first run
  for (int i = 0; i < 4; ++i) points.add(1024, {.br = 16 * (i + 1), .bc = 128}, 200 + i, 200 + i);
  EXPECT_EQ(points.sum("tile_ratio").points, 15U * 14 / 2);
  EXPECT_NEAR(points.sum("tile_ratio").p95, 0, 1e-12) << "duplicate tiles of another run are skipped";
  EXPECT_EQ(points.sum("time").points, 17U);
  EXPECT_EQ(points.sum("time").problems, 1U);
}

TEST(PredictionError, CommonErrorsCancelInTileRatios) {
  Prediction points;
  for (int i = 0; i < 12; ++i) {
    points.add(1024, {.br = 16 * (i + 1), .bc = 64}, 100 + 10 * i, 2 * (100 + 10 * i) * (i == 3 ? 1.2 : 1));
  }
  for (int i = 0; i < 13; ++i) {
    points.add(2048, {.br = 16 * (i + 1), .bc = 64}, 100 + i, 300 + 3 * i);
  }
  const ErrorRow row = points.sum("tile_ratio");
  EXPECT_EQ(row.points, 66U + 78U);
  EXPECT_EQ(row.problems, 2U);
  EXPECT_NEAR(row.median, 0, 1e-12);
  EXPECT_NEAR(row.p95, 0.2, 1e-12) << "worse problem: 11 of 66 pairs";
}

TEST(PredictionError, TilesOfAProblemAreInOneHalf) {
  std::map<Half, int> halves;
  for (int i = 1; i <= 200; ++i) {
    PointSpec spec;
    spec.algorithm = "fa1";
    spec.problem = {.heads_q = 8, .heads_kv = 8, .n_q = 64 * i, .n_k = 64 * i, .d = 64};
    spec.tile = {.br = 64, .bc = 64};
    const Half half = data_half_of(spec);
    ++halves[half];
    spec.algorithm = "fa2";
    spec.tile = {.br = 128, .bc = 32};
    spec.knobs = {{"warps", std::int64_t{8}}};
    EXPECT_EQ(data_half_of(spec), half);
  }
  EXPECT_GT(halves[Half::fitted], 70);
  EXPECT_GT(halves[Half::held_out], 70);
}

}  // namespace
}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
// Predicted times against those of the shipped sample, on the half of its problems that no constant was fitted to. The
// figures that CONTRIBUTING.md publishes, with margin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "profiler/analysis/prediction_error.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/metrics/model_metrics.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using analysis::ErrorFigures;
using analysis::Half;
using analysis::PredictionErrors;

/// The sample's measured points, each with the limits of its GPU.
class Measured {
 public:
  Measured() {
    const RunStore store = RunStore::open(ATTNSCOPE_SAMPLE, RunStore::Mode::read_only);
    std::map<std::int64_t, DeviceLimits> limits;
    for (const RunSummary& run : store.runs()) {
      if (run.provenance == Provenance::measured) limits.emplace(run.id, run.limits);
    }
    for (StoredPoint& point : store.points()) {
      const auto found = limits.find(point.run_id);
      if (found == limits.end() || point.record.disposition != Disposition::ok) continue;
      points_.push_back(std::move(point.record));
      limits_.push_back(found->second);
    }
  }

  /// `predict`: of a spec and its device's limits. Points of `half`, or all.
  template <class Predict>
  [[nodiscard]] PredictionErrors errors(std::optional<Half> half, const Predict& predict) const {
    std::vector<PointRecord> predicted(points_.size());
    std::vector<analysis::PredictedPoint> pairs;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (half && analysis::half_of(points_[i].spec) != *half) continue;
      predicted[i] = predict(points_[i].spec, limits_[i]);
      if (predicted[i].disposition == Disposition::ok) pairs.push_back({&points_[i], &predicted[i]});
    }
    return analysis::prediction_errors(pairs);
  }

 private:
  std::vector<PointRecord> points_;
  std::vector<DeviceLimits> limits_;
};

const Measured& measured() {
  static const Measured loaded;
  return loaded;
}

ErrorFigures times_of(const PredictionErrors& errors, Half half) {
  for (const analysis::ErrorRow& row : errors.rows) {
    if (row.algorithm.empty() && row.half == half && row.time) return *row.time;
  }
  ADD_FAILURE() << "no such row";
  return {};
}

TEST(SamplePredictions, SimulatedTimesOfProblemsThatNothingWasFittedTo) {
  std::map<std::string, std::unique_ptr<Device>> devices;
  const CancelToken cancel;
  const PredictionErrors errors =
      measured().errors(Half::held_out, [&](const PointSpec& spec, const DeviceLimits& limits) {
        std::unique_ptr<Device>& device = devices[limits.name];
        if (!device) device = make_simulated_device(limits, built_in_algorithms());
        return device->measure(spec, {}, cancel);
      });
  const ErrorFigures time = times_of(errors, Half::held_out);
  EXPECT_GT(time.problems, 90U);
  EXPECT_LT(time.median, 0.06);
  EXPECT_LT(time.p95, 0.30);
  EXPECT_GT(time.ratio, 0.95);
  EXPECT_LT(time.ratio, 1.05);
  for (const analysis::ErrorRow& row : errors.rows) {
    if (!row.time) continue;
    EXPECT_LT(row.time->median, 0.15) << row.algorithm;
    EXPECT_LT(row.time->worst_factor, 2.2) << row.algorithm;
  }
}

TEST(SamplePredictions, TimesWithoutPlayingAnything) {
  const PredictionErrors errors = measured().errors({}, [](const PointSpec& spec, const DeviceLimits& limits) {
    PointRecord record;
    record.spec = spec;
    const AttentionModel model = built_in_algorithms().find(spec.algorithm)->model(spec.problem, spec.config(), limits);
    if (model.refusal) {
      record.disposition = Disposition::infeasible;
    } else {
      kernel_record(record, "all").samples_ns = {point_ns(predict_times(model, limits))};
    }
    return record;
  });
  const ErrorFigures time = times_of(errors, Half::held_out);
  EXPECT_LT(time.median, 0.07);
  EXPECT_LT(time.p95, 0.35);
  EXPECT_GT(time.ratio, 0.95);
  EXPECT_LT(time.ratio, 1.05);
  ASSERT_GE(errors.ranks.size(), 5U);
  for (const analysis::TileRanks& ranks : errors.ranks) {
    EXPECT_GT(ranks.spearman, ranks.tiles > 100 ? 0.93 : 0.75) << ranks.problem.algorithm;
    EXPECT_LT(ranks.chosen_over, 1.25) << ranks.problem.algorithm;
  }
}

}  // namespace
}  // namespace attnscope

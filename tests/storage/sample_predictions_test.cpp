// SPDX-License-Identifier: Apache-2.0
// Predicted times against those of the shipped sample, on the half of its problems that no constant was fitted to. The
// figures that assets/docs/measurements.md publishes, with margin.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "profiler/analysis/comparison.h"
#include "profiler/analysis/prediction_error.h"
#include "profiler/analysis/published_errors.h"
#include "profiler/analysis/use_error.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/metrics/model_metrics.h"
#include "storage/measured_rates.h"
#include "storage/run_store.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

using analysis::ErrorFigures;
using analysis::Half;
using analysis::PredictionErrors;

/// The sample's measured points, each with the limits of its GPU.
class Measured {
 public:
  explicit Measured(const char* file = ATTNSCOPE_SAMPLE) {
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    std::map<std::int64_t, RunSummary> runs;
    for (const RunSummary& run : store.runs()) {
      if (run.provenance == Provenance::measured) runs.emplace(run.id, run);
    }
    sets_ = store.ceilings();
    for (StoredPoint& point : store.points()) {
      const auto found = runs.find(point.run_id);
      if (found == runs.end() || point.record.disposition != Disposition::ok) continue;
      points_.push_back(std::move(point.record));
      devices_.push_back(point.device_uuid);
      runs_.push_back(found->second.uid);
      limits_.push_back(found->second.limits);
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
      if (predicted[i].disposition == Disposition::ok)
        pairs.push_back({&points_[i], &predicted[i], devices_[i], runs_[i]});
    }
    uses_ = analysis::use_errors(pairs);
    return analysis::prediction_errors(pairs);
  }
  /// Of what errors() played last.
  [[nodiscard]] const analysis::UseErrors& uses() const { return uses_; }
  /// What was measured of the GPU of that name; nothing where nobody did.
  [[nodiscard]] MeasuredCeilings rates(const DeviceLimits& limits) const {
    const StoredCeilings* set = newest_rates(sets_, limits);
    return set == nullptr ? MeasuredCeilings{} : MeasuredCeilings{.ceilings = set->ceilings, .from = set->device_name};
  }

 private:
  mutable analysis::UseErrors uses_;
  std::vector<StoredCeilings> sets_;
  std::vector<std::string> devices_;
  std::vector<std::string> runs_;
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

/// The tables in assets/samples that reports, verdicts and the window quote are of this model: after a change of it,
/// `attnscope model --against assets/samples/h200.attnscope --csv` writes h200-errors.csv anew, and so on.
void expect_published(const PredictionErrors& errors, std::string_view gpu) {
  const analysis::PublishedErrors& all = analysis::published_errors(gpu);
  EXPECT_EQ(all.device, gpu);
  std::size_t compared = 0;
  for (const analysis::ErrorRow& row : errors.rows) {
    if (row.algorithm.empty() || !row.pass || row.half != Half::held_out) continue;
    for (const auto& [quantity, figures] :
         {std::pair("dram_bytes", &row.dram), std::pair("time", &row.time), std::pair("tile_ratio", &row.tiles)}) {
      if (!*figures) continue;
      const analysis::PublishedError* published = all.find(row.algorithm, *row.pass, quantity);
      ASSERT_NE(published, nullptr) << row.algorithm << " " << quantity;
      EXPECT_EQ(published->half, to_string(Half::held_out)) << row.algorithm << " " << quantity;
      EXPECT_EQ(published->points, (*figures)->points) << row.algorithm << " " << quantity;
      EXPECT_EQ(published->problems, (*figures)->problems) << row.algorithm << " " << quantity;
      EXPECT_NEAR(published->median, (*figures)->median, 5e-3) << row.algorithm << " " << quantity;
      EXPECT_NEAR(published->p95, (*figures)->p95, 2e-2) << row.algorithm << " " << quantity;
      ++compared;
    }
  }
  EXPECT_GT(compared, 8U);
}

TEST(SamplePredictions, SimulatedTimesOfProblemsThatNothingWasFittedTo) {
  std::map<std::string, std::unique_ptr<Device>> devices;
  const CancelToken cancel;
  const PredictionErrors errors =
      measured().errors(Half::held_out, [&](const PointSpec& spec, const DeviceLimits& limits) {
        std::unique_ptr<Device>& device = devices[limits.name];
        if (!device) device = make_simulated_device(limits, built_in_algorithms(), measured().rates(limits));
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
    // No constant is fitted to FP8 times.
    EXPECT_LT(row.time->median, row.algorithm.ends_with("fp8") ? 0.20 : 0.15) << row.algorithm;
    EXPECT_LT(row.time->worst_factor, 2.2) << row.algorithm;
  }
  expect_published(errors, "NVIDIA H200");
}

/// Constants of kernels were fitted to an H200; what they issue, and the clock, on other H100 than this one.
TEST(SamplePredictions, HoldOnAGpuOfAnotherKind) {
  if (test::sanitized) GTEST_SKIP() << "touches what SimulatedTimesOfProblemsThatNothingWasFittedTo does";
  const Measured h100(ATTNSCOPE_SECOND_SAMPLE);
  std::unique_ptr<Device> device;
  const CancelToken cancel;
  const PredictionErrors errors = h100.errors(Half::held_out, [&](const PointSpec& spec, const DeviceLimits& limits) {
    if (!device) device = make_simulated_device(limits, built_in_algorithms(), h100.rates(limits));
    return device->measure(spec, {}, cancel);
  });
  const ErrorFigures time = times_of(errors, Half::held_out);
  EXPECT_GT(time.problems, 90U);
  EXPECT_LT(time.median, 0.06);
  EXPECT_LT(time.p95, 0.20);
  EXPECT_NEAR(time.ratio, 1, 0.05);
  expect_published(errors, "NVIDIA H100 80GB HBM3");
  const analysis::UseErrors& uses = h100.uses();
  EXPECT_GT(uses.bounds, 60U);
  EXPECT_GE(static_cast<double>(uses.confirmed), 0.9 * static_cast<double>(uses.bounds));
  for (const GpuUnit unit : gpu_units) {
    const auto& error = uses.units.at(static_cast<std::size_t>(unit));
    ASSERT_TRUE(error) << to_string(unit);
    EXPECT_LT(error->median, 0.05) << to_string(unit);
    EXPECT_LT(error->p95, 0.12) << to_string(unit);
  }
}

/// Of two tiles of one problem, played for a GPU that nothing was fitted to: what is decided is what was measured.
TEST(SamplePredictions, VerdictsOfSimulatedTilesAreThoseOfMeasuredOnes) {
  const RunStore store = RunStore::open(ATTNSCOPE_SECOND_SAMPLE, RunStore::Mode::read_only);
  constexpr std::int64_t of_tiles = 3;  // the preset's run
  const std::vector<StoredPoint> measured = store.points({{of_tiles}});
  const RunSummary run = store.runs().at(of_tiles - 1);
  const std::unique_ptr<Device> device = make_simulated_device(run.limits, built_in_algorithms(), {});
  const CancelToken cancel;
  analysis::PointTableBuilder builder;
  analysis::Run played;
  played.device_name = run.device_name;
  played.provenance = Provenance::simulated;
  played.limits = run.limits;
  builder.add_run(played);
  std::vector<double> times;
  for (std::size_t i = 0; i < measured.size(); i += 3) {
    const PointRecord& record = measured[i].record;
    if (record.disposition != Disposition::ok) continue;
    builder.add(0, device->measure(record.spec, {}, cancel));
    times.push_back(summarize(record.kernel("all")->samples_ns)->median);
  }
  const analysis::PointTable table = std::move(builder).finish();
  const std::array<std::string, 2> words{"problem", "algorithm"};
  const analysis::PublishedErrors& published = analysis::published_errors(run.device_name);
  std::map<analysis::Verdict, std::size_t> verdicts;
  std::size_t opposite = 0;
  for (analysis::Row base = 0; base < table.size(); ++base) {
    for (analysis::Row other = base + 1; other < table.size(); ++other) {
      if (table.algorithm(base) != table.algorithm(other)) continue;
      analysis::ComparisonRequest request;
      request.base = {base};
      request.other = {other};
      request.alignment = analysis::alignment_of(words, table, request.base, request.other).value();
      const analysis::ComparisonResult result = compare(table, request);
      ASSERT_EQ(result.pairs.size(), 1U);
      const analysis::RowVerdict& row = result.pairs[0].verdict;
      const double error = analysis::published_tile_error(published, table.algorithm(base), Pass::fwd);
      EXPECT_NEAR(row.time.interval.high / row.time.ratio, 1 + error, 1e-9);
      EXPECT_NEAR(row.time.ratio / row.time.interval.low, 1 + error, 1e-9);
      const bool within = row.time.ratio <= 1 + error && row.time.ratio >= 1 / (1 + error);
      EXPECT_TRUE(!within || row.verdict == analysis::Verdict::ambiguous) << row.time.ratio;
      ++verdicts[row.verdict];
      if (row.verdict == analysis::Verdict::faster && times[other] > times[base]) ++opposite;
      if (row.verdict == analysis::Verdict::slower && times[other] < times[base]) ++opposite;
    }
  }
  const std::size_t decided = verdicts[analysis::Verdict::faster] + verdicts[analysis::Verdict::slower];
  RecordProperty("decided", static_cast<int>(decided));
  RecordProperty("opposite", static_cast<int>(opposite));
  EXPECT_GT(decided, 1000U);
  EXPECT_LE(20 * opposite, decided) << "at most 5 of 100";
  EXPECT_EQ(verdicts[analysis::Verdict::same], 0U) << "no two of them are known so well";
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

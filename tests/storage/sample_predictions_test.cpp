// SPDX-License-Identifier: Apache-2.0
// Predicted times compared with the recorded sample, on the half of its problems that was not used for fitting. Bounds
// are the figures in assets/docs/measurements.md plus a margin.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "profiler/compare/comparison.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/metrics/model_metrics.h"
#include "profiler/predict/prediction_error.h"
#include "profiler/predict/published_errors.h"
#include "profiler/predict/unit_utilization.h"
#include "storage/run_store.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

using analysis::ErrorRow;
using analysis::Half;
using Errors = std::vector<ErrorRow>;

/// Predicted utilization of GPU units compared with counters.
struct UseErrors {
  std::map<GpuUnit, std::vector<double>> units;  ///< |predicted - counted|, both as shares of the launch's time
  std::size_t bounds = 0;                        ///< launches for which model or counters name a bottleneck
  std::size_t confirmed = 0;                     ///< of these, launches where compare_bounds() agrees
};

/// Returns the measured record with its stored prediction replaced.
PointRecord with_prediction(const analysis::PredictedPoint& point, const KernelRecord& kernel) {
  PointRecord both;
  both.spec = point.measured->spec;
  both.clocks = point.measured->clocks;
  both.provenance = point.measured->provenance;
  both.kernels = {kernel};
  std::vector<MetricValue>& values = both.kernels.front().metrics;
  for (const GpuUnit unit : gpu_units) {
    const Metric& metric = metric_of(unit);
    std::erase_if(values, [&](const MetricValue& value) { return value.name == metric.key; });
    if (const auto predicted = evaluate(metric.key, *point.predicted, kernel.kernel)) {
      values.push_back({std::string(metric.key), predicted->value, std::string(metric.unit), predicted->provenance});
    }
  }
  return both;
}

/// Covers every launch with unit counters.
UseErrors use_errors(std::span<const analysis::PredictedPoint> points) {
  UseErrors errors;
  for (const analysis::PredictedPoint& point : points) {
    for (const KernelRecord& kernel : point.measured->kernels) {
      if (point.measured->kernels.size() > 1 && kernel.kernel == "all") continue;  // a mean of launches
      const PointRecord both = with_prediction(point, kernel);
      if (const auto bounds = analysis::compare_bounds(both, kernel.kernel)) {
        const bool named = bounds->predicted_binds || bounds->counted_binds;
        errors.bounds += named ? 1 : 0;
        errors.confirmed += named && bounds->agree ? 1U : 0U;
      }
      for (const GpuUnit unit : gpu_units) {
        const auto counted = analysis::counted_utilization(unit, both, kernel.kernel);
        const auto predicted = evaluate(metric_of(unit).key, both, kernel.kernel);
        if (counted && predicted) errors.units[unit].push_back(std::abs(predicted->value - *counted) / 100);
      }
    }
  }
  return errors;
}

/// The sample's measured points with the limits of their GPU.
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

  /// `predict`: function of spec and device limits. `half`: half of the points; nullopt: all.
  template <class Predict>
  [[nodiscard]] Errors errors(std::optional<Half> half, const Predict& predict) const {
    std::vector<PointRecord> predicted(points_.size());
    std::vector<analysis::PredictedPoint> pairs;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (half && analysis::data_half_of(points_[i].spec) != *half) continue;
      predicted[i] = predict(points_[i].spec, limits_[i]);
      if (predicted[i].disposition == Disposition::ok)
        pairs.push_back({&points_[i], &predicted[i], devices_[i], runs_[i]});
    }
    uses_ = use_errors(pairs);
    return analysis::prediction_errors(pairs);
  }
  /// Returns the utilization errors of the last errors().
  [[nodiscard]] const UseErrors& uses() const { return uses_; }
  /// Returns the measured ceilings of that GPU; empty if there are none.
  [[nodiscard]] MeasuredCeilings rates(const DeviceLimits& limits) const {
    const StoredCeilings* set = newest_rates(sets_, limits);
    return set == nullptr ? MeasuredCeilings{} : MeasuredCeilings{.ceilings = set->ceilings, .from = set->device_name};
  }

 private:
  mutable UseErrors uses_;
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

const ErrorRow& times_of(const Errors& errors, Half half) {
  const auto row = std::ranges::find_if(errors, [&](const ErrorRow& each) {
    return each.algorithm == "all" && each.half == to_string(half) && each.quantity == "time";
  });
  return row == errors.end() ? throw std::logic_error("no such row") : *row;
}

/// The tables in assets/samples, which reports and the window quote, must match this model. After a change of the
/// model, rewrite h200-errors.csv with `attnscope model --against assets/samples/h200.attnscope --csv`, and the other
/// tables in the same way.
void expect_published(const Errors& errors, std::string_view gpu) {
  const analysis::PublishedErrors* all = analysis::validated_errors(*find_gpu(gpu));
  ASSERT_NE(all, nullptr);
  std::size_t compared = 0;
  for (const ErrorRow& row : errors) {
    if (row.algorithm == "all" || row.half != to_string(Half::held_out)) continue;
    const ErrorRow* published = all->find(row.algorithm, parse_pass(row.pass).value(), row.quantity);
    ASSERT_NE(published, nullptr) << row.algorithm << " " << row.quantity;
    EXPECT_EQ(published->half, row.half) << row.algorithm << " " << row.quantity;
    EXPECT_EQ(published->points, row.points) << row.algorithm << " " << row.quantity;
    EXPECT_EQ(published->problems, row.problems) << row.algorithm << " " << row.quantity;
    EXPECT_NEAR(published->median, row.median, 5e-3) << row.algorithm << " " << row.quantity;
    EXPECT_NEAR(published->p95, row.p95, 2e-2) << row.algorithm << " " << row.quantity;
    ++compared;
  }
  EXPECT_GT(compared, 8U);
}

TEST(SamplePredictions, ErrorsOnHeldOutProblems) {
  std::map<std::string, std::unique_ptr<Device>> devices;
  const CancelToken cancel;
  const Errors errors = measured().errors(Half::held_out, [&](const PointSpec& spec, const DeviceLimits& limits) {
    std::unique_ptr<Device>& device = devices[limits.name];
    if (!device) device = make_simulated_device(limits, built_in_algorithms(), measured().rates(limits));
    return device->measure(spec, {}, cancel);
  });
  const ErrorRow time = times_of(errors, Half::held_out);
  EXPECT_GT(time.problems, 90U);
  EXPECT_LT(time.median, 0.06);
  EXPECT_LT(time.p95, 0.30);
  // No constant is fitted to FP8 times.
  for (const ErrorRow& row : errors) {
    if (row.quantity != "time") continue;
    EXPECT_LT(row.median, row.algorithm.ends_with("fp8") ? 0.20 : 0.15) << row.algorithm;
  }
  expect_published(errors, "NVIDIA H200");
}

/// Kernel constants were fitted to an H200, issue rates and clock to other H100 GPUs than this one.
TEST(SamplePredictions, ErrorsOnAnotherGpuModel) {
  if (test::sanitized()) GTEST_SKIP() << "covered by the test with the other sample";
  const Measured h100(ATTNSCOPE_SECOND_SAMPLE);
  std::unique_ptr<Device> device;
  const CancelToken cancel;
  const Errors errors = h100.errors(Half::held_out, [&](const PointSpec& spec, const DeviceLimits& limits) {
    if (!device) device = make_simulated_device(limits, built_in_algorithms(), h100.rates(limits));
    return device->measure(spec, {}, cancel);
  });
  const ErrorRow time = times_of(errors, Half::held_out);
  EXPECT_GT(time.problems, 90U);
  EXPECT_LT(time.median, 0.06);
  EXPECT_LT(time.p95, 0.20);
  expect_published(errors, "NVIDIA H100 80GB HBM3");
  const UseErrors& uses = h100.uses();
  EXPECT_GT(uses.bounds, 60U);
  EXPECT_GE(static_cast<double>(uses.confirmed), 0.9 * static_cast<double>(uses.bounds));
  for (const auto& [unit, of_unit] : uses.units) {
    const auto spread = summarize(of_unit);
    ASSERT_TRUE(spread) << to_string(unit);
    EXPECT_LT(spread->median, 0.05) << to_string(unit);
    EXPECT_LT(std::ranges::count_if(of_unit, [](double error) { return error > 0.12; }), std::ssize(of_unit) / 20 + 1)
        << to_string(unit);
  }
  EXPECT_EQ(uses.units.size(), gpu_units.size());
}

/// Verdicts on simulated pairs of tiles, on a GPU without fitted constants, match the measured ones.
TEST(SamplePredictions, SimulatedVerdictsMatchMeasuredOnes) {
  const RunStore store = RunStore::open(ATTNSCOPE_SECOND_SAMPLE, RunStore::Mode::read_only);
  constexpr std::int64_t of_tiles = 3;  // run of the preset tiles
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
  const analysis::PublishedErrors& published = *analysis::validated_errors(run.limits);
  std::map<analysis::Verdict, std::size_t> verdicts;
  std::size_t opposite = 0;
  for (analysis::Row base = 0; base < table.size(); ++base) {
    for (analysis::Row other = base + 1; other < table.size(); ++other) {
      if (table.algorithm(base) != table.algorithm(other)) continue;
      analysis::ComparisonRequest request;
      request.base = {base};
      request.other = {other};
      request.alignment = analysis::parse_alignment(words, table, request.base, request.other).value();
      const analysis::ComparisonResult result = compare(table, request);
      ASSERT_EQ(result.pairs.size(), 1U);
      const analysis::RowVerdict& row = result.pairs[0].verdict;
      const double error = analysis::published_tile_error(published, table.algorithm(base), Pass::fwd).value();
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

TEST(SamplePredictions, TimesFromClosedForms) {
  const Errors errors = measured().errors({}, [](const PointSpec& spec, const DeviceLimits& limits) {
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
  const ErrorRow time = times_of(errors, Half::held_out);
  EXPECT_LT(time.median, 0.07);
  EXPECT_LT(time.p95, 0.35);
  const auto tiles = std::ranges::count_if(errors, [](const ErrorRow& row) {
    if (row.quantity != "tile_ratio" || row.algorithm == "all") return false;
    EXPECT_LT(row.median, 0.1) << row.algorithm;
    EXPECT_LT(row.p95, 0.4) << row.algorithm;
    return true;
  });
  EXPECT_GE(tiles, 3);
}

}  // namespace
}  // namespace attnscope

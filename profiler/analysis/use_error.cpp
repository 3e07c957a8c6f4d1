// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/use_error.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "profiler/analysis/unit_use.h"
#include "profiler/metrics/model_metrics.h"

namespace attnscope::analysis {
namespace {

/// The measured record with what is predicted of the kernel in the place of what the file keeps of an older prediction.
PointRecord with_prediction(const PredictedPoint& point, const KernelRecord& kernel) {
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

}  // namespace

UseErrors use_errors(std::span<const PredictedPoint> points) {
  std::array<std::vector<double>, gpu_units.size()> errors;
  UseErrors result;
  for (const PredictedPoint& point : points) {
    const bool several = point.measured->kernels.size() > 1;
    for (const KernelRecord& kernel : point.measured->kernels) {
      if (several && kernel.kernel == "all") continue;  // a mean of launches
      const PointRecord both = with_prediction(point, kernel);
      if (const auto bounds = compare_bounds(both, kernel.kernel)) {
        const bool named = bounds->predicted_binds || bounds->counted_binds;
        ++(named ? result.bounds : result.quiet);
        if (named && bounds->agree) ++result.confirmed;
      }
      for (const GpuUnit unit : gpu_units) {
        const auto counted = counted_use(unit, both, kernel.kernel);
        const auto predicted = evaluate(metric_of(unit).key, both, kernel.kernel);
        if (!counted || !predicted) continue;
        errors.at(static_cast<std::size_t>(unit)).push_back(std::abs(predicted->value - *counted) / 100);
      }
    }
  }
  for (const GpuUnit unit : gpu_units) {
    std::vector<double>& of_unit = errors.at(static_cast<std::size_t>(unit));
    if (of_unit.empty()) continue;
    result.units.at(static_cast<std::size_t>(unit)) =
        UseError{.launches = of_unit.size(), .median = quantile(of_unit, 0.5), .p95 = quantile(of_unit, 0.95)};
  }
  return result;
}

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/curve_ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {

std::optional<CurveRatio> ratio_near(const Curve& first, const Curve& second, double near) {
  // Of a model the quantity is its bytes between SM and L2, whatever is measured beside it.
  const auto unit = [](const Curve& curve) {
    const Metric* metric = find_metric(metric_of(curve));
    return metric == nullptr ? std::string_view() : metric->unit;
  };
  if (unit(first) != unit(second)) return std::nullopt;
  std::optional<CurveRatio> found;
  double nearest = std::numeric_limits<double>::infinity();
  for (const CurvePoint& a : first.points) {
    const auto b = std::ranges::find(second.points, a.n, &CurvePoint::n);
    if (b == second.points.end() || a.value <= 0 || b->value <= 0) continue;
    const double away = std::abs(std::log(a.n / near));
    if (away >= nearest) continue;
    nearest = away;
    found = CurveRatio{.at = a.n,
                       .first = a.value,
                       .second = b->value,
                       .factor = std::max(a.value, b->value) / std::min(a.value, b->value),
                       .first_less = a.value < b->value};
  }
  return found;
}

}  // namespace attnscope::analysis

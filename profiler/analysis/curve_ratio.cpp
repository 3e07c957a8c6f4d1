// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/curve_ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/comparison.h"

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

bool told_apart(const PointTable& table, const CurvePoint& worse, const CurvePoint& better, Quantity quantity) {
  if (quantity == Quantity::dram || quantity == Quantity::sm_l2) {
    return better.value > 0 && worse.value / better.value > (1 + dram_count_spread) / (1 - dram_count_spread);
  }
  const std::vector<Row> base{worse.row.value()};
  const std::vector<Row> other{better.row.value()};
  const std::array<std::string, 1> words{"problem"};
  const auto alignment = alignment_of(words, table, base, other);
  if (!alignment.ok()) return false;
  const ComparisonResult result = compare(
      table, {.base = base, .other = other, .alignment = *alignment, .margin = {}, .verdicts = {}, .conditions = {}});
  return result.count(Verdict::faster) == 1;
}

namespace {

/// Whether curves of one quantity may be told as a pair: of one device, or of one algorithm on two.
bool may_pair(const Curve& a, const Curve& b, Quantity quantity, bool across_devices) {
  const auto compared = [&](const Curve& curve) {
    return curve.kind == CurveKind::measured && curve.quantity == quantity && curve.name.age == 0;
  };
  const bool one_device = a.name.device == b.name.device;
  if (!compared(a) || !compared(b) || one_device == across_devices) return false;
  return one_device || a.name.algorithm == b.name.algorithm;
}

/// The two that lie furthest apart at the last place that two of them have.
std::optional<CurvePair> widest_of(std::span<const Curve* const> curves, Quantity quantity, bool across_devices) {
  std::optional<CurvePair> widest;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (std::size_t j = i + 1; j < curves.size(); ++j) {
      if (!may_pair(*curves[i], *curves[j], quantity, across_devices)) continue;
      const auto ratio = ratio_near(*curves[i], *curves[j], std::numeric_limits<double>::max());
      const bool wider = ratio && (!widest || ratio->at > widest->ratio.at ||
                                   (ratio->at == widest->ratio.at && ratio->factor > widest->ratio.factor));
      if (wider) widest = CurvePair{i, j, *ratio};
    }
  }
  return widest;
}

}  // namespace

std::optional<CurvePair> widest_pair(const PointTable& table, std::span<const Curve* const> curves) {
  constexpr std::array told{Quantity::dram, Quantity::sm_l2, Quantity::time, Quantity::rate};
  for (const bool across_devices : {false, true}) {
    for (const Quantity quantity : told) {
      const std::optional<CurvePair> widest = widest_of(curves, quantity, across_devices);
      if (!widest) continue;
      const auto point_of = [&](std::size_t curve) {
        return *std::ranges::find(curves[curve]->points, widest->ratio.at, &CurvePoint::n);
      };
      CurvePoint worse = point_of(widest->first);
      CurvePoint better = point_of(widest->second);
      if (widest->ratio.first_less != (quantity == Quantity::rate)) std::swap(worse, better);
      if (!worse.row || !better.row || !told_apart(table, worse, better, quantity)) return {};
      return widest;
    }
  }
  return {};
}

}  // namespace attnscope::analysis

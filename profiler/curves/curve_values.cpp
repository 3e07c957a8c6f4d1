// SPDX-License-Identifier: Apache-2.0
// Values, axes and L2 boundaries of curves.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "profiler/compare/comparison.h"
#include "profiler/curves/curves.h"
#include "profiler/metrics/metrics.h"
#include "profiler/tilemap/tile_map.h"

namespace attnscope::analysis {

namespace {

const ValueColumn& values_of(const PointTable& table, Quantity quantity) {
  return quantity == Quantity::dram ? table.dram_traffic() : table.values(metric_of(quantity));
}

bool is_tile_field(std::string_view name) {
  const Field* field = attnscope::find_field(name);
  return field != nullptr && field->role == FieldRole::tile;
}

/// These facets have separate curves or are chosen automatically (tile).
bool is_separate_curve(std::string_view key) {
  return key == field_name::algorithm || key == device_facet_key || key == tile_facet()->key;
}

bool is_knob(std::string_view name) {
  return known_algorithms().find_knob(name) != nullptr;
}

}  // namespace

std::string_view metric_of(Quantity quantity) {
  static constexpr std::array<std::string_view, 5> keys{metric_key::dram_bytes, metric_key::l2_sm_bytes,
                                                        metric_key::time_median_ns, metric_key::tflops, ""};
  return keys.at(static_cast<std::size_t>(quantity));
}

std::string_view metric_of(const Curve& curve) {
  return curve.metric.empty() ? metric_of(curve.quantity) : std::string_view(curve.metric);
}

std::optional<Reading> read_value(const PointTable& table, Row row, Quantity quantity) {
  const Disposition disposition = table.disposition(row);
  const auto value = values_of(table, quantity).at(row);
  if (!value || *value <= 0) return {};
  const Provenance origin = values_of(table, quantity).provenance(row);
  if (quantity == Quantity::dram || quantity == Quantity::sm_l2) {
    // Do not plot the traffic of incorrect results; the table still lists it.
    if (disposition != Disposition::ok) return {};
    Reading counted{*value, *value, *value, origin};
    if (table.points().rounds(row) > 1) {
      const std::optional<RowKernel> sum = table.points().sum(row);
      const auto scatter =
          quantity == Quantity::dram ? traffic_over_rounds(*sum) : quartiles_over_rounds(metric_of(quantity), *sum);
      if (scatter) counted = {*value, scatter->q1, scatter->q3, origin};
    }
    return counted;
  }
  // Times do not need counters.
  if (disposition != Disposition::ok && disposition != Disposition::no_counters) return {};
  const auto time = table.values(metric_key::time_median_ns).at(row);
  if (!time || *time <= 0) return {};
  const double q1 = table.values(metric_key::time_q1_ns).at(row).value_or(*time);
  const double q3 = table.values(metric_key::time_q3_ns).at(row).value_or(*time);
  if (quantity == Quantity::time) return Reading{*time, q1, q3, origin};
  if (q1 <= 0 || q3 <= 0) return {};
  return Reading{*value, *value * *time / q3, *value * *time / q1, origin};
}

bool differs_significantly(const PointTable& table, const CurvePoint& worse, const CurvePoint& better,
                           Quantity quantity) {
  if (quantity == Quantity::dram || quantity == Quantity::sm_l2) {
    return better.value > 0 && worse.value / better.value > (1 + dram_count_spread) / (1 - dram_count_spread);
  }
  const std::vector<Row> base{worse.row.value()};
  const std::vector<Row> other{better.row.value()};
  const std::array<std::string, 1> words{"problem"};
  const auto alignment = parse_alignment(words, table, base, other);
  if (!alignment.ok()) return false;
  const ComparisonResult result = compare(table, {.base = base, .other = other, .alignment = *alignment});
  return result.count(Verdict::faster) == 1;
}

std::optional<L2Boundary> l2_boundary(const Algorithm& algorithm, const AttentionProblem& like, const Config& tile,
                                      const DeviceLimits& limits, const L2Transition& transition) {
  // Explicit length lists do not scale to other N.
  if (limits.l2_bytes <= 0 || like.mask.lengths == Mask::Lengths::list) return {};
  constexpr double shortest = 16;
  constexpr double longest = 1 << 24;
  constexpr double search_tolerance = 1.002;
  const auto working_set = [&](double n) {
    return static_cast<double>(
        algorithm.working_set_bytes(at_length(like, static_cast<std::int64_t>(n)), tile, limits));
  };
  const auto crossing = [&](double bytes) -> std::optional<double> {
    double low = shortest;
    double high = longest;
    if (working_set(low) > bytes || working_set(high) < bytes) return {};
    while (high / low > search_tolerance) {
      const double middle = std::sqrt(low * high);
      (working_set(middle) < bytes ? low : high) = middle;
    }
    return high;
  };
  const auto size = static_cast<double>(limits.l2_bytes);
  const auto low = crossing(transition.low * size);
  const auto high = crossing(transition.high * size);
  const auto nominal = crossing(size);
  if (!low || !high || !nominal) return {};
  return L2Boundary{.n_low = *low, .n_high = *high, .n_nominal = *nominal, .l2_bytes = size};
}

PointAxis axis_of_facet(const FacetPtr& facet) {
  const std::vector<PointAxis> axes = point_axes();
  if (const PointAxis* known = find_axis(axes, facet->key)) return *known;
  return {.facet = facet};
}

bool sets_tile_dimension(const PointAxis& axis) {
  return std::ranges::any_of(axis.names, is_tile_field);
}

std::vector<FacetPtr> fixed_curve_facets(const PointAxis& axis, const FacetPtr& group) {
  std::vector<PointAxis> axes{axis};
  if (group) axes.push_back(axis_of_facet(group));
  const bool knobs = std::ranges::any_of(axes, [&](const PointAxis& each) {
    return std::ranges::any_of(each.names, [&](const std::string& name) {
      return is_knob(name) || (is_tile_field(name) && each.key() != tile_facet()->key);
    });
  });
  std::vector<FacetPtr> facets = fixed_facets(axes);
  std::erase_if(
      facets, [&](const FacetPtr& facet) { return is_separate_curve(facet->key) || (!knobs && is_knob(facet->key)); });
  return facets;
}

std::vector<FacetPtr> all_curve_facets() {
  std::vector<FacetPtr> facets = all_map_facets();
  std::erase_if(facets, [](const FacetPtr& facet) { return is_separate_curve(facet->key); });
  return facets;
}

std::vector<PointAxis> varying_curve_axes(const PointTable& table, std::span<const Row> rows) {
  std::vector<PointAxis> axes = varying_axes(table, rows);
  std::erase_if(axes, [](const PointAxis& axis) { return is_separate_curve(axis.key()); });
  return axes;
}

}  // namespace attnscope::analysis

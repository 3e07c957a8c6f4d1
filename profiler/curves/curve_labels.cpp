// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/curve_labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/registry.h"
#include "messages/common.h"
#include "messages/curves.h"
#include "profiler/metrics/metrics.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

/// Returns " · memory-wall (2)", or an empty string if the runs need no distinction.
std::string of_run(const SeriesName& name) {
  return name.runs.empty() ? std::string() : " · " + name.runs;
}

std::string on_device(const std::string& what, const std::string& device) {
  return device.empty() ? what : text(msg::curves::on_device{.device = device, .what = what});
}

std::string measured_label(const Curve& curve, Provenance provenance) {
  return fmt::format("{} · {} · {}{}", owner_title(curve.name), quantity_title(curve), text(title(provenance)),
                     of_run(curve.name));
}

std::string model_label(const Curve& curve) {
  if (!curve.metric.empty() || curve.quantity == Quantity::dram) {
    return text(msg::curves::model_of{.owner = owner_title(curve.name), .quantity = quantity_title(curve)});
  }
  const Algorithm* const algorithm = known_algorithms().find(curve.name.algorithm);
  const std::string title = algorithm_title(curve.name.algorithm);
  std::string label = algorithm != nullptr && algorithm->facts().user_defined
                          ? text(msg::curves::stated_law{.algorithm = title})
                          : text(msg::curves::exact_model{.algorithm = title});
  if (curve.tile) label += ' ' + tile_description(*curve.tile);
  return on_device(label, curve.name.device);
}

std::string curve_label(const Curve& curve) {
  switch (curve.kind) {
    case CurveKind::measured:
      return measured_label(curve, curve.provenance);
    case CurveKind::model:
      return model_label(curve);
    case CurveKind::compulsory:
      return text(msg::curves::compulsory{});
  }
  return {};
}

}  // namespace

void name_curves(CurveSet& set) {
  for (Curve& curve : set.curves) curve.label = curve_label(curve);
}

std::string algorithm_title(std::string_view name) {
  return short_title(known_algorithms(), name);
}

namespace {

/// A measured series and its value at one position.
struct SeriesValue {
  const Curve* curve = nullptr;
  double value = 0;
};

bool is_leading_measurement(const Curve& curve) {
  return curve.kind == CurveKind::measured && curve.name.age == 0;
}

/// Returns the device of the first panel's measured series; empty if the series have one device.
std::string first_device(const CurveSet& set) {
  const Curve* first = nullptr;
  const auto panel_of = [](const Curve& curve) { return curve.panels.empty() ? 0 : curve.panels.front(); };
  for (const Curve& curve : set.curves) {
    const bool measured = is_leading_measurement(curve) && curve.provenance == Provenance::measured;
    if (measured && (first == nullptr || panel_of(curve) < panel_of(*first))) first = &curve;
  }
  return first == nullptr ? std::string() : first->name.device;
}

std::vector<SeriesValue> measured_values(const CurveSet& set, const std::string& device, double n) {
  std::vector<SeriesValue> values;
  for (const Curve& curve : set.curves) {
    if (!is_leading_measurement(curve) || curve.name.device != device) continue;
    if (!values.empty() && values.front().curve->quantity != curve.quantity) continue;
    const auto at = std::ranges::find_if(curve.points, [n](const CurvePoint& point) {
      return point.n == n && point.provenance == Provenance::measured && point.value > 0;
    });
    if (at != curve.points.end()) values.push_back({&curve, at->value});
  }
  return values;
}

}  // namespace

Message headline(const CurveSet& set) {
  if (set.axis || !set.metric.empty()) return {};
  std::set<double, std::greater<>> positions;
  for (const Curve& curve : set.curves) {
    for (const CurvePoint& point : curve.points) positions.insert(point.n);
  }
  const std::string device = first_device(set);
  std::vector<SeriesValue> values;
  double position = 0;
  for (const double n : positions) {  // descending
    std::vector<SeriesValue> found = measured_values(set, device, n);
    if (found.size() <= values.size()) continue;
    values = std::move(found);
    position = n;
  }
  if (values.size() < 2) return {};
  const auto [least, most] = std::ranges::minmax_element(values, {}, &SeriesValue::value);
  constexpr double least_ratio = 1.005;  // shown as 1.01
  if (most->value < least_ratio * least->value) return {};
  const auto series_title = [](SeriesName name) {
    name.device.clear();  // the sentence names it once
    return owner_title(name);
  };
  const std::string more = series_title(most->curve->name);
  const std::string less = series_title(least->curve->name);
  const std::string ratio = number_text(most->value / least->value);
  const std::string place = position_text(set, position);
  Message found;
  switch (set.ordinate) {
    case Ordinate::bytes:
      found = msg::curves::headline_bytes{
          .less = less, .more = more, .place = place, .quantity = quantity_title(*most->curve), .ratio = ratio};
      break;
    case Ordinate::time:
      found = msg::curves::headline_time{.less = less, .more = more, .place = place, .ratio = ratio};
      break;
    case Ordinate::rate:
      found = msg::curves::headline_rate{.less = less, .more = more, .place = place, .ratio = ratio};
      break;
  }
  return device.empty() ? found : msg::curves::headline_on{.device = device, .headline = found};
}

std::string owner_title(const SeriesName& name) {
  std::string words = algorithm_title(name.algorithm);
  if (!name.label.empty()) words += fmt::format(" ({})", name.label);
  if (!name.group.empty()) words += ' ' + name.group;
  return on_device(words, name.device);
}

std::string label_of(const Curve& curve, const CurvePoint& point) {
  if (point.provenance == Provenance::extrapolated) return measured_label(curve, point.provenance);
  return curve.label.substr(0, curve.label.find('\n'));
}

std::string quantity_title(Quantity quantity) {
  switch (quantity) {
    case Quantity::dram:
      return text(msg::curves::dram{});
    case Quantity::sm_l2:
      return text(msg::curves::sm_l2{});
    case Quantity::time:
      return text(msg::curves::time{});
    case Quantity::rate:
      return text(msg::curves::rate{});
    case Quantity::metric:
      break;
  }
  return {};
}

std::string quantity_title(const Curve& curve) {
  return curve.metric.empty() ? quantity_title(curve.quantity) : metric_title(curve.metric);
}

std::string position_text(const CurveSet& set, double n) {
  if (!set.axis) return fmt::format("{} {}", set.queries ? "n_k" : "N", exact_text(n));
  return fmt::format("{} {}", text(set.axis->facet->label),
                     set.places.empty() ? number_text(n, 9) : position_value(set, n));
}

std::string position_value(const CurveSet& set, double n) {
  const auto place = static_cast<std::size_t>(n) - 1;
  return place < set.places.size() ? set.places[place] : std::string();
}

std::string knob_label(std::string_view name, const KnobValue& value) {
  std::string words = attnscope::to_string(value);
  std::ranges::replace(words, '_', ' ');
  return std::holds_alternative<std::int64_t>(value) ? fmt::format("{} {}", name, words) : words;
}

std::string tile_description(const Config& config) {
  const TileShape& tile = config.tile;
  std::string words = has_tile(tile) ? fmt::format("{} × {}", tile.br, tile.bc) : text(msg::common::not_stated{});
  for (const auto& [name, value] : config.knobs) words += ", " + knob_label(name, value);
  return words;
}

}  // namespace attnscope::analysis

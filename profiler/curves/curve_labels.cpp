// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/curve_labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
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

/// Devices that can share an algorithm's color in different shades.
constexpr std::size_t max_device_shades = 3;
/// Older runs that can share an algorithm's color in different shades and markers.
constexpr int max_older_shades = 3;

std::string algorithm_label(std::string_view name) {
  static const Algorithms known = Algorithms::known();
  return short_title(known, name);
}

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
  if (!curve.metric.empty()) {
    return text(msg::curves::model_of{.owner = owner_title(curve.name), .quantity = quantity_title(curve)});
  }
  const Algorithm* const algorithm = known_algorithms().find(curve.name.algorithm);
  const std::string title = algorithm_label(curve.name.algorithm);
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

/// Assigns one color per device if there are more devices than shades.
void assign_device_hues(std::vector<Curve>& curves) {
  for (Curve& curve : curves) {
    if (curve.name.device.empty()) continue;
    curve.hue = curve.shade;
    curve.hue_owner = curve.name.device;
  }
}

/// Assigns one color per group, with the groups of an algorithm in sequence.
std::size_t assign_group_hues(std::vector<Curve>& curves) {
  std::map<std::pair<std::string, int>, int> owner_hues;  // key: owner and age
  for (Curve& curve : curves) {
    if (curve.name.algorithm.empty()) continue;  // curve of the problem, without algorithm
    curve.lighter_shade = false;
    curve.hue_owner = owner_title(curve.name) + of_run(curve.name);
    curve.hue =
        owner_hues.try_emplace({curve.hue_owner, curve.name.age}, static_cast<int>(owner_hues.size())).first->second;
  }
  return owner_hues.size();
}

void assign_markers(std::vector<Curve>& curves, int colors) {
  std::map<std::tuple<std::string, int, int, Provenance>, std::vector<std::string>> sides_of;
  for (Curve& curve : curves) {
    if (curve.kind != CurveKind::measured) continue;
    const bool own_color = curve.hue >= 0;  // a device's color, shared by its algorithms
    std::vector<std::string>& sides = sides_of[{own_color ? std::string() : curve.name.algorithm, curve.hue,
                                                curve.shade % static_cast<int>(max_device_shades), curve.provenance}];
    const std::string side = fmt::format("{}{}{}", owner_title(curve.name), of_run(curve.name), curve.name.age);
    const auto place = std::ranges::find(sides, side);
    curve.marker_index = static_cast<int>(place - sides.begin()) + std::max(curve.hue, 0) / colors;
    if (place == sides.end()) sides.push_back(side);
  }
}

}  // namespace

void name_curves(CurveSet& set, int colors) {
  std::set<std::string> devices;
  for (const Curve& curve : set.curves) {
    if (!curve.name.device.empty()) devices.insert(curve.name.device);
  }
  bool grouped = false;
  for (Curve& curve : set.curves) {
    curve.label = curve_label(curve);
    curve.shade = static_cast<int>(std::distance(devices.begin(), devices.lower_bound(curve.name.device)));
    curve.lighter_shade = curve.name.age > 0;
    grouped = grouped || !curve.name.group.empty() || curve.name.age > max_older_shades;
  }
  if (grouped) {
    set.hues = assign_group_hues(set.curves);
  } else if (devices.size() > max_device_shades) {
    assign_device_hues(set.curves);
    set.hues = devices.size();
  }
  assign_markers(set.curves, colors);
}

std::string owner_title(const SeriesName& name) {
  std::string words = algorithm_label(name.algorithm);
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
  if (!set.axis) return fmt::format("{} {}", set.queries ? "n_k" : "N", number_text(n, 9));
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

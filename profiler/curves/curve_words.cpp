// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/curve_words.h"

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
#include "profiler/units/spelling.h"

namespace attnscope::analysis {
namespace {

/// An interval that reads as none is not said.
constexpr double worth_saying = 0.005;
/// Devices that an algorithm's colour has shades for.
constexpr std::size_t most_of_shades = 3;
/// Older runs that an algorithm's colour has shades and marks for.
constexpr int oldest_of_shades = 3;

std::string algorithm_words(std::string_view name) {
  static const Algorithms known = Algorithms::known();
  return short_title(known, name);
}

/// " · memory-wall (2)", where runs have to be told apart.
std::string of_run(const SeriesName& name) {
  return name.runs.empty() ? std::string() : " · " + name.runs;
}

std::string on_device(const std::string& what, const std::string& device) {
  return device.empty() ? what : text(say::curves::on_device{.what = what, .device = device});
}

/// "simulated, fit ...": what is fitted to simulated or imported bytes is no more than they are.
std::string fit_label(const SeriesName& name, Quantity quantity, Provenance provenance, const std::string& words) {
  const std::string origin = provenance == Provenance::derived ? std::string() : text(title(provenance)) + ", ";
  return fmt::format("{} · {}{} · {}{}", owner_words(name), quantity_words(quantity), of_run(name), origin, words);
}

std::string measured_label(const Curve& curve, Provenance provenance) {
  return fmt::format("{} · {} · {}{}", owner_words(curve.name), quantity_words(curve), text(title(provenance)),
                     of_run(curve.name));
}

std::string model_label(const Curve& curve) {
  if (!curve.metric.empty()) {
    return text(say::curves::model_of{.owner = owner_words(curve.name), .quantity = quantity_words(curve)});
  }
  const Algorithm* const algorithm = known_algorithms().find(curve.name.algorithm);
  const std::string title = algorithm_words(curve.name.algorithm);
  std::string label = algorithm != nullptr && algorithm->facts().foreign
                          ? text(say::curves::stated_law{.algorithm = title})
                          : text(say::curves::exact_model{.algorithm = title});
  if (curve.tile) label += ' ' + tile_words(*curve.tile);
  return on_device(label, curve.name.device);
}

std::string curve_label(const Curve& curve) {
  switch (curve.kind) {
    case CurveKind::measured:
      return measured_label(curve, curve.provenance);
    case CurveKind::model:
      return model_label(curve);
    case CurveKind::fit:
      return fit_label(curve.name, curve.quantity, curve.provenance, fit_words(*curve.law));
    case CurveKind::paper_count:
      return text(
          say::curves::paper_count{.algorithm = algorithm_words(curve.name.algorithm), .formula = curve.formula});
    case CurveKind::compulsory:
      return text(say::curves::compulsory{});
  }
  return {};
}

/// Four digits of a number that is known to be exact, three of others.
std::string constant(double value, double relative_width) {
  return number_text(value, relative_width < worth_saying ? 4 : 3);
}

std::string two_decimals(double value) {
  return fmt::format("{:.2f}", value);
}

Message why_withheld(const FittedLaw& law) {
  const std::string slope = law.power ? two_decimals(law.power->slope) : "?";
  switch (*law.refusal) {
    case FitRefusal::too_few: {
      const Message points = counted_points(static_cast<std::size_t>(law.points));
      if (law.law.from_words.empty()) {
        return say::curves::too_few{.points = points, .needed = fewest_fitted};
      }
      return say::curves::too_few_in_range{.points = points, .range = law.law.from_words, .needed = fewest_fitted};
    }
    case FitRefusal::not_seen:
      return say::curves::grows_as{.slope = slope};
    case FitRefusal::steeper:
      return say::curves::grows_faster{.slope = slope};
    case FitRefusal::misses:
      return say::curves::misses{.n = law.worst_n,
                                 .miss = text(Share(law.fit->worst)),
                                 .interval = text(Share(law.fit->relative_half_width()))};
  }
  return {};
}

std::vector<Row> rows_of(const Curve& curve) {
  std::vector<Row> rows;
  for (const CurvePoint& point : curve.points) {
    if (point.row) rows.push_back(*point.row);
  }
  return rows;
}

/// "quick, tiles on H200": the runs that a series is joined from.
std::string runs_in_words(const PointTable& table, const std::vector<Row>& rows, const std::string& device) {
  std::vector<std::string> titles;
  for (const Row row : rows) {
    const std::string& title = table.run(row).title;
    if (std::ranges::find(titles, title) == titles.end()) titles.push_back(title);
  }
  return on_device(fmt::format("{}", fmt::join(titles, ", ")), device);
}

/// Places are among all that the table has, so that no choice of what is drawn changes a colour. Theory belongs to no
/// run, and to a device only where several are shown.
std::size_t give_hues(const PointTable& table, std::vector<Curve>& curves, ColorOf color) {
  if (color == ColorOf::algorithm) return 0;
  std::set<std::string> devices;
  for (const Run& run : table.runs()) devices.insert(run.device_name);
  std::map<std::string, int> hue_of;  // by what curves call their device
  for (Curve& curve : curves) {
    curve.hue = no_hue;
    const std::vector<Row> rows = rows_of(curve);
    if (rows.empty()) continue;
    const Run& first = table.run(rows.front());
    if (color == ColorOf::device) {
      curve.hue = static_cast<int>(std::distance(devices.begin(), devices.find(first.device_name)));
      curve.hue_words = curve.name.device.empty() ? first.device_name : curve.name.device;
      hue_of.emplace(curve.name.device, curve.hue);
    } else {
      curve.hue = static_cast<int>(table.run_index(rows.front()));
      curve.hue_words = runs_in_words(table, rows, curve.name.device);
      curve.paler = false;
    }
  }
  for (Curve& curve : curves) {
    const auto hue = hue_of.find(curve.name.device);
    if (curve.hue != no_hue || curve.name.device.empty() || hue == hue_of.end()) continue;
    curve.hue = hue->second;
    curve.hue_words = curve.name.device;
  }
  return color == ColorOf::device ? devices.size() : table.runs().size();
}

/// Grouped curves are told apart by their colour: each algorithm's groups follow one another.
std::size_t give_group_hues(std::vector<Curve>& curves) {
  std::map<std::pair<std::string, int>, int> hue_of;  // by owner and age, in the order of the curves
  for (Curve& curve : curves) {
    if (curve.name.algorithm.empty()) continue;  // the problem's own
    curve.paler = false;
    curve.hue_words = owner_words(curve.name) + of_run(curve.name);
    curve.hue = hue_of.try_emplace({curve.hue_words, curve.name.age}, static_cast<int>(hue_of.size())).first->second;
  }
  return hue_of.size();
}

/// What is compared in one plot has one colour only where its marks differ.
void give_looks(std::vector<Curve>& curves, int colors) {
  std::map<std::tuple<std::string, int, int, Provenance>, std::vector<std::string>> sides_of;
  const auto was_measured = [&](const SeriesName& name) {
    return std::ranges::any_of(curves, [&](const Curve& other) {
      const bool of_gpu = other.provenance == Provenance::measured || other.provenance == Provenance::derived;
      return other.kind == CurveKind::measured && of_gpu && other.name.algorithm == name.algorithm &&
             other.name.device == name.device;
    });
  };
  for (Curve& curve : curves) {
    if (curve.kind != CurveKind::measured) continue;
    const bool own_color = curve.hue >= 0;  // of a device or run, which its algorithms share
    std::vector<std::string>& sides = sides_of[{own_color ? std::string() : curve.name.algorithm, curve.hue,
                                                curve.shade % static_cast<int>(most_of_shades), curve.provenance}];
    const std::string side = fmt::format("{}{}{}", owner_words(curve.name), of_run(curve.name), curve.name.age);
    const auto place = std::ranges::find(sides, side);
    curve.look = static_cast<int>(place - sides.begin()) + std::max(curve.hue, 0) / colors;
    if (place == sides.end()) sides.push_back(side);
    curve.beside = !own_color && curve.provenance == Provenance::simulated && was_measured(curve.name);
  }
}

}  // namespace

void name_curves(const PointTable& table, CurveSet& set, ColorOf color, int colors) {
  std::set<std::string> devices;
  for (const Curve& curve : set.curves) {
    if (!curve.name.device.empty()) devices.insert(curve.name.device);
  }
  bool grouped = false;
  for (Curve& curve : set.curves) {
    curve.label = curve_label(curve);
    curve.shade = static_cast<int>(std::distance(devices.begin(), devices.lower_bound(curve.name.device)));
    curve.paler = curve.name.age > 0;
    grouped = grouped || !curve.name.group.empty() || curve.name.age > oldest_of_shades;
  }
  set.color = color != ColorOf::automatic       ? color
              : devices.size() > most_of_shades ? ColorOf::device
                                                : ColorOf::algorithm;
  set.hues =
      grouped && color == ColorOf::automatic ? give_group_hues(set.curves) : give_hues(table, set.curves, set.color);
  give_looks(set.curves, colors);
}

std::string owner_words(const SeriesName& name) {
  std::string words = algorithm_words(name.algorithm);
  if (!name.label.empty()) words += fmt::format(" ({})", name.label);
  if (!name.group.empty()) words += ' ' + name.group;
  return on_device(words, name.device);
}

std::string label_of(const Curve& curve, const CurvePoint& point) {
  if (point.provenance == Provenance::extrapolated) return measured_label(curve, point.provenance);
  return curve.label.substr(0, curve.label.find('\n'));
}

std::string quantity_words(Quantity quantity) {
  switch (quantity) {
    case Quantity::dram:
      return text(say::curves::dram{});
    case Quantity::sm_l2:
      return text(say::curves::sm_l2{});
    case Quantity::time:
      return text(say::curves::time{});
    case Quantity::rate:
      return text(say::curves::rate{});
    case Quantity::metric:
      break;
  }
  return {};
}

std::string quantity_words(const Curve& curve) {
  return curve.metric.empty() ? quantity_words(curve.quantity) : metric_title(curve.metric);
}

std::string place_words(const CurveSet& set, double n) {
  if (!set.axis) return fmt::format("{} {}", set.queries ? "n_k" : "N", number_text(n, 9));
  return fmt::format("{} {}", text(set.axis->facet->label), set.places.empty() ? number_text(n, 9) : word_at(set, n));
}

std::string word_at(const CurveSet& set, double n) {
  const auto place = static_cast<std::size_t>(n) - 1;
  return place < set.places.size() ? set.places[place] : std::string();
}

std::string fit_words(const FittedLaw& law) {
  const LawFit& fit = *law.fit;
  const double width = fit.relative_half_width();
  std::string words = text(say::curves::fit{.constant = constant(fit.scale, width), .law = law.law.text});
  if (!law.law.lower.empty()) {
    words += fmt::format(" {} {}·{}", fit.below < 0 ? "−" : "+", constant(std::abs(fit.below), width), law.law.lower);
  }
  if (width >= worth_saying) words += fmt::format(" (±{})", text(Share(width)));
  if (law.power) {
    words += '\n' + text(say::curves::slope{.slope = two_decimals(law.power->slope),
                                            .low = two_decimals(law.power->slope_interval.low),
                                            .high = two_decimals(law.power->slope_interval.high)});
  }
  if (!law.law.from_words.empty()) words += ", " + law.law.from_words;
  return words + ", " + text(say::curves::fit_unit{});
}

std::string withheld_words(const FittedLaw& law) {
  return text(say::curves::no_fit{.law = law.law.text, .why = why_withheld(law)});
}

std::string withheld_label(const WithheldFit& fit) {
  return fit_label(fit.name, fit.quantity, fit.provenance, withheld_words(fit.law));
}

std::string hidden_words(const PointTable& table, const std::set<HiddenSweep>& hidden) {
  std::vector<std::string> sweeps;
  sweeps.reserve(hidden.size());
  for (const HiddenSweep& sweep : hidden) {
    sweeps.push_back(text(say::curves::run_at_n{.run = table.runs()[sweep.run].title, .n = sweep.n}));
  }
  if (sweeps.empty()) return {};
  return text(say::curves::on_tile_map_alone{.runs = fmt::format("{}", fmt::join(sweeps, ", "))});
}

std::string knob_words(std::string_view name, const KnobValue& value) {
  std::string words = attnscope::to_string(value);
  std::ranges::replace(words, '_', ' ');
  return std::holds_alternative<std::int64_t>(value) ? fmt::format("{} {}", name, words) : words;
}

std::string tile_words(const Config& config) {
  const TileShape& tile = config.tile;
  std::string words = tile_stated(tile) ? fmt::format("{} × {}", tile.br, tile.bc) : text(say::common::not_stated{});
  for (const auto& [name, value] : config.knobs) words += ", " + knob_words(name, value);
  return words;
}

}  // namespace attnscope::analysis

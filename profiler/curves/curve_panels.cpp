// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/curve_panels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
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

bool is_measured(const Curve& curve) {
  return curve.kind == CurveKind::measured;
}

/// Assigns the identity of the algorithm, or of the group if curves are grouped.
void identify(std::vector<Curve>& curves) {
  std::vector<std::string> groups;
  for (const Curve& curve : curves) {
    const std::string& group = curve.name.group;
    if (!group.empty() && std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  for (Curve& curve : curves) {
    if (curve.name.algorithm.empty()) continue;
    const auto place = std::ranges::find(groups, curve.name.group) - groups.begin();
    curve.identity = curve.name.group.empty() ? style::identity_of(curve.name.algorithm)
                                              : style::category_identity(static_cast<std::size_t>(place));
  }
}

/// Sorts curves into panels.
class Arrangement {
 public:
  Arrangement(CurveSet& set, const std::set<RunIndex>& baseline) : set_(set), baseline_(baseline) {
    const bool grouped = std::ranges::any_of(set.curves, [](const Curve& curve) { return !curve.name.group.empty(); });
    std::set<std::string> algorithms;
    for (const Curve& curve : set.curves) {
      if (is_measured(curve)) algorithms.insert(curve.name.algorithm);
    }
    by_algorithm_ = grouped && algorithms.size() > 1;
    find_sides();
  }

  void apply() {
    for (Curve& curve : set_.curves) {
      if (is_measured(curve)) curve.panels = {panel_of(curve)};
    }
    order_panels();
    for (Curve& curve : set_.curves) {
      if (!is_measured(curve)) curve.panels = panels_of_model(curve);
    }
    for (FailedPoint& point : set_.failed) point.panels = panels_like(point.algorithm, point.device);
    for (Boundary& boundary : set_.boundaries) boundary.panels = panels_like(boundary.algorithm, boundary.device);
    for (const Panel& panel : panels_) set_.panels.push_back(panel.title());
    if (set_.panels.empty()) set_.panels.emplace_back();
  }

 private:
  struct Panel {
    std::string device;
    std::string algorithm;
    std::optional<RunIndex> run;  ///< set if each run has a panel
    std::string runs;             ///< title of that run
    RunIndex first_run = 0;

    [[nodiscard]] std::string title() const {
      std::vector<std::string> parts{device, algorithm.empty() ? algorithm : algorithm_title(algorithm), runs};
      std::erase(parts, std::string());
      return fmt::format("{}", fmt::join(parts, " · "));
    }
  };
  using Side = std::tuple<std::string, std::string, int>;  ///< label, runs and age of a series

  [[nodiscard]] static Side side_of(const Curve& curve) { return {curve.name.label, curve.name.runs, curve.name.age}; }
  [[nodiscard]] std::vector<Side>& sides_of(const Curve& curve) {
    return sides_[{curve.name.device, curve.name.algorithm, curve.name.group, is_simulated(curve.provenance),
                   curve.quantity}];
  }

  /// Two series of one look differ in the dash; with more, each run gets a panel.
  void find_sides() {
    for (const Curve& curve : set_.curves) {
      if (!is_measured(curve)) continue;
      std::vector<Side>& sides = sides_of(curve);
      if (std::ranges::find(sides, side_of(curve)) == sides.end()) sides.push_back(side_of(curve));
      by_side_ = by_side_ || sides.size() > 2;
    }
  }

  std::size_t panel_of(Curve& curve) {
    const std::vector<Side>& sides = sides_of(curve);
    const auto side = static_cast<std::size_t>(std::ranges::find(sides, side_of(curve)) - sides.begin());
    curve.dashed = !by_side_ && side > 0;
    const Panel panel{.device = curve.name.device,
                      .algorithm = by_algorithm_ ? curve.name.algorithm : std::string(),
                      .run = by_side_ ? std::optional(curve.run) : std::nullopt,
                      .runs = {},
                      .first_run = curve.run};
    auto known = std::ranges::find_if(panels_, [&](const Panel& other) {
      return other.device == panel.device && other.algorithm == panel.algorithm && other.run == panel.run;
    });
    if (known == panels_.end()) known = panels_.insert(panels_.end(), panel);
    if (!baseline_.contains(known->first_run)) known->first_run = std::min(known->first_run, curve.run);
    if (baseline_.contains(curve.run)) known->first_run = curve.run;
    if (by_side_ && known->runs.empty()) known->runs = curve.name.runs.empty() ? curve.name.label : curve.name.runs;
    return static_cast<std::size_t>(known - panels_.begin());
  }

  /// Orders by the first run, so that the baseline or else the first file's GPU comes first.
  void order_panels() {
    std::vector<std::size_t> order(panels_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [this](std::size_t i) {
      const RunIndex run = panels_[i].first_run;
      return std::pair(!baseline_.contains(run), run);
    });
    std::vector<Panel> ordered;
    std::vector<std::size_t> place_of(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      place_of[order[i]] = i;
      ordered.push_back(std::move(panels_[order[i]]));
    }
    panels_ = std::move(ordered);
    for (Curve& curve : set_.curves) {
      for (std::size_t& panel : curve.panels) panel = place_of[panel];
    }
  }

  [[nodiscard]] std::vector<std::size_t> panels_like(const std::string& algorithm, const std::string& device) const {
    std::vector<std::size_t> panels;
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const Panel& panel = panels_[i];
      const bool same_device = device.empty() || panel.device == device;
      if (same_device && (panel.algorithm.empty() || algorithm.empty() || panel.algorithm == algorithm)) {
        panels.push_back(i);
      }
    }
    return panels;
  }

  /// A model is drawn wherever its algorithm has a curve.
  [[nodiscard]] std::vector<std::size_t> panels_of_model(const Curve& model) const {
    std::vector<std::size_t> panels = panels_like(model.name.algorithm, model.name.device);
    if (model.name.algorithm.empty()) return panels;
    std::erase_if(panels, [&](std::size_t panel) {
      return std::ranges::none_of(set_.curves, [&](const Curve& curve) {
        return is_measured(curve) && curve.name.algorithm == model.name.algorithm &&
               curve.name.group == model.name.group && curve.panels.front() == panel;
      });
    });
    return panels;
  }

  CurveSet& set_;
  const std::set<RunIndex>& baseline_;
  bool by_algorithm_ = false;
  bool by_side_ = false;
  std::vector<Panel> panels_;
  std::map<std::tuple<std::string, std::string, std::string, bool, Quantity>, std::vector<Side>> sides_;
};

/// Returns whether two curves have the same N, and values within equal_panels.
bool coincide(const Curve& a, const Curve& b) {
  return std::ranges::equal(a.points, b.points, [](const CurvePoint& x, const CurvePoint& y) {
    return x.n == y.n && std::abs(x.value - y.value) <= equal_panels * std::abs(x.value);
  });
}

std::map<std::string, const Curve*> measured_in(const CurveSet& set, std::size_t panel) {
  std::map<std::string, const Curve*> curves;
  for (const Curve& curve : set.curves) {
    if (is_measured(curve) && curve.panels.front() == panel) curves.emplace(series_key(curve), &curve);
  }
  return curves;
}

std::set<std::pair<std::string, double>> failures_in(const CurveSet& set, std::size_t panel) {
  std::set<std::pair<std::string, double>> failures;
  for (const FailedPoint& point : set.failed) {
    if (std::ranges::find(point.panels, panel) != point.panels.end()) failures.emplace(point.algorithm, point.n);
  }
  return failures;
}

bool panels_coincide(const CurveSet& set, std::size_t a, std::size_t b) {
  if (failures_in(set, a) != failures_in(set, b)) return false;
  return std::ranges::equal(measured_in(set, a), measured_in(set, b), [](const auto& x, const auto& y) {
    return x.first == y.first && coincide(*x.second, *y.second);
  });
}

/// Replaces the panels by the new places that `place_of` has for them; without a place, they are removed.
template <class Item>
void renumber(std::vector<Item>& items, const std::vector<std::optional<std::size_t>>& place_of) {
  for (Item& item : items) {
    std::set<std::size_t> panels;
    for (const std::size_t panel : item.panels) {
      if (place_of[panel]) panels.insert(*place_of[panel]);
    }
    item.panels.assign(panels.begin(), panels.end());
  }
}

void renumber(CurveSet& set, const std::vector<std::optional<std::size_t>>& place_of) {
  renumber(set.curves, place_of);
  renumber(set.failed, place_of);
  renumber(set.boundaries, place_of);
  std::erase_if(set.curves, [](const Curve& curve) { return curve.panels.empty(); });
  std::erase_if(set.failed, [](const FailedPoint& point) { return point.panels.empty(); });
  std::erase_if(set.boundaries, [](const Boundary& boundary) { return boundary.panels.empty(); });
}

/// Merges panels if all of them coincide: "H100 = H200".
void merge_equal_panels(CurveSet& set) {
  if (set.panels.size() < 2) return;
  for (std::size_t panel = 1; panel < set.panels.size(); ++panel) {
    if (!panels_coincide(set, 0, panel)) return;
  }
  for (Curve& curve : set.curves) curve.merged = is_measured(curve) && curve.panels.front() > 0;
  renumber(set, std::vector<std::optional<std::size_t>>(set.panels.size(), 0));
  set.panels = {fmt::format("{}", fmt::join(set.panels, " = "))};
}

void drop_panels(CurveSet& set, std::size_t most) {
  if (set.panels.size() <= most) return;
  std::vector<std::optional<std::size_t>> place_of(set.panels.size());
  for (std::size_t panel = 0; panel < most; ++panel) place_of[panel] = panel;
  set.undrawn_panels = set.panels.size() - most;
  set.panels.resize(most);
  renumber(set, place_of);
}

std::optional<RatioCurve> ratio_of(const CurveSet& set, std::size_t place, const Curve& base) {
  const Curve& curve = set.curves[place];
  RatioCurve ratio{.curve = place, .points = {}};
  for (const CurvePoint& point : curve.points) {
    const CurvePoint* under = point_at(base, point.n);
    if (under != nullptr && under->value > 0) ratio.points.push_back({point.n, point.value / under->value, *point.row});
  }
  return ratio.points.empty() ? std::nullopt : std::optional(std::move(ratio));
}

bool is_counterpart(const Curve& a, const Curve& b) {
  return is_measured(a) && is_measured(b) && a.name.algorithm == b.name.algorithm && a.name.group == b.name.group &&
         is_simulated(a.provenance) == is_simulated(b.provenance);
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

void arrange_curves(CurveSet& set, const std::set<RunIndex>& baseline, std::size_t most) {
  set.panels.clear();
  set.undrawn_panels = 0;
  name_curves(set);
  identify(set.curves);
  Arrangement(set, baseline).apply();
  merge_equal_panels(set);
  drop_panels(set, most);
}

std::string series_key(const Curve& curve) {
  if (curve.name.algorithm.empty()) return {};
  const bool simulated = is_measured(curve) && is_simulated(curve.provenance);
  return fmt::format("{}\n{}\n{}{}", curve.name.algorithm, curve.name.group, simulated ? "simulated" : "",
                     curve.dashed ? " older" : "");
}

const CurvePoint* point_at(const Curve& curve, double n) {
  const auto at = std::ranges::lower_bound(curve.points, n, {}, &CurvePoint::n);
  return at == curve.points.end() || at->n != n ? nullptr : &*at;
}

std::optional<double> slope_at(const Curve& curve, double n) {
  const auto at = std::ranges::lower_bound(curve.points, n, {}, &CurvePoint::n);
  if (at == curve.points.end() || at->n != n || at == curve.points.begin()) return std::nullopt;
  const CurvePoint& before = *std::prev(at);
  if (before.n <= 0 || before.value <= 0 || at->value <= 0) return std::nullopt;
  return std::log(at->value / before.value) / std::log(at->n / before.n);
}

std::vector<RatioCurve> ratio_curves(const CurveSet& set) {
  std::vector<RatioCurve> ratios;
  const bool panels = set.panels.size() > 1;
  for (std::size_t i = 0; i < set.curves.size(); ++i) {
    const Curve& curve = set.curves[i];
    if (!is_measured(curve) || curve.merged || (panels ? curve.panels.front() == 0 : !curve.dashed)) continue;
    const auto base = std::ranges::find_if(set.curves, [&](const Curve& other) {
      return is_counterpart(curve, other) && !other.merged &&
             (panels ? other.panels.front() == 0 && other.dashed == curve.dashed : !other.dashed);
    });
    if (base == set.curves.end()) continue;
    if (auto ratio = ratio_of(set, i, *base)) ratios.push_back(std::move(*ratio));
  }
  return ratios;
}

std::vector<std::string> short_panel_titles(const CurveSet& set) {
  const auto first_word = [](const std::string& title) { return title.substr(0, title.find(' ')); };
  std::vector<std::string> titles;
  for (const std::string& title : set.panels) {
    const auto same = std::ranges::count(set.panels, first_word(title), first_word);
    titles.push_back(same > 1 || set.panels.size() == 1 ? title : first_word(title));
  }
  return titles;
}

std::string ratio_title(const CurveSet& set) {
  const std::vector<std::string> panels = short_panel_titles(set);
  if (panels.size() == 2) return fmt::format("{} / {}", panels[1], panels[0]);
  if (panels.size() > 2) return text(msg::curves::ratio_to{.base = panels[0]});
  return text(msg::curves::ratio_of_runs{});
}

void name_curves(CurveSet& set) {
  for (Curve& curve : set.curves) curve.label = curve_label(curve);
}

std::string algorithm_title(std::string_view name) {
  return short_title(known_algorithms(), name);
}

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
  static const std::array<Message, 5> titles{msg::curves::dram{}, msg::curves::sm_l2{}, msg::curves::time{},
                                             msg::curves::rate{}, Message()};
  return text(titles.at(static_cast<std::size_t>(quantity)));
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

// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/axis_curves.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/model/io_model.h"
#include "messages/facet.h"
#include "messages/facet_help.h"
#include "profiler/compare/compared_values.h"
#include "profiler/predict/modelled_values.h"
#include "profiler/tilemap/tile_map.h"

namespace attnscope::analysis {
namespace {

bool of_the_tile(std::string_view name) {
  const Field* field = attnscope::find_field(name);
  return field != nullptr && field->role == FieldRole::tile;
}

/// Each has a curve of its own, and the tile is chosen by itself.
bool of_a_curve(std::string_view key) {
  return key == field_name::algorithm || key == device_facet_key || key == tile_facet()->key;
}

bool is_knob(const Algorithms& algorithms, std::string_view name) {
  return std::ranges::find(algorithms.knobs(), name, &Knob::name) != algorithms.knobs().end();
}

std::optional<std::int64_t> memory_at(const PointTable& table, Row row) {
  const Algorithm* algorithm = table.algorithms().find(table.algorithm(row));
  if (algorithm == nullptr) return std::nullopt;
  const AttentionProblem problem = table.problem(row);
  return memory_of_tile(table.tile_of(row).tile, problem.d, algorithm->facts().traffic_side(problem.pass));
}

/// The axis that a facet is, with the fields that it speaks for.
PointAxis axis_of(const FacetPtr& facet, const Algorithms& algorithms) {
  const std::vector<PointAxis> axes = point_axes(algorithms);
  if (const PointAxis* known = find_axis(axes, facet->key)) return *known;
  return {.facet = facet};
}

/// One algorithm on one device by one kind of measurement, of one group: what becomes one series, or one a run.
struct Strain {
  std::string algorithm;
  Provenance provenance = Provenance::measured;
  std::string label;
  std::string group;
  std::vector<Row> rows;
};

class AxisCurveBuilder {
 public:
  AxisCurveBuilder(const PointTable& table, const AxisCurveRequest& request)
      : table_(table),
        request_(request),
        values_(table, {.metric = request.metric}),
        modelled_(table),
        column_(table.codes(*request.axis.facet)) {
    set_.metric = request.metric;
    set_.axis = request.axis;
  }

  CurveSet build(std::span<const Row> rows) {
    for (const Strain& strain : strains_of(rows)) add(strain);
    for (FailedPoint& failed : set_.failed) {
      failed.ended = ended_[{failed.algorithm, table_.disposition(failed.row)}];
      failed.asked = asked_[failed.algorithm];
    }
    if (!request_.axis.number) {
      for (const FacetValue& value : column_.values) set_.places.push_back(value.text);
    }
    return std::move(set_);
  }

 private:
  /// Where a row stands along the axis; nothing where it does not say.
  [[nodiscard]] std::optional<double> place_of(Row row) const {
    const std::uint32_t code = column_.codes[row];
    if (!request_.axis.number) return code + 1.0;
    const double number = column_.values[code].order;
    return number > 0 ? std::optional(number) : std::nullopt;
  }

  std::vector<Strain> strains_of(std::span<const Row> rows) {
    using Key =
        std::tuple<std::size_t, std::string_view, std::uint32_t, Provenance, std::string_view, std::string_view>;
    std::map<Key, Strain> strains;
    std::set<std::string> devices;
    const CodeColumn* group = request_.group ? &table_.codes(*request_.group) : nullptr;
    const PointAxis of_group = request_.group ? axis_of(request_.group, table_.algorithms()) : PointAxis();
    for (const Row row : rows) {
      const Run& run = table_.run(row);
      const std::string& algorithm = table_.algorithm(row);
      if (!run.device_name.empty()) devices.insert(device_title(table_, table_.run_index(row)));
      if (!request_.algorithms.contains(algorithm) || !place_of(row)) continue;
      const std::string_view label = run.provenance == Provenance::imported ? std::string_view(run.label) : "";
      const std::uint32_t code = group != nullptr ? group->codes[row] : 0;
      Strain& strain =
          strains[{table_.algorithms().place(algorithm), algorithm, code, run.provenance, run.device_id, label}];
      strain.algorithm = algorithm;
      strain.provenance = run.provenance;
      strain.label = label;
      if (!label.empty()) labels_[algorithm].insert(run.label);
      if (group != nullptr) strain.group = group_words(of_group, group->values[code], row);
      strain.rows.push_back(row);
    }
    name_devices_ = devices.size() > 1;
    std::vector<Strain> ordered;
    ordered.reserve(strains.size());
    for (auto& [key, strain] : strains) ordered.push_back(std::move(strain));
    return ordered;
  }

  /// "128 × 64", "Bc 32", "causal"; empty where the point's source did not say its tile.
  [[nodiscard]] std::string group_words(const PointAxis& axis, const FacetValue& value, Row row) const {
    if (std::ranges::any_of(axis.names, of_the_tile) && !tile_stated(table_.tile_of(row).tile)) return {};
    return axis.number ? fmt::format("{} {}", text(axis.facet->label), value.text) : value.text;
  }

  [[nodiscard]] bool says_tile() const {
    if (std::ranges::any_of(request_.axis.names, of_the_tile)) return true;
    return request_.group && std::ranges::any_of(axis_of(request_.group, table_.algorithms()).names, of_the_tile);
  }

  using ByPlace = std::map<double, std::vector<Row>>;

  /// At each place the rows of one configuration.
  [[nodiscard]] ByPlace standing(const std::vector<Row>& rows) const {
    const ValueColumn& times = table_.values(metric_key::time_median_ns);
    std::map<double, std::map<std::uint32_t, double>> fastest;  // of a configuration at a place
    std::map<std::uint32_t, std::set<double>> covered;
    for (const Row row : rows) {
      const double place = *place_of(row);
      const std::uint32_t tile = table_.tile_code(row);
      const double time = times.at(row).value_or(std::numeric_limits<double>::infinity());
      const auto [entry, fresh] = fastest[place].try_emplace(tile, time);
      if (!fresh) entry->second = std::min(entry->second, time);
      if (values_.plain(row)) covered[tile].insert(place);
    }
    // A memory has as many tiles as problems have d: at each place its fastest stands for it.
    const bool each_its_own =
        request_.tile == TileSelection::Rule::fastest || request_.axis.key() == memory_axis().key() || says_tile();
    const auto widest = std::ranges::max_element(
        covered, [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    ByPlace chosen;
    for (const Row row : rows) {
      const double place = *place_of(row);
      const auto& there = fastest[place];
      std::uint32_t wanted = std::ranges::min_element(there, {}, [](const auto& entry) { return entry.second; })->first;
      if (!each_its_own && widest != covered.end() && there.contains(widest->first)) wanted = widest->first;
      if (table_.tile_code(row) == wanted) chosen[place].push_back(row);
    }
    return chosen;
  }

  void add(const Strain& strain) {
    std::map<RunIndex, std::vector<Row>> of_run;
    for (const Row row : strain.rows) of_run[table_.run_index(row)].push_back(row);
    struct Candidate {
      RunIndex run = 0;
      ByPlace at;
    };
    std::vector<Candidate> candidates;
    candidates.reserve(of_run.size());
    for (const auto& [run, rows] : of_run) candidates.push_back({run, standing(rows)});
    std::ranges::sort(candidates, [&](const Candidate& a, const Candidate& b) {
      const bool a_curve = a.at.size() > 1;
      const bool b_curve = b.at.size() > 1;
      return a_curve != b_curve ? a_curve : newer(table_, a.run, b.run);
    });
    std::map<double, std::int64_t> number;  // of a place
    for (const Candidate& candidate : candidates) {
      for (const auto& [place, rows] : candidate.at)
        number.try_emplace(place, static_cast<std::int64_t>(number.size()));
    }
    std::vector<std::vector<std::int64_t>> places(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      for (const auto& [place, rows] : candidates[i].at) places[i].push_back(number[place]);
      std::ranges::sort(places[i]);
    }
    const auto groups = disjoint_groups(places);
    int age = 0;
    for (const auto& members : groups) {
      Curve curve;
      curve.quantity = Quantity::metric;
      curve.metric = request_.metric;
      curve.provenance = strain.provenance;
      ByPlace at;
      std::vector<std::string_view> titles;
      for (const std::size_t i : members) {
        titles.emplace_back(table_.runs()[candidates[i].run].title);
        at.merge(candidates[i].at);
      }
      curve.name = {.algorithm = strain.algorithm, .age = age++, .group = strain.group};
      const auto labels = labels_.find(strain.algorithm);
      if (!strain.label.empty() && labels->second.size() > 1) curve.name.label = strain.label;
      if (name_devices_) curve.name.device = device_title(table_, candidates[members.front()].run);
      if (groups.size() > 1) curve.name.runs = fmt::format("{}", fmt::join(titles, " + "));
      fill(std::move(curve), at);
    }
  }

  void fill(Curve curve, const ByPlace& at) {
    Curve model = curve;
    model.kind = CurveKind::model;
    model.provenance = Provenance::modelled;
    asked_[curve.name.algorithm] += at.size();
    for (const auto& [place, rows] : at) {
      std::vector<std::pair<Compared, Row>> readings;
      for (const Row row : rows) {
        if (const auto value = values_.plain(row)) readings.emplace_back(*value, row);
      }
      if (readings.empty()) {
        note_failure(curve.name.algorithm, place, rows.back());
        continue;
      }
      std::ranges::stable_sort(readings, {}, [](const auto& reading) { return reading.first.value; });
      const auto& [middle, row] = readings[(readings.size() - 1) / 2];
      CurvePoint point{.n = place, .value = middle.value, .low = middle.low, .high = middle.high};
      for (const auto& [reading, other] : readings) {
        point.low = std::min(point.low, reading.low);
        point.high = std::max(point.high, reading.high);
      }
      point.repeats = static_cast<int>(readings.size());
      point.throttled = table_.throttled(row);
      point.provenance = middle.provenance;
      point.row = row;
      if (const auto theory = modelled_.at(row, request_.metric)) {
        point.over_model = point.over_theory = middle.value / *theory;
        model.points.push_back({.n = place, .value = *theory, .low = *theory, .high = *theory});
      }
      curve.points.push_back(point);
    }
    if (curve.points.empty()) return;
    // A rate is computed of a measured time: it is what its points are.
    if (curve.provenance == Provenance::measured) curve.provenance = curve.points.front().provenance;
    const bool with_model = request_.model && model.name.age == 0 && !model.points.empty();
    set_.curves.push_back(std::move(curve));
    if (with_model) set_.curves.push_back(std::move(model));
  }

  /// One mark an algorithm, place and ending: a column of marks for all groups says no more.
  void note_failure(const std::string& algorithm, double place, Row row) {
    const Disposition ended = table_.disposition(row);
    if (ended == Disposition::ok || ended == Disposition::cancelled) return;
    ++ended_[{algorithm, ended}];
    const bool known = std::ranges::any_of(set_.failed, [&](const FailedPoint& other) {
      return other.algorithm == algorithm && other.n == place && table_.disposition(other.row) == ended;
    });
    if (!known) set_.failed.push_back({algorithm, place, row});
  }

  const PointTable& table_;
  const AxisCurveRequest& request_;
  std::map<std::string, std::set<std::string>> labels_;  ///< of an algorithm's imported runs
  ComparedValues values_;
  ModelledValues modelled_;
  const CodeColumn& column_;
  bool name_devices_ = false;
  CurveSet set_;
  std::map<std::string, std::size_t> asked_;  ///< points of an algorithm
  std::map<std::pair<std::string, Disposition>, std::size_t> ended_;
};

}  // namespace

std::vector<FacetPtr> facets_beside_curves(const PointAxis& axis, const FacetPtr& group, const Algorithms& algorithms) {
  std::vector<PointAxis> axes{axis};
  if (group) axes.push_back(axis_of(group, algorithms));
  const bool knobs = std::ranges::any_of(axes, [&](const PointAxis& each) {
    return std::ranges::any_of(each.names, [&](const std::string& name) {
      return is_knob(algorithms, name) ||
             (of_the_tile(name) && each.key() != tile_facet()->key && each.key() != memory_axis().key());
    });
  });
  std::vector<FacetPtr> facets = facets_beside(axes, algorithms);
  std::erase_if(facets, [&](const FacetPtr& facet) {
    return of_a_curve(facet->key) || (!knobs && is_knob(algorithms, facet->key));
  });
  return facets;
}

std::vector<FacetPtr> all_curve_facets(const Algorithms& algorithms) {
  std::vector<FacetPtr> facets = all_map_facets(algorithms);
  std::erase_if(facets, [](const FacetPtr& facet) { return of_a_curve(facet->key); });
  return facets;
}

const PointAxis& memory_axis() {
  static const PointAxis axis{
      .facet = std::make_shared<const Facet>(
          Facet{"m", say::facet::m{}, say::facet_help::m{},
                [](const PointTable& table) {
                  CodeColumn column;
                  std::map<std::int64_t, std::uint32_t> codes;
                  std::vector<std::int64_t> at;
                  for (Row row = 0; row < table.size(); ++row) {
                    at.push_back(memory_at(table, row).value_or(0));
                    codes.try_emplace(at.back(), 0);
                  }
                  for (auto& [elements, code] : codes) {
                    code = static_cast<std::uint32_t>(column.values.size());
                    column.values.push_back({static_cast<double>(elements), fmt::to_string(elements)});
                  }
                  for (const std::int64_t m : at) column.codes.push_back(codes[m]);
                  return column;
                }}),
      .names = {"br", "bc"},
      .number = true};
  return axis;
}

std::vector<PointAxis> varying_curve_axes(const PointTable& table, std::span<const Row> rows) {
  std::vector<PointAxis> axes = varying_axes(table, rows);
  std::erase_if(axes, [](const PointAxis& axis) { return of_a_curve(axis.key()); });
  const CodeColumn& memory = table.codes(*memory_axis().facet);
  std::set<std::uint32_t> there;
  for (const Row row : rows) {
    if (memory.values[memory.codes[row]].order > 0) there.insert(memory.codes[row]);
  }
  if (there.size() > 1) axes.push_back(memory_axis());
  return axes;
}

CurveSet build_axis_curves(const PointTable& table, std::span<const Row> rows, const AxisCurveRequest& request) {
  return AxisCurveBuilder(table, request).build(rows);
}

}  // namespace attnscope::analysis

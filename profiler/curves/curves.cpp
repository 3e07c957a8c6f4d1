// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/curves.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/model/io_model.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/modeled_values.h"
#include "profiler/tilemap/tile_map.h"

namespace attnscope::analysis {
namespace {

constexpr int model_points_per_octave = 12;

std::vector<std::int64_t> model_lengths(std::int64_t first, std::int64_t last, std::set<std::int64_t> lengths) {
  const double octaves = std::log2(static_cast<double>(last) / static_cast<double>(first));
  const int steps = static_cast<int>(std::ceil(octaves * model_points_per_octave));
  for (int i = 1; i < steps; ++i) {
    const double n = static_cast<double>(first) * std::exp2(octaves * i / steps);
    // Multiples of 64 fill most tile shapes, so the curve shows the law without ragged-tile effects.
    const auto rounded = static_cast<std::int64_t>(std::round(n / 64) * 64);
    if (rounded > first && rounded < last) lengths.insert(rounded);
  }
  return {lengths.begin(), lengths.end()};
}

/// Returns the tile that is used at most N; the one with the lowest code in a tie.
Config most_common_tile(const PointTable& table, const RowsByPlace& at) {
  std::map<std::uint32_t, int> votes;
  for (const auto& [n, rows] : at) ++votes[table.tile_code(rows.front())];
  const auto most = std::ranges::max_element(votes, [](const auto& a, const auto& b) { return a.second < b.second; });
  return table.tile(most->first);
}

/// Rows of one algorithm, device, provenance and group: one series, or one per run.
struct Family {
  std::string algorithm;
  Provenance provenance = Provenance::measured;
  std::string label;  ///< label of an imported run
  std::string group;
  std::vector<Row> rows;
};

/// Series of a family, from runs without common positions.
struct RunGroup {
  SeriesName name;
  Provenance provenance = Provenance::measured;
  RowsByPlace at;
  RunIndex run = 0;  ///< newest run; its device limits apply

  [[nodiscard]] bool measured() const { return provenance == Provenance::measured; }
};

class CurveBuilder {
 public:
  CurveBuilder(const PointTable& table, const CurveRequest& request)
      : table_(table), request_(request), modelled_(table), positioning_(position_by_length(table, request.ordinate)) {
    set_.ordinate = request.ordinate;
    if (request.axis) prepare_axis();
  }

  CurveSet build(std::span<const Row> rows) {
    for (const Family& family : families_of(rows)) add_family(family);
    if (request_.axis) return finish_axis();
    if (!problem_) return std::move(set_);
    name_models();
    if (request_.compulsory && bytes()) add_compulsory();
    return std::move(set_);
  }

 private:
  [[nodiscard]] bool bytes() const { return request_.ordinate == Ordinate::bytes; }
  [[nodiscard]] const DeviceLimits& limits_of(const RunGroup& run_group) const {
    return table_.runs()[run_group.run].limits;
  }

  void prepare_axis() {
    set_.metric = request_.metric;
    set_.axis = request_.axis;
    column_ = &table_.codes(*request_.axis->facet);
    values_.emplace(table_, ValueSelection{.metric = request_.metric});
    selection_.rule = request_.tile.rule;
    if (request_.group) group_ = axis_of_facet(request_.group);
    // A memory size has one tile per d: use the fastest at each position.
    const bool given = sets_tile_dimension(*request_.axis) || (request_.group && sets_tile_dimension(group_));
    if (given) selection_.rule = TileSelection::Rule::fastest;
    positioning_ = {[this](Row row) { return *place_of(row); },
                    [this](Row row) { return values_->own_value(row).has_value(); }};
  }

  [[nodiscard]] std::optional<double> place_of(Row row) const {
    if (column_ == nullptr) return static_cast<double>(table_.n_k(row));
    const std::uint32_t code = column_->codes[row];
    if (!request_.axis->number) return code + 1.0;
    const double number = column_->values[code].order;
    return number > 0 ? std::optional(number) : std::nullopt;
  }

  /// Returns "128 × 64", "Bc 32" or "causal"; empty if the point's tile is unknown.
  [[nodiscard]] std::string group_label(const FacetValue& value, Row row) const {
    if (sets_tile_dimension(group_) && !has_tile(table_.tile_of(row).tile)) return {};
    return group_.number ? fmt::format("{} {}", text(group_.facet->label), value.text) : value.text;
  }

  CurveSet finish_axis() {
    if (!request_.axis->number) {
      for (const FacetValue& value : column_->values) set_.places.push_back(value.text);
    }
    return std::move(set_);
  }

  /// Adds one marker per algorithm, device, position and disposition, for all groups together.
  void add_failure(const SeriesName& name, double place, Row row) {
    const Disposition ended = table_.disposition(row);
    if (ended == Disposition::ok || ended == Disposition::cancelled) return;
    const bool known = std::ranges::any_of(set_.failed, [&](const FailedPoint& other) {
      return other.algorithm == name.algorithm && other.device == name.device && other.n == place &&
             table_.disposition(other.row) == ended;
    });
    if (!known) set_.failed.push_back({name.algorithm, name.device, place, row});
  }

  std::vector<Family> families_of(std::span<const Row> rows) {
    using Key =
        std::tuple<std::size_t, std::string_view, std::uint32_t, Provenance, std::string_view, std::string_view>;
    std::map<Key, Family> families;
    std::set<std::string> devices;
    const CodeColumn* group = request_.group ? &table_.codes(*request_.group) : nullptr;
    for (const Row row : rows) {
      if (!request_.axis && !is_same_problem(row)) continue;
      const Run& run = table_.run(row);
      const std::string& algorithm = table_.algorithm(row);
      if (!run.device_name.empty()) devices.insert(device_title(table_, table_.run_index(row)));
      if (!request_.algorithms.contains(algorithm) || !place_of(row)) continue;
      // Values of different programs or versions are not repeats of each other.
      const std::string_view label = run.provenance == Provenance::imported ? std::string_view(run.label) : "";
      if (!label.empty()) labels_[algorithm].insert(run.label);
      const std::uint32_t code = group != nullptr ? group->codes[row] : 0;
      Family& family =
          families[{table_.algorithms().place(algorithm), algorithm, code, run.provenance, run.device_id, label}];
      family.algorithm = algorithm;
      family.provenance = run.provenance;
      family.label = label;
      if (group != nullptr) family.group = group_label(group->values[code], row);
      family.rows.push_back(row);
    }
    if (problem_) prepare_lengths();
    name_devices_ = devices.size() > 1;
    std::vector<Family> ordered;
    ordered.reserve(families.size());
    for (auto& [key, family] : families) ordered.push_back(std::move(family));
    return ordered;
  }

  /// Returns whether the row belongs to the problem of the first row. Fixed-query points are a different problem.
  bool is_same_problem(Row row) {
    const std::int64_t n_k = table_.n_k(row);
    const std::int64_t queries = table_.n_q(row) == n_k ? 0 : table_.n_q(row);
    if (problem_ && fixed_query_count(*problem_).value_or(0) != queries) return false;
    if (!problem_) problem_ = table_.problem(row);
    measured_lengths_.insert(n_k);
    return true;
  }

  void prepare_lengths() {
    last_ = *measured_lengths_.rbegin();
    problem_ = at_length(*problem_, last_);
    set_.queries = fixed_query_count(*problem_);
    // Explicit length lists are valid only for the N that they were given for.
    lengths_ = problem_->mask.lengths == Mask::Lengths::list
                   ? std::vector<std::int64_t>(measured_lengths_.begin(), measured_lengths_.end())
                   : model_lengths(*measured_lengths_.begin(), last_, measured_lengths_);
    std::erase_if(lengths_, [&](std::int64_t n) { return !invalid_reason(at_length(*problem_, n)).empty(); });
  }

  struct Candidate {
    RunIndex run = 0;
    RowsByPlace at;
    std::size_t tiles = 0;

    [[nodiscard]] bool is_curve() const { return at.size() > 1; }
  };

  /// Returns the family's runs: runs with two or more positions first, then the newest.
  std::vector<Candidate> runs_of(const Family& family) {
    std::map<RunIndex, std::vector<Row>> of_run;
    for (const Row row : family.rows) of_run[table_.run_index(row)].push_back(row);
    std::vector<Candidate> candidates;
    for (const auto& [run, rows] : of_run) {
      RowsByPlace selected_rows =
          select_rows(table_, rows, family.rows, request_.axis ? selection_ : request_.tile, positioning_);
      if (!selected_rows.empty()) candidates.push_back({run, std::move(selected_rows), tiles_of(table_, rows).size()});
    }
    std::ranges::sort(candidates, [&](const Candidate& a, const Candidate& b) {
      if (a.is_curve() != b.is_curve()) return a.is_curve();
      return is_newer(table_, a.run, b.run);
    });
    const bool curve_leads = !candidates.empty() && candidates.front().is_curve();
    if (request_.axis || request_.tile.rule != TileSelection::Rule::widest || !curve_leads) return candidates;
    // Drop the tile of a map measured at one N; it would be a single point next to the curve.
    std::vector<Candidate> kept;
    for (Candidate& candidate : candidates) {
      const bool map = !candidate.is_curve() && candidate.tiles >= min_map_tiles;
      const double n = candidate.at.begin()->first;
      if (!map || !kept.front().at.contains(n)) kept.push_back(std::move(candidate));
    }
    return kept;
  }

  /// Returns the family's series, the leading one first.
  std::vector<RunGroup> make_run_groups(const Family& family) {
    std::vector<Candidate> candidates = runs_of(family);
    std::vector<std::vector<std::int64_t>> places(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      for (const auto& [place, rows] : candidates[i].at) places[i].push_back(std::bit_cast<std::int64_t>(place));
    }
    const auto groups = disjoint_groups(places);
    std::vector<RunGroup> run_groups;
    for (const auto& group : groups) {
      RunGroup run_group;
      run_group.provenance = family.provenance;
      run_group.run = candidates[group.front()].run;
      std::vector<std::string_view> titles;
      for (const std::size_t i : group) {
        titles.emplace_back(table_.runs()[candidates[i].run].title);
        run_group.at.merge(candidates[i].at);
      }
      run_group.name = name_of(family, run_group.run);
      run_group.name.age = static_cast<int>(run_groups.size());
      if (groups.size() > 1) run_group.name.runs = fmt::format("{}", fmt::join(titles, " + "));
      run_groups.push_back(std::move(run_group));
    }
    return run_groups;
  }

  SeriesName name_of(const Family& family, RunIndex run) const {
    SeriesName name{.algorithm = family.algorithm, .group = family.group};
    const auto labels = labels_.find(family.algorithm);
    if (!family.label.empty() && labels->second.size() > 1) name.label = family.label;
    if (name_devices_) name.device = device_title(table_, run);
    return name;
  }

  void add_family(const Family& family) {
    const std::vector<RunGroup> run_groups = make_run_groups(family);
    if (request_.axis) {
      for (const RunGroup& run_group : run_groups) add_measured(run_group, Quantity::metric);
      return;
    }
    const Algorithm* algorithm = table_.algorithms().find(family.algorithm);
    std::set<double> taken;  // N of newer series
    for (const RunGroup& run_group : run_groups) {
      if (bytes() && request_.dram) add_measured(run_group, Quantity::dram);
      if (bytes() && request_.sm_l2) add_measured(run_group, Quantity::sm_l2);
      if (request_.ordinate == Ordinate::time) add_measured(run_group, Quantity::time);
      if (request_.ordinate == Ordinate::rate) add_measured(run_group, Quantity::rate);
      add_failed(run_group, taken);
      // Imported algorithms have no model.
      if (algorithm != nullptr) add_tile_models(run_group, *algorithm);
      for (const auto& [n, rows] : run_group.at) taken.insert(n);
    }
  }

  void add_measured(const RunGroup& run_group, Quantity quantity) {
    Curve curve;
    curve.name = run_group.name;
    curve.run = run_group.run;
    curve.quantity = quantity;
    if (quantity == Quantity::metric) curve.metric = request_.metric;
    for (const auto& [place, rows] : run_group.at) {
      if (const auto point = point_of(place, rows, quantity)) {
        curve.points.push_back(*point);
      } else if (quantity == Quantity::metric) {
        add_failure(curve.name, place, rows.back());
      }
    }
    if (curve.points.empty()) return;
    curve.provenance = run_group.provenance;
    // Rates of measured times are derived, like their points.
    if (run_group.measured() && quantity == Quantity::rate) curve.provenance = Provenance::derived;
    if (run_group.measured() && quantity == Quantity::metric) curve.provenance = curve.points.front().provenance;
    set_.curves.push_back(std::move(curve));
    if (request_.model && (quantity == Quantity::dram || quantity == Quantity::metric))
      add_model_of(set_.curves.back());
  }

  /// Adds the modeled values of the points of a series, if any.
  void add_model_of(const Curve& measured) {
    Curve model;
    model.kind = CurveKind::model;
    model.run = measured.run;
    model.quantity = measured.quantity;
    model.metric = measured.metric;
    model.provenance = Provenance::modeled;
    model.name = measured.name;
    if (measured.quantity == Quantity::dram)
      model.name = {.algorithm = measured.name.algorithm, .device = measured.name.device};
    for (const CurvePoint& point : measured.points) {
      if (!point.over_modeled) continue;
      const double value = point.value / *point.over_modeled;
      model.points.push_back({.n = point.n, .value = value, .low = value, .high = value});
    }
    const bool known =
        measured.quantity == Quantity::dram && std::ranges::any_of(set_.curves, [&](const Curve& other) {
          return other.kind == CurveKind::model && other.quantity == model.quantity && other.name == model.name;
        });
    if (!model.points.empty() && model.name.age == 0 && !known) set_.curves.push_back(std::move(model));
  }

  /// Returns the median reading of one position, with the range of all readings.
  template <class Read>
  std::optional<CurvePoint> median_point(double place, const std::vector<Row>& rows, const Read& read) const {
    std::vector<std::pair<Reading, Row>> readings;
    for (const Row row : rows) {
      if (const std::optional<Reading> reading = read(row)) readings.emplace_back(*reading, row);
    }
    if (readings.empty()) return {};
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
    return point;
  }

  std::optional<CurvePoint> point_of(double n, const std::vector<Row>& rows, Quantity quantity) {
    std::optional<CurvePoint> point = median_point(n, rows, [&](Row row) -> std::optional<Reading> {
      if (quantity != Quantity::metric) return read_value(table_, row, quantity);
      const auto value = values_->own_value(row);
      return value ? std::optional(Reading{value->value, value->low, value->high, value->provenance}) : std::nullopt;
    });
    if (!point) return point;
    const Row row = *point->row;
    if (quantity == Quantity::sm_l2) {
      point->over_modeled = table_.values(metric_key::l2_sm_over_model).at(row);
    } else if (request_.residuals || quantity == Quantity::metric) {
      const std::string_view metric = quantity == Quantity::metric ? request_.metric : metric_of(quantity);
      if (const auto theory = modelled_.at(row, metric)) point->over_modeled = point->value / *theory;
    }
    point->settled = quantity == Quantity::dram && table_.values(metric_key::dram_settled_bytes).has(row);
    return point;
  }

  void add_failed(const RunGroup& run_group, const std::set<double>& taken) {
    for (const auto& [n, rows] : run_group.at) {
      if (taken.contains(n)) continue;
      const bool any_ok = std::ranges::any_of(rows, [&](Row row) {
        return table_.disposition(row) == Disposition::ok || (!bytes() && read_value(table_, row, Quantity::time));
      });
      const Row last = rows.back();
      // Cancelled points did not fail.
      if (any_ok || table_.disposition(last) == Disposition::cancelled) continue;
      const bool known = std::ranges::any_of(set_.failed, [&](const FailedPoint& other) {
        return other.algorithm == run_group.name.algorithm && other.device == run_group.name.device &&
               table_.reason(other.row) == table_.reason(last) && table_.spec(other.row) == table_.spec(last);
      });
      if (!known) set_.failed.push_back({run_group.name.algorithm, run_group.name.device, n, last});
    }
  }

  /// Adds tile-dependent curves: closed-form model and L2 boundary.
  void add_tile_models(const RunGroup& run_group, const Algorithm& algorithm) {
    const Config tile = most_common_tile(table_, run_group.at);
    const DeviceLimits& limits = limits_of(run_group);
    const bool is_unknown = algorithm.facts().has_tile && !has_tile(tile.tile);  // an import may lack the tile
    if (is_unknown || algorithm.refusal(at_length(*problem_, last_), tile, limits)) return;
    if (request_.l2_boundary) add_boundary(run_group, l2_boundary(algorithm, *problem_, tile, limits));
    if (!bytes()) return;
    if (request_.model && request_.sm_l2 && algorithm.facts().reports_traffic) add_model(run_group, algorithm, tile);
  }

  static Curve model_curve(CurveKind kind, const SeriesName& name, const std::vector<std::int64_t>& lengths,
                           const std::function<double(std::int64_t)>& value_at) {
    Curve curve;
    curve.name = name;
    curve.kind = kind;
    curve.provenance = Provenance::modeled;
    for (const std::int64_t n : lengths) {
      const double value = value_at(n);
      curve.points.push_back({.n = static_cast<double>(n), .value = value, .low = value, .high = value});
    }
    return curve;
  }

  void add_model(const RunGroup& run_group, const Algorithm& algorithm, const Config& tile) {
    const DeviceLimits& limits = limits_of(run_group);
    std::vector<std::int64_t> lengths(measured_lengths_.begin(), measured_lengths_.end());
    std::erase_if(lengths, [&](std::int64_t n) {
      const AttentionProblem problem = at_length(*problem_, n);
      return !invalid_reason(problem).empty() || algorithm.refusal(problem, tile, limits);
    });
    const bool computed = std::ranges::any_of(models_, [&](const Model& other) {
      return set_.curves[other.place].name.algorithm == run_group.name.algorithm && other.tile == tile &&
             other.limits == limits.name;
    });
    if (computed) return;
    SeriesName name{.algorithm = run_group.name.algorithm};
    Curve curve = model_curve(CurveKind::model, name, lengths, [&](std::int64_t n) {
      return static_cast<double>(algorithm.model(at_length(*problem_, n), tile, limits).traffic().total());
    });
    // Device limits can change the launch, so compare the values.
    const bool known = std::ranges::any_of(models_, [&](const Model& other) {
      const Curve& drawn = set_.curves[other.place];
      return drawn.name.algorithm == name.algorithm && other.tile == tile && same_values(drawn, curve);
    });
    if (known) return;
    models_.push_back({set_.curves.size(), tile, limits.name, run_group.name.device});
    set_.curves.push_back(std::move(curve));
  }

  static bool same_values(const Curve& a, const Curve& b) {
    return std::ranges::equal(
        a.points, b.points, [](const CurvePoint& x, const CurvePoint& y) { return x.n == y.n && x.value == y.value; });
  }

  /// Adds tile or device to the names of models that differ in it.
  void name_models() {
    for (const Model& model : models_) {
      Curve& curve = set_.curves[model.place];
      for (const Model& other : models_) {
        if (set_.curves[other.place].name.algorithm != curve.name.algorithm) continue;
        if (other.tile != model.tile) curve.tile = model.tile;
        if (other.tile == model.tile && other.device != model.device) curve.name.device = model.device;
      }
    }
  }

  /// Adds one boundary per device, even if it was both measured and simulated.
  void add_boundary(const RunGroup& run_group, const std::optional<L2Boundary>& at) {
    if (!at) return;
    const bool known = std::ranges::any_of(set_.boundaries, [&](const Boundary& other) {
      return other.algorithm == run_group.name.algorithm && other.device == run_group.name.device &&
             other.at.n_nominal == at->n_nominal;
    });
    if (!known) set_.boundaries.push_back({run_group.name.algorithm, run_group.name.device, *at});
  }

  void add_compulsory() {
    set_.curves.push_back(model_curve(CurveKind::compulsory, {}, lengths_, [&](std::int64_t n) {
      return static_cast<double>(compulsory_traffic(at_length(*problem_, n)).total());
    }));
  }

  const PointTable& table_;
  const CurveRequest& request_;
  ModeledValues modelled_;
  Positioning positioning_;
  CurveSet set_;
  const CodeColumn* column_ = nullptr;  ///< values of the axis facet; null for N
  PointAxis group_;
  std::optional<ComparedValues> values_;     ///< with an axis: the metric's values
  TileSelection selection_;                  ///< with an axis
  std::optional<AttentionProblem> problem_;  ///< at the longest N
  std::int64_t last_ = 0;
  bool name_devices_ = false;
  std::map<std::string, std::set<std::string>> labels_;  ///< labels of imported runs by algorithm
  std::set<std::int64_t> measured_lengths_;
  std::vector<std::int64_t> lengths_;
  struct Model {
    std::size_t place = 0;  ///< index in set_.curves
    Config tile;
    std::string limits;
    std::string device;
  };
  std::vector<Model> models_;
};

}  // namespace

CurveSet build_curves(const PointTable& table, std::span<const Row> rows, const CurveRequest& request) {
  return CurveBuilder(table, request).build(rows);
}

}  // namespace attnscope::analysis

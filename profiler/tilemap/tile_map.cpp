// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/tile_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "messages/tile_map.h"
#include "profiler/plan/fields.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

bool sets_tile_size(const MapLayout& layout) {
  return layout.covers_field("br") || layout.covers_field("bc");
}

/// Returns whether the point has values on both axes; imported points may lack the tile.
bool has_axis_values(const PointTable& table, Row row, const MapLayout& layout) {
  return !sets_tile_size(layout) || has_tile(table.tile_of(row).tile);
}

/// Totals of a launch depend on the problem, so cells with different problems have no best.
bool is_launch_total(const Metric& metric) {
  return metric.unit == "byte" || metric.unit == "ns" || metric.unit == "cycle";
}

class TileMapBuilder {
 public:
  TileMapBuilder(const PointTable& table, const MapRequest& request)
      : table_(table),
        request_(request),
        compared_(table, request.shown),
        metric_(find_metric(request.shown.metric)),
        x_codes_(table.codes(*request.layout.x.facet)),
        y_codes_(table.codes(*request.layout.y.facet)),
        times_(table.values(metric_key::time_median_ns)) {
    map_.shown = request.shown;
    map_.metric = request.shown.metric;
    map_.x.axis = request.layout.x;
    map_.y.axis = request.layout.y;
    if (metric_ == nullptr) return;
    map_.unit = std::string(metric_->unit);
    map_.better = metric_->better;
    if (!request.layout.has_one_problem() && is_launch_total(*metric_)) map_.better = BetterDirection::neither;
  }

  TileMap build(std::span<const Row> given) {
    std::vector<Row> rows;
    std::ranges::copy_if(given, std::back_inserter(rows),
                         [&](Row row) { return has_axis_values(table_, row, request_.layout); });
    rows = shown_rows(rows);
    if (rows.empty()) return std::move(map_);
    lay_out(rows);
    RowsByCell rows_by_cell;
    for (const Row row : rows)
      rows_by_cell[{y_place_[y_codes_.codes[row]], x_place_[x_codes_.codes[row]]}].push_back(row);
    for (const auto& [place, its] : rows_by_cell) fill(place, its);
    check_flatness();
    find_best();
    find_plateau();
    if (request_.shown.as == Comparison::share_of_best) convert_to_shares();
    set_unit();
    if (request_.layout.has_one_problem()) find_fastest(given);
    return std::move(map_);
  }

 private:
  [[nodiscard]] std::int64_t index_of(Row row) const {
    return static_cast<std::int64_t>(y_codes_.codes[row]) << 32U | x_codes_.codes[row];
  }
  [[nodiscard]] TileCell& cell(TileMap::Place place) {
    return map_.cells[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.column)];
  }

  struct Candidate {
    RunIndex run = 0;
    std::vector<Row> rows;
    std::set<std::int64_t> places;

    [[nodiscard]] bool is_map() const { return places.size() >= min_map_tiles; }
  };

  /// Returns the runs, those that form a map first, then the newest. Explorer runs go to `one_by_one`, unless there are
  /// no others.
  std::vector<Candidate> candidate_runs(const std::vector<Row>& rows, std::vector<Candidate>& one_by_one) {
    std::map<RunIndex, Candidate> of_run;
    for (const Row row : rows) {
      Candidate& candidate = of_run[table_.run_index(row)];
      candidate.run = table_.run_index(row);
      candidate.rows.push_back(row);
      candidate.places.insert(index_of(row));
    }
    std::vector<Candidate> candidates;
    for (auto& [run, candidate] : of_run) {
      const Run& of = table_.runs()[run];
      const bool asked = of.preset == explorer_preset;
      (asked ? one_by_one : candidates).push_back(std::move(candidate));
    }
    if (candidates.empty()) candidates.swap(one_by_one);
    const auto first = [&](const Candidate& a, const Candidate& b) {
      if (a.is_map() != b.is_map()) return a.is_map();
      return is_newer(table_, a.run, b.run);
    };
    std::ranges::sort(candidates, first);
    std::ranges::sort(one_by_one,
                      [&](const Candidate& a, const Candidate& b) { return is_newer(table_, b.run, a.run); });
    return candidates;
  }

  /// Returns the rows of the shown runs and records the others as hidden.
  std::vector<Row> shown_rows(const std::vector<Row>& rows) {
    std::vector<Candidate> one_by_one;
    const std::vector<Candidate> candidates = candidate_runs(rows, one_by_one);
    std::vector<std::vector<std::int64_t>> places;
    places.reserve(candidates.size());
    for (const Candidate& candidate : candidates) {
      places.emplace_back(candidate.places.begin(), candidate.places.end());
    }
    const auto groups = disjoint_groups(places);
    std::vector<Row> shown;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      for (const std::size_t i : groups[group]) {
        (group > 0 ? map_.hidden : map_.shown_runs).push_back(candidates[i].run);
        if (group == 0) shown.insert(shown.end(), candidates[i].rows.begin(), candidates[i].rows.end());
      }
    }
    for (const Candidate& asked : one_by_one) replace_cells(asked, shown);
    for (std::vector<RunIndex>* runs : {&map_.shown_runs, &map_.hidden})
      std::ranges::sort(*runs, [&](RunIndex a, RunIndex b) { return is_newer(table_, a, b); });
    std::ranges::sort(shown);
    return shown;
  }

  void replace_cells(const Candidate& asked, std::vector<Row>& shown) {
    std::set<std::int64_t> taken;
    for (const Row row : shown) taken.insert(index_of(row));
    std::set<std::int64_t> valued;
    for (const Row row : asked.rows) {
      if (has_values(table_.disposition(row))) valued.insert(index_of(row));
    }
    // Failed points do not replace values.
    std::erase_if(shown, [&](Row row) { return valued.contains(index_of(row)); });
    for (const Row row : asked.rows) {
      if (taken.contains(index_of(row)) && !valued.contains(index_of(row))) continue;
      if (taken.contains(index_of(row))) again_.insert(index_of(row));
      shown.push_back(row);
    }
    map_.shown_runs.push_back(asked.run);
  }

  /// Appends the values that occur to the axis. Returns the axis index by code, -1 if absent.
  static std::vector<int> copy_known_values(MapAxis& axis, const CodeColumn& column, const std::vector<Row>& rows) {
    std::vector<bool> there(column.values.size());
    for (const Row row : rows) there[column.codes[row]] = true;
    std::vector<int> place(column.values.size(), -1);
    for (std::size_t code = 0; code < there.size(); ++code) {
      if (!there[code]) continue;
      place[code] = static_cast<int>(axis.values.size());
      axis.values.push_back(column.values[code]);
    }
    return place;
  }

  void lay_out(const std::vector<Row>& rows) {
    y_place_ = copy_known_values(map_.y, y_codes_, rows);
    x_place_ = copy_known_values(map_.x, x_codes_, rows);
    map_.cells.assign(map_.y.size(), std::vector<TileCell>(map_.x.size()));
  }

  [[nodiscard]] std::optional<std::uint32_t> fastest_tile(const std::vector<Row>& rows) const {
    if (sets_tile_size(request_.layout)) return std::nullopt;
    std::optional<Row> best;
    for (const Row row : rows) {
      if (!has_values(table_.disposition(row))) continue;
      const auto time = [&](Row of) { return times_.at(of).value_or(never); };
      if (!best || time(row) < time(*best)) best = row;
    }
    return best ? std::optional(table_.tile_code(*best)) : std::nullopt;
  }

  void fill(TileMap::Place place, const std::vector<Row>& rows) {
    TileCell& target = cell(place);
    ++map_.collected;
    // Prefer ok points, regardless of order.
    target.row = rows.back();
    for (const Row row : rows) {
      if (table_.disposition(row) == Disposition::ok) target.row = row;
    }
    target.again = again_.contains(index_of(rows.front()));
    std::vector<std::pair<ComparedValue, Row>> valued;
    const std::optional<std::uint32_t> fastest = fastest_tile(rows);
    for (const Row row : rows) {
      if (fastest && table_.tile_code(row) != *fastest) continue;
      if (const auto compared = compared_.at(row)) valued.emplace_back(*compared, row);
    }
    if (!valued.empty()) {
      std::ranges::stable_sort(valued, [](const auto& a, const auto& b) { return a.first.value < b.first.value; });
      const auto& [middle, row] = valued[(valued.size() - 1) / 2];
      target.row = row;
      target.value = middle.value;
      if (middle.over) {
        target.own = compared_.own_value(row)->value;
        target.over = middle.over;
      }
      target.provenance = middle.provenance;
      target.repeats = static_cast<int>(valued.size());
      target.low = never;
      target.high = -never;
      for (const auto& [compared, other] : valued) {
        target.low = std::min(target.low, compared.low);
        target.high = std::max(target.high, compared.high);
      }
      target.unusual_clock =
          metric_ != nullptr && metric_->depends_on_clock && table_.is_throttling_unusual(target.row);
      map_.minimum = std::min(map_.minimum.value_or(never), *target.value);
      map_.maximum = std::max(map_.maximum.value_or(-never), *target.value);
    }
    target.disposition = table_.disposition(target.row);
    if (target.disposition == Disposition::ok) ++map_.ok;
  }

  void check_flatness() {
    std::vector<double> widths;
    for (const TileMap::Place place : map_.places()) {
      const TileCell& each = map_.at(place);
      if (each.value && each.high > each.low) widths.push_back(each.high - each.low);
    }
    if (widths.empty()) return;
    map_.spread = summarize(widths)->median;
    map_.flat = *map_.maximum > *map_.minimum && *map_.maximum - *map_.minimum <= *map_.spread;
  }

  void find_plateau() {
    if (map_.best.empty()) return;
    const double best = *cell(map_.best.front()).value;
    const bool less = map_.better == BetterDirection::less;
    if (best <= 0) return;
    std::ranges::copy_if(map_.places(), std::back_inserter(map_.plateau), [&](TileMap::Place place) {
      const auto value = map_.at(place).value;
      return value && (less ? *value <= best * (1 + plateau_share) : *value >= best * (1 - plateau_share));
    });
  }

  /// Converts values to percent of the best; cells have no value if the metric has no better direction.
  void convert_to_shares() {
    const bool less = map_.better == BetterDirection::less;
    std::optional<double> best;
    for (const TileMap::Place place : map_.places()) {
      const std::optional<double>& value = map_.at(place).value;
      if (value && *value > 0 && (!best || (less ? *value < *best : *value > *best))) best = value;
    }
    map_.minimum.reset();
    map_.maximum.reset();
    for (const TileMap::Place place : map_.places()) {
      TileCell& each = cell(place);
      if (!each.value) continue;
      const double own = *each.value;
      each.value.reset();
      if (!best || map_.better == BetterDirection::neither || own <= 0 || each.low <= 0) continue;
      const auto share = [&](double value) { return 100 * (less ? *best / value : value / *best); };
      each.own = own;
      each.over = best;
      each.value = share(own);
      std::tie(each.low, each.high) = std::minmax({share(each.low), share(each.high)});
      if (each.provenance == Provenance::measured) each.provenance = Provenance::derived;
      map_.minimum = std::min(map_.minimum.value_or(never), *each.value);
      map_.maximum = std::max(map_.maximum.value_or(-never), *each.value);
    }
    if (!map_.minimum) map_.flat = false;  // no cell has a value
    if (map_.spread && best) map_.spread = 100 * *map_.spread / *best;
  }

  void set_unit() {
    if (request_.shown.as == Comparison::none) return;
    const bool share = request_.shown.as == Comparison::share_of_best;
    map_.unit = share ? "percent" : "1";
    if (share && map_.better != BetterDirection::neither) map_.better = BetterDirection::more;
  }

  using RowsByCell = std::map<TileMap::Place, std::vector<Row>>;

  void find_best() {
    if (map_.better == BetterDirection::neither || map_.flat || map_.minimum == map_.maximum) return;
    // For a ratio to the model, neither direction is better.
    if (request_.shown.as == Comparison::over_model) return;
    const bool less = map_.better == BetterDirection::less;
    std::vector<TileMap::Place> valued = map_.places();
    std::erase_if(valued, [&](TileMap::Place place) { return !map_.at(place).value; });
    if (valued.empty()) return;
    const auto rank = [&](TileMap::Place place) { return less ? *map_.at(place).value : -*map_.at(place).value; };
    const auto time = [&](TileMap::Place place) { return times_.at(map_.at(place).row).value_or(never); };
    std::ranges::stable_sort(valued, {}, rank);
    const TileMap::Place best = *std::ranges::min_element(
        valued, {}, [&](TileMap::Place place) { return std::pair(rank(place), time(place)); });
    const TileCell& leader = map_.at(best);
    map_.best.push_back(best);
    std::ranges::copy_if(valued, std::back_inserter(map_.best), [&](TileMap::Place place) {
      const double value = *map_.at(place).value;
      return place != best && (less ? value <= leader.high : value >= leader.low);
    });
  }

  void find_fastest(std::span<const Row> rows) {
    const bool of_times = request_.shown == ValueSelection{.metric = std::string(metric_key::time_median_ns)};
    map_.fastest =
        of_times ? map_.best
                 : build_map(table_, rows,
                             {.layout = request_.layout, .shown = {.metric = std::string(metric_key::time_median_ns)}})
                       .best;
  }

  const PointTable& table_;
  const MapRequest& request_;
  ComparedValues compared_;
  const Metric* metric_;  ///< null if the metrics table lacks this counter
  const CodeColumn& x_codes_;
  const CodeColumn& y_codes_;
  std::vector<int> x_place_;  ///< index: code; -1 if not in the map
  std::vector<int> y_place_;
  std::set<std::int64_t> again_;  ///< cells where another run had a value
  const ValueColumn& times_;
  TileMap map_;
};

bool is_square_point(const PointSpec& point) {
  return point.problem.n_q == point.problem.n_k;
}

/// With n_k on an axis and n_q not, square problems stay square.
void follow_keys(const PointAxis& axis, PointSpec& point) {
  if (axis.covers_field("n_k") && !axis.covers_field("n_q")) point.problem.n_q = point.problem.n_k;
}

void copy_known_values(const PointAxis& axis, const PointSpec& from, PointSpec& to) {
  const bool both_square = is_square_point(from) && is_square_point(to);
  for (const std::string& name : axis.names) {
    if (const attnscope::Field* field = attnscope::find_field(name)) {
      field->restore(to, field->get(from));
    } else {
      const KnobValue* value = from.knobs.find(name);
      to.knobs.set(name, value != nullptr ? *value : KnobValue(std::int64_t{0}));  // 0 removes the knob
    }
  }
  if (both_square) follow_keys(axis, to);
}

std::optional<Row> collected_row(const TileMap& map, bool column, int place) {
  const auto count = static_cast<int>(column ? map.y.size() : map.x.size());
  for (int i = 0; i < count; ++i) {
    const TileCell& cell = map.at(column ? TileMap::Place{i, place} : TileMap::Place{place, i});
    if (cell.disposition) return cell.row;
  }
  return std::nullopt;
}

/// Returns whether cells are configurations; false if an axis is the device.
bool has_config_axes(const TileMap& map) {
  return !map.empty() && !map.x.axis.names.empty() && !map.y.axis.names.empty();
}

}  // namespace

bool MapLayout::has_one_problem() const {
  const auto of_the_kernel = [](const std::string& name) {
    if (name == "br" || name == "bc" || name == "algorithm") return true;
    return attnscope::find_field(name) == nullptr;  // a knob
  };
  return std::ranges::all_of(x.names, of_the_kernel) && std::ranges::all_of(y.names, of_the_kernel);
}

bool TileMap::has_plateau() const {
  return std::ranges::any_of(plateau, [&](Place place) { return std::ranges::find(best, place) == best.end(); });
}

std::vector<TileMap::Place> TileMap::places() const {
  std::vector<Place> places;
  for (int row = 0; row < static_cast<int>(y.size()); ++row) {
    for (int column = 0; column < static_cast<int>(x.size()); ++column) places.push_back({row, column});
  }
  return places;
}

std::vector<Row> TileMap::rows() const {
  std::vector<Row> rows;
  for (const Place place : places()) {
    if (at(place).disposition) rows.push_back(at(place).row);
  }
  return rows;
}

std::optional<TileMap::Place> TileMap::index_of(Row point) const {
  const std::vector<Place> all = places();
  const auto found =
      std::ranges::find_if(all, [&](Place place) { return at(place).disposition && at(place).row == point; });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

const MapLayout& tile_layout() {
  static const std::vector<PointAxis> axes = point_axes();
  static const MapLayout layout{*find_axis(axes, "bc"), *find_axis(axes, "br")};
  return layout;
}

std::vector<FacetPtr> fixed_facets(const MapLayout& layout) {
  const std::array axes{layout.x, layout.y};
  std::vector<FacetPtr> facets = fixed_facets(axes);
  if (sets_tile_size(layout)) return facets;
  remove_tile_facets(facets);  // Each cell uses its fastest tile with its knobs.
  return facets;
}

void remove_tile_facets(std::vector<FacetPtr>& facets) {
  std::erase_if(facets, [&](const FacetPtr& facet) {
    return facet->key == "tile" || known_algorithms().find_knob(facet->key) != nullptr;
  });
}

TileMap build_map(const PointTable& table, std::span<const Row> rows, const MapRequest& request) {
  return TileMapBuilder(table, request).build(rows);
}

TileMap build_tile_map(const PointTable& table, std::span<const Row> rows, std::string_view metric) {
  return build_map(table, rows, {.shown = {.metric = std::string(metric)}});
}

TileMap build_map_around(const PointTable& table, Row point) {
  if (!has_axis_values(table, point, tile_layout())) return {};
  std::vector<const CodeColumn*> fixed;
  for (const FacetPtr& facet : fixed_facets(tile_layout())) fixed.push_back(&table.codes(*facet));
  std::vector<Row> rows;
  for (Row row = 0; row < table.size(); ++row) {
    const auto same = [&](const CodeColumn* column) { return column->codes[row] == column->codes[point]; };
    if (std::ranges::all_of(fixed, same) && has_axis_values(table, row, tile_layout())) rows.push_back(row);
  }
  TileMap map = build_tile_map(table, rows, metric_key::time_median_ns);
  if (map.empty() || map.index_of(point)) return map;
  std::erase_if(rows, [&](Row row) { return table.run_index(row) != table.run_index(point); });
  return build_tile_map(table, rows, metric_key::time_median_ns);
}

bool has_slowdowns(const TileMap& map) {
  return map.metric == metric_key::time_median_ns && map.shown.as == Comparison::none &&
         map.better == BetterDirection::less && map.minimum.value_or(0) > 0;
}

double slowdown(const TileMap& map, double value) {
  return value / *map.minimum;
}

std::string slowdown_text(double slowdown) {
  const double percent = 100 * (slowdown - 1);
  if (percent < 0.05) return "0%";
  if (percent < 9.95) return fmt::format("+{:.1f}%", percent);
  if (percent < 99.5) return fmt::format("+{:.0f}%", percent);
  return slowdown < 9.95 ? fmt::format("{:.1f}×", slowdown) : fmt::format("{:.0f}×", slowdown);
}

std::string place_text(const TileMap& map, TileMap::Place place) {
  const auto of_axis = [](const MapAxis& axis, int at) {
    const std::string value = localized_text(axis.values[static_cast<std::size_t>(at)]);
    const bool tile = axis.axis.key() == "br" || axis.axis.key() == "bc";
    return tile ? value : fmt::format("{} {}", text(axis.axis.facet->label), value);
  };
  return fmt::format("{} × {}", of_axis(map.y, place.row), of_axis(map.x, place.column));
}

FastestTiles fastest_tiles(const TileMap& map) {
  std::vector<TileMap::Place> timed = map.places();
  std::erase_if(timed, [&](TileMap::Place place) { return !map.at(place).value; });
  std::ranges::stable_sort(timed, {}, [&](TileMap::Place place) { return *map.at(place).value; });
  const auto next = std::ranges::find_if(
      timed, [&](TileMap::Place place) { return slowdown(map, *map.at(place).value) > 1 + plateau_share; });
  return {.fastest = timed.front(),
          .next = next == timed.end() ? std::nullopt : std::optional(*next),
          .timed = timed.size()};
}

Message headline(const TileMap& map) {
  if (!has_slowdowns(map)) return {};
  const auto [fastest, next, timed] = fastest_tiles(map);
  const std::string tile = place_text(map, fastest);
  const std::string time = text(Nanoseconds(*map.minimum));
  const int percent = static_cast<int>(std::lround(100 * plateau_share));
  if (timed == 1) return msg::tile_map::headline_single{.tile = tile, .time = time};
  if (!next) return msg::tile_map::headline_alone{.percent = percent, .tile = tile, .time = time};
  return msg::tile_map::headline{.next = place_text(map, *next),
                                 .percent = percent,
                                 .slowdown = slowdown_text(slowdown(map, *map.at(*next).value)),
                                 .tile = tile,
                                 .time = time};
}

Message runs_text(const PointTable& table, const TileMap& map) {
  if (table.runs().size() < 2) return {};
  const auto titles = [&](const std::vector<RunIndex>& runs) {
    std::vector<std::string> words;
    words.reserve(runs.size());
    for (const RunIndex run : runs) words.push_back(table.runs()[run].title);
    return fmt::format("{}", fmt::join(words, ", "));
  };
  if (map.hidden.empty()) return msg::tile_map::shown_runs{.runs = titles(map.shown_runs)};
  return msg::tile_map::hidden_runs{.hidden = titles(map.hidden), .runs = titles(map.shown_runs)};
}

std::vector<Row> swept_rows(const PointTable& table, std::span<const Row> rows, const MapLayout& layout) {
  const std::vector<std::uint64_t> problems = combined_codes(table, fixed_facets(layout));
  const CodeColumn& places = table.codes(*combined_facet(layout.x, layout.y));
  std::vector<std::pair<std::uint64_t, std::uint32_t>> of_problem;
  for (const Row row : rows) {
    if (has_axis_values(table, row, layout)) of_problem.emplace_back(problems[row], places.codes[row]);
  }
  std::sort(of_problem.begin(), of_problem.end());
  of_problem.erase(std::unique(of_problem.begin(), of_problem.end()), of_problem.end());
  std::vector<Row> swept;
  for (const Row row : rows) {
    if (!has_axis_values(table, row, layout)) continue;
    const auto first = std::lower_bound(of_problem.begin(), of_problem.end(), std::pair(problems[row], 0U));
    const auto last = std::lower_bound(first, of_problem.end(), std::pair(problems[row] + 1, 0U));
    if (static_cast<std::size_t>(last - first) >= min_map_tiles) swept.push_back(row);
  }
  return swept;
}

std::vector<PointAxis> varying_axes(const PointTable& table, std::span<const Row> rows) {
  std::vector<PointAxis> varying;
  for (PointAxis& axis : point_axes()) {
    const CodeColumn& column = table.codes(*axis.facet);
    const auto differs = [&](Row row) { return column.codes[row] != column.codes[rows.front()]; };
    if (std::ranges::any_of(rows, differs)) varying.push_back(std::move(axis));
  }
  return varying;
}

std::optional<PointSpec> point_of(const PointTable& table, const TileMap& map, TileMap::Place place) {
  if (!has_config_axes(map)) return std::nullopt;
  const auto if_known_algorithm = [&](PointSpec point) {
    return table.algorithms().find(point.algorithm) != nullptr ? std::optional(std::move(point)) : std::nullopt;
  };
  const TileCell& cell = map.at(place);
  if (cell.disposition) return if_known_algorithm(table.spec(cell.row));
  const auto of_column = collected_row(map, true, place.column);
  const auto of_row = collected_row(map, false, place.row);
  if (!of_column || !of_row) return std::nullopt;
  PointSpec point = table.spec(*of_row);
  copy_known_values(map.x.axis, table.spec(*of_column), point);
  return if_known_algorithm(std::move(point));
}

}  // namespace attnscope::analysis

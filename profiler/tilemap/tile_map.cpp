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
        times_(table.values(metric_key::time_median_ns)),
        first_quartiles_(table.values(metric_key::time_q1_ns)),
        third_quartiles_(table.values(metric_key::time_q3_ns)) {
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
    for (const auto& [place, its] : rows_by_cell) fill({place.first, place.second}, its);
    check_flatness();
    find_best(rows_by_cell);
    find_plateau();
    if (request_.shown.as == Comparison::share_of_best) convert_to_shares();
    set_unit();
    if (request_.layout.has_one_problem()) find_fastest(rows_by_cell);
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
        if (group > 0) {
          map_.hidden.push_back({candidates[i].run, static_cast<int>(candidates[i].rows.size())});
          continue;
        }
        map_.shown_runs.push_back(candidates[i].run);
        shown.insert(shown.end(), candidates[i].rows.begin(), candidates[i].rows.end());
      }
    }
    for (const Candidate& asked : one_by_one) replace_cells(asked, shown);
    std::ranges::sort(map_.shown_runs, [&](RunIndex a, RunIndex b) { return is_newer(table_, a, b); });
    std::ranges::sort(map_.hidden,
                      [&](const HiddenRun& a, const HiddenRun& b) { return is_newer(table_, a.run, b.run); });
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
    for (const auto& row : map_.cells) {
      for (const TileCell& each : row) {
        if (each.value && each.high > each.low) widths.push_back(each.high - each.low);
      }
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
    for (int row = 0; row < static_cast<int>(map_.y.size()); ++row) {
      for (int column = 0; column < static_cast<int>(map_.x.size()); ++column) {
        const auto value = cell({row, column}).value;
        if (!value) continue;
        if (less ? *value <= best * (1 + plateau_share) : *value >= best * (1 - plateau_share)) {
          map_.plateau.push_back({row, column});
        }
      }
    }
  }

  /// Converts values to percent of the best; cells have no value if the metric has no better direction.
  void convert_to_shares() {
    const bool less = map_.better == BetterDirection::less;
    std::optional<double> best;
    for (const auto& line : map_.cells) {
      for (const TileCell& each : line) {
        if (!each.value || *each.value <= 0) continue;
        if (!best || (less ? *each.value < *best : *each.value > *best)) best = each.value;
      }
    }
    map_.minimum.reset();
    map_.maximum.reset();
    for (auto& line : map_.cells) {
      for (TileCell& each : line) {
        if (!each.value) continue;
        const double own = *each.value;
        each.value.reset();
        if (!best || map_.better == BetterDirection::neither || own <= 0 || each.low <= 0) continue;
        const auto share = [&](double value) { return 100 * (less ? *best / value : value / *best); };
        each.own = own;
        each.over = best;
        each.value = share(own);
        each.low = share(each.low);
        each.high = share(each.high);
        if (each.low > each.high) std::swap(each.low, each.high);
        if (each.provenance == Provenance::measured) each.provenance = Provenance::derived;
        map_.minimum = std::min(map_.minimum.value_or(never), *each.value);
        map_.maximum = std::max(map_.maximum.value_or(-never), *each.value);
      }
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

  using RowsByCell = std::map<std::pair<int, int>, std::vector<Row>>;

  [[nodiscard]] double time_at(TileMap::Place place) { return times_.at(cell(place).row).value_or(never); }

  void find_best(const RowsByCell& rows_by_cell) {
    if (map_.better == BetterDirection::neither || map_.flat || map_.minimum == map_.maximum) return;
    // For a ratio to the model, neither direction is better.
    if (request_.shown.as == Comparison::over_model) return;
    const bool less = map_.better == BetterDirection::less;
    std::optional<TileMap::Place> best;
    for (const auto& [at, rows] : rows_by_cell) {
      const TileMap::Place place{at.first, at.second};
      const auto value = cell(place).value;
      if (!value) continue;
      const auto leader = best ? cell(*best).value : std::nullopt;
      const bool ahead = !leader || (less ? *value < *leader : *value > *leader);
      if (ahead || (*value == *leader && time_at(place) < time_at(*best))) best = place;
    }
    if (!best) return;
    map_.best.push_back(*best);
    const TileCell& leader = cell(*best);
    for (const auto& [at, rows] : rows_by_cell) {
      const TileMap::Place place{at.first, at.second};
      const auto value = cell(place).value;
      if (!value || place == *best) continue;
      if (less ? *value <= leader.high : *value >= leader.low) map_.best.push_back(place);
    }
    std::stable_sort(map_.best.begin() + 1, map_.best.end(), [&](TileMap::Place a, TileMap::Place b) {
      return less ? *cell(a).value < *cell(b).value : *cell(a).value > *cell(b).value;
    });
  }

  [[nodiscard]] std::optional<Row> median_time_row(const std::vector<Row>& rows) const {
    std::vector<Row> timed;
    std::ranges::copy_if(rows, std::back_inserter(timed),
                         [&](Row row) { return has_values(table_.disposition(row)) && times_.has(row); });
    if (timed.empty()) return {};
    std::ranges::stable_sort(timed, [&](Row a, Row b) { return times_.value(a) < times_.value(b); });
    return timed[(timed.size() - 1) / 2];
  }

  [[nodiscard]] bool are_times_equal(const std::vector<std::pair<Row, TileMap::Place>>& timed) const {
    std::vector<double> widths;
    double shortest = never;
    double longest = 0;
    for (const auto& [row, place] : timed) {
      shortest = std::min(shortest, times_.value(row));
      longest = std::max(longest, times_.value(row));
      if (!first_quartiles_.has(row) || !third_quartiles_.has(row)) continue;
      widths.push_back(third_quartiles_.value(row) - first_quartiles_.value(row));
    }
    return timed.size() > 1 && !widths.empty() && longest - shortest <= summarize(widths)->median;
  }

  void find_fastest(const RowsByCell& rows_by_cell) {
    std::vector<std::pair<Row, TileMap::Place>> timed;
    for (const auto& [at, rows] : rows_by_cell) {
      if (const auto row = median_time_row(rows)) timed.push_back({*row, {at.first, at.second}});
    }
    if (timed.empty() || are_times_equal(timed)) return;
    std::ranges::stable_sort(
        timed, [&](const auto& a, const auto& b) { return times_.value(a.first) < times_.value(b.first); });
    const Row leader = timed.front().first;
    const double limit = std::max(times_.value(leader), third_quartiles_.at(leader).value_or(times_.value(leader)));
    for (const auto& [row, place] : timed) {
      if (times_.value(row) <= limit) map_.fastest.push_back(place);
    }
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
  const ValueColumn& first_quartiles_;
  const ValueColumn& third_quartiles_;
  TileMap map_;
};

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

std::vector<Row> TileMap::rows() const {
  std::vector<Row> rows;
  for (const auto& line : cells) {
    for (const TileCell& cell : line) {
      if (cell.disposition) rows.push_back(cell.row);
    }
  }
  return rows;
}

std::optional<TileMap::Place> TileMap::index_of(Row point) const {
  for (std::size_t row = 0; row < cells.size(); ++row) {
    const auto found =
        std::ranges::find_if(cells[row], [&](const TileCell& cell) { return cell.disposition && cell.row == point; });
    if (found == cells[row].end()) continue;
    return Place{static_cast<int>(row), static_cast<int>(found - cells[row].begin())};
  }
  return std::nullopt;
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

int MapAxis::index_of(double number) const {
  const auto found = std::ranges::find(values, number, &FacetValue::order);
  return found == values.end() ? -1 : static_cast<int>(found - values.begin());
}

int MapAxis::index_of(std::string_view id) const {
  const auto found = std::ranges::find_if(values, [&](const FacetValue& value) { return value.id() == id; });
  return found == values.end() ? -1 : static_cast<int>(found - values.begin());
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
  std::optional<TileMap::Place> fastest;
  std::optional<TileMap::Place> next;
  std::size_t timed = 0;
  const auto is_faster = [&](double value, const std::optional<TileMap::Place>& than) {
    return !than || value < *map.at(*than).value;
  };
  for (int row = 0; row < static_cast<int>(map.y.size()); ++row) {
    for (int column = 0; column < static_cast<int>(map.x.size()); ++column) {
      const TileMap::Place place{row, column};
      const std::optional<double> value = map.at(place).value;
      if (!value) continue;
      ++timed;
      if (is_faster(*value, fastest)) fastest = place;
      if (slowdown(map, *value) > 1 + plateau_share && is_faster(*value, next)) next = place;
    }
  }
  return {.fastest = *fastest, .next = next, .timed = timed};
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
  std::vector<std::string> shown;
  for (const RunIndex run : map.shown_runs) shown.push_back(table.runs()[run].title);
  const std::string runs = fmt::format("{}", fmt::join(shown, ", "));
  if (map.hidden.empty()) return msg::tile_map::shown_runs{.runs = runs};
  std::vector<std::string> hidden;
  for (const HiddenRun& run : map.hidden) hidden.push_back(table.runs()[run.run].title);
  return msg::tile_map::hidden_runs{.hidden = fmt::format("{}", fmt::join(hidden, ", ")), .runs = runs};
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

}  // namespace attnscope::analysis

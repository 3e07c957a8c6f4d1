// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/tile_map.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "profiler/analysis/facets.h"

namespace attnscope::analysis {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Place of a value among sorted grid values, between two of them in proportion to its logarithm.
double place_among(const std::vector<int>& values, double wanted) {
  const auto above = std::lower_bound(values.begin(), values.end(), wanted);
  const auto index = static_cast<double>(above - values.begin());
  if (above == values.end()) return static_cast<double>(values.size() - 1) + (wanted > values.back() ? 1 : 0);
  if (*above == wanted) return index;
  if (above == values.begin()) return -1;
  const double low = *(above - 1);
  const double high = *above;
  return index - 1 + std::log(wanted / low) / std::log(high / low);
}

int index_of(const std::vector<int>& values, int value) {
  return static_cast<int>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
}

/// Points without counters still have times, registers and the model.
bool counts(Disposition disposition) {
  return disposition == Disposition::ok || disposition == Disposition::no_counters;
}

/// Whether a counter's value came of a GPU, whoever ran it: only there two counts differ.
bool counted(Provenance provenance) {
  return provenance == Provenance::measured || provenance == Provenance::derived || provenance == Provenance::imported;
}

std::int64_t tile_place(const TileShape& tile) {
  return (static_cast<std::int64_t>(tile.br) << 32) | tile.bc;
}

class TileMapBuilder {
 public:
  TileMapBuilder(const PointTable& table, std::string_view metric)
      : table_(table),
        metric_(find_metric(metric)),
        values_(table.values(metric)),
        times_(table.values(metric_key::time_median_ns)),
        first_quartiles_(table.values(metric_key::time_q1_ns)),
        third_quartiles_(table.values(metric_key::time_q3_ns)) {
    map_.metric = std::string(metric);
    if (metric_ == nullptr) return;
    map_.unit = std::string(metric_->unit);
    map_.better = metric_->better;
  }

  TileMap build(std::span<const Row> given) {
    std::vector<Row> rows;
    std::ranges::copy_if(given, std::back_inserter(rows), [&](Row row) { return tile_stated(tile(row)); });
    rows = rows_shown(rows);
    if (rows.empty()) return std::move(map_);
    lay_out(rows);
    std::map<std::pair<int, int>, std::vector<Row>> of_cell;
    for (const Row row : rows) {
      of_cell[{index_of(map_.br, tile(row).br), index_of(map_.bc, tile(row).bc)}].push_back(row);
    }
    for (const auto& [place, its] : of_cell) fill({place.first, place.second}, its);
    judge_colours();
    find_best(of_cell);
    find_fastest(of_cell);
    place_paper_mark(rows.front());
    tell_kernels_apart();
    return std::move(map_);
  }

 private:
  [[nodiscard]] const TileShape& tile(Row row) const { return table_.tile_of(row).tile; }
  [[nodiscard]] TileCell& cell(TileMap::Place place) {
    return map_.cells[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.column)];
  }

  /// The rows of the runs that are shown; the others are noted as hidden.
  std::vector<Row> rows_shown(const std::vector<Row>& rows) {
    struct Candidate {
      RunIndex run = 0;
      std::vector<Row> rows;
      std::set<std::int64_t> tiles;

      [[nodiscard]] bool is_map() const { return tiles.size() >= fewest_tiles_of_a_map; }
    };
    std::map<RunIndex, Candidate> of_run;
    for (const Row row : rows) {
      Candidate& candidate = of_run[table_.run_index(row)];
      candidate.run = table_.run_index(row);
      candidate.rows.push_back(row);
      candidate.tiles.insert(tile_place(tile(row)));
    }
    std::vector<Candidate> candidates;
    candidates.reserve(of_run.size());
    for (auto& [run, candidate] : of_run) candidates.push_back(std::move(candidate));
    std::ranges::sort(candidates, [&](const Candidate& a, const Candidate& b) {
      if (a.is_map() != b.is_map()) return a.is_map();
      return newer(table_, a.run, b.run);
    });
    std::vector<std::vector<std::int64_t>> places;
    places.reserve(candidates.size());
    for (const Candidate& candidate : candidates) {
      places.emplace_back(candidate.tiles.begin(), candidate.tiles.end());
    }
    const auto groups = disjoint_groups(places);
    std::vector<Row> shown;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      for (const std::size_t i : groups[group]) {
        if (group > 0) {
          map_.hidden.push_back({candidates[i].run, static_cast<int>(candidates[i].rows.size())});
          continue;
        }
        map_.shown.push_back(candidates[i].run);
        shown.insert(shown.end(), candidates[i].rows.begin(), candidates[i].rows.end());
      }
    }
    std::ranges::sort(map_.shown, [&](RunIndex a, RunIndex b) { return newer(table_, a, b); });
    std::ranges::sort(map_.hidden, [&](const HiddenRun& a, const HiddenRun& b) { return newer(table_, a.run, b.run); });
    std::ranges::sort(shown);
    return shown;
  }

  void lay_out(const std::vector<Row>& rows) {
    std::set<int> br;
    std::set<int> bc;
    for (const Row row : rows) {
      br.insert(tile(row).br);
      bc.insert(tile(row).bc);
    }
    map_.br.assign(br.begin(), br.end());
    map_.bc.assign(bc.begin(), bc.end());
    map_.cells.assign(map_.br.size(), std::vector<TileCell>(map_.bc.size()));
  }

  /// How far a value's samples scatter; the value itself where it has none.
  [[nodiscard]] Quartiles scatter(Row row) const {
    const double value = values_.value(row);
    if (metric_ != nullptr && metric_->count_spread > 0 && counted(values_.provenance(row))) {
      const double half = metric_->count_spread / 2 * value;
      return {value - half, value + half};
    }
    const auto time = times_.at(row);
    if (metric_ == nullptr || !time || !first_quartiles_.has(row) || !third_quartiles_.has(row)) return {value, value};
    return quartiles(*metric_, value, *time, {first_quartiles_.value(row), third_quartiles_.value(row)})
        .value_or(Quartiles{value, value});
  }

  void fill(TileMap::Place place, const std::vector<Row>& rows) {
    TileCell& target = cell(place);
    ++map_.collected;
    // An ok point speaks for its tile, whatever came before or after it.
    target.row = rows.back();
    for (const Row row : rows) {
      if (table_.disposition(row) == Disposition::ok) target.row = row;
    }
    std::vector<Row> valued;
    std::ranges::copy_if(rows, std::back_inserter(valued),
                         [&](Row row) { return counts(table_.disposition(row)) && values_.has(row); });
    if (!valued.empty()) {
      std::ranges::stable_sort(valued, [&](Row a, Row b) { return values_.value(a) < values_.value(b); });
      target.row = valued[(valued.size() - 1) / 2];
      target.value = values_.value(target.row);
      target.provenance = values_.provenance(target.row);
      target.repeats = static_cast<int>(valued.size());
      target.low = never;
      target.high = -never;
      for (const Row row : valued) {
        const Quartiles interval = scatter(row);
        target.low = std::min(target.low, interval.q1);
        target.high = std::max(target.high, interval.q3);
      }
      target.throttled = metric_ != nullptr && metric_->follows_clocks && table_.throttled(target.row);
      map_.minimum = std::min(map_.minimum.value_or(never), *target.value);
      map_.maximum = std::max(map_.maximum.value_or(-never), *target.value);
    }
    target.disposition = table_.disposition(target.row);
    if (target.disposition == Disposition::ok) ++map_.ok;
  }

  void tell_kernels_apart() {
    std::map<KernelKind, std::vector<TileCell*>> cells_of;
    for (auto& line : map_.cells) {
      for (TileCell& each : line) {
        if (!each.disposition) continue;
        KernelKind kind = table_.points().kernel_kind(each.row);
        // What did not run has no kernel, and nobody wrote one down.
        if (kind.recorded() || counts(*each.disposition)) cells_of[std::move(kind)].push_back(&each);
      }
    }
    if (cells_of.size() < 2) return;
    std::vector<std::pair<KernelKind, std::vector<TileCell*>>> kinds(cells_of.begin(), cells_of.end());
    std::ranges::stable_sort(kinds, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
    std::vector<KernelKind> names;
    names.reserve(kinds.size());
    for (auto& [kind, cells] : kinds) {
      for (TileCell* each : cells) each->kernel = static_cast<int>(names.size());
      names.push_back(std::move(kind));
    }
    const std::vector<std::string> words = distinguishing_words(names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      map_.kernels.push_back({std::move(names[i]), words[i], static_cast<int>(kinds[i].second.size())});
    }
  }

  void judge_colours() {
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

  using RowsOfCell = std::map<std::pair<int, int>, std::vector<Row>>;

  [[nodiscard]] double time_at(TileMap::Place place) { return times_.at(cell(place).row).value_or(never); }

  void find_best(const RowsOfCell& of_cell) {
    if (map_.better == Better::neither || map_.flat || map_.minimum == map_.maximum) return;
    const bool less = map_.better == Better::less;
    std::optional<TileMap::Place> best;
    for (const auto& [at, rows] : of_cell) {
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
    for (const auto& [at, rows] : of_cell) {
      const TileMap::Place place{at.first, at.second};
      const auto value = cell(place).value;
      if (!value || place == *best) continue;
      if (less ? *value <= leader.high : *value >= leader.low) map_.best.push_back(place);
    }
    std::stable_sort(map_.best.begin() + 1, map_.best.end(), [&](TileMap::Place a, TileMap::Place b) {
      return less ? *cell(a).value < *cell(b).value : *cell(a).value > *cell(b).value;
    });
  }

  /// The median time of a cell's rows, whatever the metric shown.
  [[nodiscard]] std::optional<Row> timed_row(const std::vector<Row>& rows) const {
    std::vector<Row> timed;
    std::ranges::copy_if(rows, std::back_inserter(timed),
                         [&](Row row) { return counts(table_.disposition(row)) && times_.has(row); });
    if (timed.empty()) return {};
    std::ranges::stable_sort(timed, [&](Row a, Row b) { return times_.value(a) < times_.value(b); });
    return timed[(timed.size() - 1) / 2];
  }

  /// Whether times differ by no more than they scatter: none is known to be the shortest.
  [[nodiscard]] bool times_alike(const std::vector<std::pair<Row, TileMap::Place>>& timed) const {
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

  void find_fastest(const RowsOfCell& of_cell) {
    std::vector<std::pair<Row, TileMap::Place>> timed;
    for (const auto& [at, rows] : of_cell) {
      if (const auto row = timed_row(rows)) timed.push_back({*row, {at.first, at.second}});
    }
    if (timed.empty() || times_alike(timed)) return;
    std::ranges::stable_sort(
        timed, [&](const auto& a, const auto& b) { return times_.value(a.first) < times_.value(b.first); });
    const Row leader = timed.front().first;
    const double limit = std::max(times_.value(leader), third_quartiles_.at(leader).value_or(times_.value(leader)));
    for (const auto& [row, place] : timed) {
      if (times_.value(row) <= limit) map_.fastest.push_back(place);
    }
  }

  /// The rule that the paper gives is for the algorithm that it is about; it says nothing of others' tiles.
  void place_paper_mark(Row any) {
    const Algorithm* algorithm = table_.algorithms().find(table_.algorithm(any));
    const AttentionProblem problem = table_.problem(any);
    const std::int64_t m = table_.run(any).limits.sram_elements(bytes_per_element(problem.dtype));
    if (algorithm == nullptr || !algorithm->facts().in(Group::paper_blocks) || m <= 0) return;
    PaperMark mark;
    mark.tile = paper_tile(m, problem.d);
    mark.column = place_among(map_.bc, static_cast<double>(mark.tile.bc));
    mark.row = place_among(map_.br, static_cast<double>(mark.tile.br));
    mark.inside = mark.column >= 0 && mark.column <= static_cast<double>(map_.bc.size()) - 1 && mark.row >= 0 &&
                  mark.row <= static_cast<double>(map_.br.size()) - 1;
    map_.paper = mark;
  }

  const PointTable& table_;
  const Metric* metric_;  ///< none of a counter that the table of metrics does not have
  const ValueColumn& values_;
  const ValueColumn& times_;
  const ValueColumn& first_quartiles_;
  const ValueColumn& third_quartiles_;
  TileMap map_;
};

}  // namespace

TileMap build_tile_map(const PointTable& table, std::span<const Row> rows, std::string_view metric) {
  return TileMapBuilder(table, metric).build(rows);
}

std::vector<Row> swept_rows(const PointTable& table, std::span<const Row> rows) {
  const std::vector<std::uint64_t> problems = combined_codes(table, map_facets(table.algorithms()));
  const CodeColumn& tiles = table.codes(*tile_facet());
  std::vector<std::pair<std::uint64_t, std::uint32_t>> of_problem;
  for (const Row row : rows) {
    if (tile_stated(table.tile_of(row).tile)) of_problem.emplace_back(problems[row], tiles.codes[row]);
  }
  std::sort(of_problem.begin(), of_problem.end());
  of_problem.erase(std::unique(of_problem.begin(), of_problem.end()), of_problem.end());
  std::vector<Row> swept;
  for (const Row row : rows) {
    if (!tile_stated(table.tile_of(row).tile)) continue;
    const auto first = std::lower_bound(of_problem.begin(), of_problem.end(), std::pair(problems[row], 0U));
    const auto last = std::lower_bound(first, of_problem.end(), std::pair(problems[row] + 1, 0U));
    if (static_cast<std::size_t>(last - first) >= fewest_tiles_of_a_map) swept.push_back(row);
  }
  return swept;
}

}  // namespace attnscope::analysis

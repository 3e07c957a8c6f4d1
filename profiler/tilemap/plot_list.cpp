// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/plot_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "profiler/tilemap/tile_map.h"

namespace attnscope::analysis {

namespace {

void plan_curves(const PointTable& table, std::vector<Plot>& plots) {
  constexpr std::array kinds{PlotKind::bytes, PlotKind::time, PlotKind::rate};
  curve_filter().for_each_problem(table, table.rows(), [&](const ProblemFilter& filter) {
    if (is_tile_map_only(table, filter.rows())) return;
    std::vector<TileSelection> tiles;
    for (KnobValueChoice& value : swept_knob_values(table, filter.rows())) {
      tiles.push_back({TileSelection::Rule::widest, {}, std::move(value)});
    }
    if (tiles.empty()) tiles.emplace_back();
    for (const TileSelection& tile : tiles) {
      for (const PlotKind kind : kinds) {
        Plot plot{kind, {}, filter, tile, {}};
        const bool shown =
            std::ranges::any_of(filter.rows(), [&](Row row) { return has_result(table, row, plot.ordinate()); });
        if (!shown) continue;
        plot.stem = curve_stem(plot.ordinate(), filter, tile);
        plots.push_back(std::move(plot));
      }
    }
  });
}

void plan_maps(const PointTable& table, std::vector<Plot>& plots) {
  // Prefer settled DRAM bytes if known.
  constexpr std::array<std::array<std::string_view, 2>, 3> wanted{
      {{metric_key::time_median_ns},
       {metric_key::l2_sm_bytes},
       {metric_key::dram_settled_bytes, metric_key::dram_bytes}}};
  map_filter().for_each_problem(table, swept_rows(table, table.rows()), [&](const ProblemFilter& filter) {
    for (const auto& metrics : wanted) {
      const auto* metric = std::ranges::find_if(metrics, [&](std::string_view key) {
        return !key.empty() && build_tile_map(table, filter.rows(), key).minimum.has_value();
      });
      if (metric == metrics.end()) continue;
      plots.push_back({PlotKind::maps, map_stem(filter, *metric), filter, {}, std::string(*metric)});
    }
  });
}

constexpr double no_time = std::numeric_limits<double>::infinity();

double time_of(const PointTable& table, Row row) {
  return table.values(metric_key::time_median_ns).at(row).value_or(no_time);
}

/// Positions and total time of a tile.
struct TileCoverage {
  std::set<double> places;
  double time = 0;
};

std::map<std::uint32_t, TileCoverage> coverage_by_tile(const PointTable& table, std::span<const Row> rows,
                                                       const Positioning& positioning) {
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  std::map<std::uint32_t, TileCoverage> covers;
  for (const Row row : rows) {
    TileCoverage& cover = covers[table.tile_code(row)];
    if (!positioning.has_value(row)) continue;
    cover.places.insert(positioning.place(row));
    cover.time += times.at(row).value_or(0);
  }
  return covers;
}

/// Pre: rows are not empty.
std::uint32_t widest_tile(const PointTable& table, std::span<const Row> rows, std::span<const Row> family,
                          const Positioning& positioning) {
  const auto here = coverage_by_tile(table, rows, positioning);
  const auto everywhere = coverage_by_tile(table, family, positioning);
  const auto rank = [&](const auto& entry) {
    const auto all = everywhere.find(entry.first);
    return std::tuple(entry.second.places.size(), all == everywhere.end() ? 0 : all->second.places.size(),
                      -entry.second.time);
  };
  return std::ranges::max_element(here, [&](const auto& a, const auto& b) { return rank(a) < rank(b); })->first;
}

/// Returns the knob's values if some N has several; otherwise an empty set.
std::set<std::int64_t> knob_values_of(const PointTable& table, std::span<const Row> rows, std::string_view knob) {
  std::map<std::int64_t, std::set<std::int64_t>> at_length;
  std::set<std::int64_t> all;
  for (const Row row : rows) {
    const std::int64_t value = table.tile_of(row).knobs.number(knob);
    at_length[table.n_k(row)].insert(value);
    all.insert(value);
  }
  const bool swept = std::ranges::any_of(at_length, [](const auto& entry) { return entry.second.size() > 1; });
  return swept ? all : std::set<std::int64_t>{};
}

/// Returns the fastest tile at each position, the first in a tie.
std::map<double, std::uint32_t> fastest_tiles(const PointTable& table, std::span<const Row> rows,
                                              const Positioning& positioning) {
  std::map<double, Row> fastest;
  for (const Row row : rows) {
    const auto [entry, fresh] = fastest.try_emplace(positioning.place(row), row);
    if (time_of(table, row) < time_of(table, entry->second)) entry->second = row;
  }
  std::map<double, std::uint32_t> chosen;
  for (const auto& [place, row] : fastest) chosen[place] = table.tile_code(row);
  return chosen;
}

}  // namespace

ProblemFilter curve_filter() {
  return {curve_facets(), key_length_facet()};
}

ProblemFilter map_filter() {
  return {map_facets(), tile_facet()};
}

std::string_view to_string(Ordinate ordinate) {
  static constexpr std::array<std::string_view, 3> names{"io", "time", "tflops"};
  return names.at(static_cast<std::size_t>(ordinate));
}

std::string curve_stem(Ordinate ordinate, const ProblemFilter& filter, const TileSelection& tile) {
  std::string stem = fmt::format("{}{}", to_string(ordinate), filter.stem());
  if (tile.swept) {
    stem += fmt::format("-{}{}", tile.swept->knob, tile.swept->value > 0 ? std::to_string(tile.swept->value) : "auto");
  }
  if (tile.rule == TileSelection::Rule::fastest) stem += "-fastest";
  if (tile.rule == TileSelection::Rule::exact) {
    std::string words = describe(tile.tile);
    std::ranges::replace(words, ' ', '-');
    stem += "-tile" + words;
  }
  return stem;
}

std::string map_stem(const ProblemFilter& filter, std::string_view metric) {
  return fmt::format("tiles{}-{}", filter.stem(), metric);
}

Ordinate Plot::ordinate() const {
  return kind == PlotKind::time ? Ordinate::time : kind == PlotKind::rate ? Ordinate::rate : Ordinate::bytes;
}

std::vector<Plot> plan_plots(const PointTable& table) {
  std::vector<Plot> plots;
  plan_curves(table, plots);
  plan_maps(table, plots);
  return plots;
}

bool is_tile_map_only(const PointTable& table, std::span<const Row> rows) {
  std::set<std::int64_t> lengths;
  std::map<std::string_view, std::set<std::pair<int, int>>> tiles;
  for (const Row row : rows) {
    lengths.insert(table.n_k(row));
    const TileShape& tile = table.tile_of(row).tile;
    if (has_tile(tile)) tiles[table.algorithm(row)].emplace(tile.br, tile.bc);
  }
  return lengths.size() == 1 &&
         std::ranges::any_of(tiles, [](const auto& entry) { return entry.second.size() >= min_map_tiles; });
}

bool has_value(const PointTable& table, Row row, Ordinate ordinate) {
  if (ordinate != Ordinate::bytes) return table.values(metric_key::time_median_ns).has(row);
  return table.dram_traffic().has(row) || table.values(metric_key::l2_sm_bytes).has(row);
}

bool has_result(const PointTable& table, Row row, Ordinate ordinate) {
  return has_value(table, row, ordinate) || table.disposition(row) != Disposition::ok;
}

Positioning position_by_length(const PointTable& table, Ordinate ordinate) {
  return {[&table](Row row) { return static_cast<double>(table.n_k(row)); },
          [&table, ordinate](Row row) { return has_value(table, row, ordinate); }};
}

RowsByPlace select_rows(const PointTable& table, std::span<const Row> rows, std::span<const Row> family,
                        const TileSelection& choice, const Positioning& positioning) {
  std::vector<Row> left(rows.begin(), rows.end());
  if (choice.swept && !knob_values_of(table, family, choice.swept->knob).empty()) {
    std::erase_if(left,
                  [&](Row row) { return table.tile_of(row).knobs.number(choice.swept->knob) != choice.swept->value; });
  }
  RowsByPlace selected_rows;
  if (left.empty()) return selected_rows;
  if (choice.rule == TileSelection::Rule::exact) {
    for (const Row row : left) {
      const Config& config = table.tile_of(row);
      // Points without a known tile always match.
      if (config == choice.tile || !has_tile(config.tile)) selected_rows[positioning.place(row)].push_back(row);
    }
    return selected_rows;
  }
  std::map<double, std::uint32_t> chosen = fastest_tiles(table, left, positioning);
  if (choice.rule == TileSelection::Rule::widest) {
    const std::uint32_t widest = widest_tile(table, left, family, positioning);
    for (const Row row : left) {
      if (table.tile_code(row) == widest) chosen[positioning.place(row)] = widest;
    }
  }
  for (const Row row : left) {
    const double place = positioning.place(row);
    if (chosen[place] == table.tile_code(row)) selected_rows[place].push_back(row);
  }
  return selected_rows;
}

std::vector<Config> tiles_of(const PointTable& table, std::span<const Row> rows) {
  std::map<std::uint32_t, std::set<std::int64_t>> lengths;
  for (const Row row : rows) {
    if (has_tile(table.tile_of(row).tile)) lengths[table.tile_code(row)].insert(table.n_k(row));
  }
  std::vector<std::uint32_t> codes;
  codes.reserve(lengths.size());
  for (const auto& [code, covered] : lengths) codes.push_back(code);
  std::ranges::stable_sort(codes, [&](auto a, auto b) { return lengths[a].size() > lengths[b].size(); });
  std::vector<Config> tiles;
  tiles.reserve(codes.size());
  for (const std::uint32_t code : codes) tiles.push_back(table.tile(code));
  return tiles;
}

std::vector<KnobValueChoice> swept_knob_values(const PointTable& table, std::span<const Row> rows) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<Row>> algorithm_hue;  // key: algorithm and device
  for (const Row row : rows) {
    if (!has_tile(table.tile_of(row).tile)) continue;
    algorithm_hue[{table.algorithm(row), table.run(row).device_id}].push_back(row);
  }
  std::vector<KnobValueChoice> values;
  for (const Knob& knob : table.algorithms().knobs()) {
    if (!knob.separate_curves) continue;
    std::set<std::int64_t> all;
    for (const auto& [key, its] : algorithm_hue) all.merge(knob_values_of(table, its, knob.name));
    for (const std::int64_t value : all) values.push_back({knob.name, value});
  }
  return values;
}

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/tile_selection.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {
namespace {

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
  std::map<double, std::uint32_t> chosen;
  std::map<double, double> best;
  for (const Row row : rows) {
    const double place = positioning.place(row);
    const double time = time_of(table, row);
    const auto [entry, fresh] = best.try_emplace(place, time);
    if (!fresh && time >= entry->second) continue;
    entry->second = time;
    chosen[place] = table.tile_code(row);
  }
  return chosen;
}

}  // namespace

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

// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/tile_choice.h"

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

/// What a tile covers.
struct Cover {
  std::set<std::int64_t> lengths;
  double time = 0;
};

std::map<std::uint32_t, Cover> covers_of(const PointTable& table, std::span<const Row> rows, Ordinate ordinate) {
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  std::map<std::uint32_t, Cover> covers;
  for (const Row row : rows) {
    Cover& cover = covers[table.tile_code(row)];
    if (!has_value(table, row, ordinate)) continue;
    cover.lengths.insert(table.n_k(row));
    cover.time += times.at(row).value_or(0);
  }
  return covers;
}

/// Pre: rows are not empty.
std::uint32_t widest_tile(const PointTable& table, std::span<const Row> rows, std::span<const Row> family,
                          Ordinate ordinate) {
  const auto here = covers_of(table, rows, ordinate);
  const auto everywhere = covers_of(table, family, ordinate);
  const auto rank = [&](const auto& entry) {
    const auto all = everywhere.find(entry.first);
    return std::tuple(entry.second.lengths.size(), all == everywhere.end() ? 0 : all->second.lengths.size(),
                      -entry.second.time);
  };
  return std::ranges::max_element(here, [&](const auto& a, const auto& b) { return rank(a) < rank(b); })->first;
}

/// Values of the knob where one N has several; else empty.
std::set<std::int64_t> swept_values_of(const PointTable& table, std::span<const Row> rows, std::string_view knob) {
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

/// At each N the rows whose tile `chosen` maps to it.
RowsByLength rows_with(const PointTable& table, std::span<const Row> rows,
                       const std::map<std::int64_t, std::uint32_t>& chosen) {
  RowsByLength by_length;
  for (const Row row : rows) {
    const auto entry = chosen.find(table.n_k(row));
    if (entry != chosen.end() && entry->second == table.tile_code(row)) by_length[entry->first].push_back(row);
  }
  return by_length;
}

RowsByLength fastest_rows(const PointTable& table, std::span<const Row> rows) {
  std::map<std::int64_t, std::pair<double, std::uint32_t>> fastest;
  for (const Row row : rows) {
    const std::pair candidate{time_of(table, row), table.tile_code(row)};
    const auto [entry, fresh] = fastest.try_emplace(table.n_k(row), candidate);
    if (!fresh && candidate.first < entry->second.first) entry->second = candidate;
  }
  std::map<std::int64_t, std::uint32_t> chosen;
  for (const auto& [n, candidate] : fastest) chosen[n] = candidate.second;
  return rows_with(table, rows, chosen);
}

RowsByLength exact_rows(const PointTable& table, std::span<const Row> rows, const Config& tile) {
  RowsByLength by_length;
  for (const Row row : rows) {
    const Config& its = table.tile_of(row);
    // Who does not say a tile cannot be asked for one.
    if (its == tile || !tile_stated(its.tile)) by_length[table.n_k(row)].push_back(row);
  }
  return by_length;
}

RowsByLength widest_rows(const PointTable& table, std::span<const Row> rows, std::span<const Row> family,
                         Ordinate ordinate) {
  if (rows.empty()) return {};
  const std::uint32_t tile = widest_tile(table, rows, family, ordinate);
  std::map<std::int64_t, std::uint32_t> chosen;
  for (const Row row : rows) {
    const auto [entry, fresh] = chosen.try_emplace(table.n_k(row), table.tile_code(row));
    if (table.tile_code(row) == tile) entry->second = tile;
  }
  return rows_with(table, rows, chosen);
}

}  // namespace

bool has_value(const PointTable& table, Row row, Ordinate ordinate) {
  if (ordinate != Ordinate::bytes) return table.values(metric_key::time_median_ns).has(row);
  return table.dram_traffic().has(row) || table.values(metric_key::l2_sm_bytes).has(row);
}

bool shows_on(const PointTable& table, Row row, Ordinate ordinate) {
  return has_value(table, row, ordinate) || table.disposition(row) != Disposition::ok;
}

RowsByLength standing_rows(const PointTable& table, std::span<const Row> rows, std::span<const Row> family,
                           const TileSelection& choice, Ordinate ordinate) {
  std::vector<Row> left(rows.begin(), rows.end());
  if (choice.swept && !swept_values_of(table, family, choice.swept->knob).empty()) {
    std::erase_if(left,
                  [&](Row row) { return table.tile_of(row).knobs.number(choice.swept->knob) != choice.swept->value; });
  }
  switch (choice.rule) {
    case TileSelection::Rule::fastest:
      return fastest_rows(table, left);
    case TileSelection::Rule::exact:
      return exact_rows(table, left, choice.tile);
    case TileSelection::Rule::widest:
      break;
  }
  return widest_rows(table, left, family, ordinate);
}

std::vector<Config> tiles_of(const PointTable& table, std::span<const Row> rows) {
  std::map<std::uint32_t, std::set<std::int64_t>> lengths;
  for (const Row row : rows) {
    if (tile_stated(table.tile_of(row).tile)) lengths[table.tile_code(row)].insert(table.n_k(row));
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

std::vector<SweptValue> swept_values(const PointTable& table, std::span<const Row> rows) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<Row>> of_algorithm;  // on a device
  for (const Row row : rows) {
    if (!tile_stated(table.tile_of(row).tile)) continue;
    of_algorithm[{table.algorithm(row), table.run(row).device_id}].push_back(row);
  }
  std::vector<SweptValue> values;
  for (const Knob& knob : table.algorithms().knobs()) {
    if (!knob.beside_n) continue;
    std::set<std::int64_t> all;
    for (const auto& [key, its] : of_algorithm) all.merge(swept_values_of(table, its, knob.name));
    for (const std::int64_t value : all) values.push_back({knob.name, value});
  }
  return values;
}

}  // namespace attnscope::analysis

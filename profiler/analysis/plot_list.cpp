// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/plot_list.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "profiler/analysis/problem_filter.h"
#include "profiler/analysis/tile_map.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {
namespace {

/// Calls `visit` with the choices that lead to each problem.
void for_each_problem(const PointTable& table, ProblemFilter& filter, const std::vector<Row>& rows, std::size_t field,
                      Choices& choices, const std::function<void(const Choices&)>& visit) {
  if (field == filter.fields().size()) {
    visit(choices);
    return;
  }
  const std::vector<std::string> options = filter.options(filter.fields()[field]->key);
  // Where there is no choice the filter has made it.
  if (options.size() < 2) {
    for_each_problem(table, filter, rows, field + 1, choices, visit);
    return;
  }
  for (const std::string& option : options) {
    filter.choose(field, option);
    filter.update(table, rows);
    choices.emplace_back(filter.fields()[field]->key, option);
    for_each_problem(table, filter, rows, field + 1, choices, visit);
    choices.pop_back();
  }
  filter.choose(field, {});
}

void add_curves(const PointTable& table, std::span<const Row> rows, const Choices& choices,
                std::vector<CurvePlot>& plots) {
  if (only_a_tile_map(table, rows)) return;
  std::vector<std::optional<int>> all_splits;
  for (const int splits : splits_of(table, rows)) all_splits.emplace_back(splits);
  if (all_splits.empty()) all_splits.emplace_back();
  const auto any = [&](auto has) { return std::ranges::any_of(rows, has); };
  const bool bytes = any([&](Row row) { return shows_on(table, row, Ordinate::bytes); });
  const bool times = any([&](Row row) { return has_value(table, row, Ordinate::time); });
  const bool imported = any([&](Row row) {
    return table.run(row).provenance == Provenance::imported && has_value(table, row, Ordinate::rate);
  });
  for (const auto& splits : all_splits) {
    if (bytes) plots.push_back({choices, splits, Ordinate::bytes});
    if (!bytes && times) plots.push_back({choices, splits, Ordinate::time});
    if (imported) plots.push_back({choices, splits, Ordinate::rate});
  }
}

}  // namespace

std::vector<CurvePlot> curve_plots(const PointTable& table) {
  std::vector<CurvePlot> plots;
  ProblemFilter filter(curve_fields(), key_length_field());
  const std::vector<Row> rows = table.rows();
  filter.update(table, rows);
  Choices choices;
  if (table.empty()) return plots;
  for_each_problem(table, filter, rows, 0, choices,
                   [&](const Choices& chosen) { add_curves(table, filter.rows(), chosen, plots); });
  return plots;
}

std::vector<MapPlot> map_plots(const PointTable& table) {
  // Of the DRAM bytes the settled ones where they are known.
  constexpr std::array<std::array<std::string_view, 2>, 3> wanted{
      {{metric_key::time_median_ns},
       {metric_key::l2_sm_bytes},
       {metric_key::dram_settled_bytes, metric_key::dram_bytes}}};
  std::vector<MapPlot> plots;
  const std::vector<Row> rows = swept_rows(table, table.rows());
  if (rows.empty()) return plots;
  ProblemFilter filter(map_fields(), tile_field());
  filter.update(table, rows);
  Choices choices;
  for_each_problem(table, filter, rows, 0, choices, [&](const Choices& chosen) {
    for (const auto& metrics : wanted) {
      const auto* metric = std::ranges::find_if(metrics, [&](std::string_view key) {
        return !key.empty() && build_tile_map(table, filter.rows(), key).minimum.has_value();
      });
      if (metric != metrics.end()) plots.push_back({chosen, std::string(*metric)});
    }
  });
  return plots;
}

bool only_a_tile_map(const PointTable& table, std::span<const Row> rows) {
  std::set<std::int64_t> lengths;
  std::map<std::string_view, std::set<std::pair<int, int>>> tiles;
  for (const Row row : rows) {
    lengths.insert(table.n_k(row));
    const TileShape& tile = table.spec(row).tile;
    if (tile_stated(tile)) tiles[table.spec(row).algorithm].emplace(tile.br, tile.bc);
  }
  return lengths.size() == 1 &&
         std::ranges::any_of(tiles, [](const auto& entry) { return entry.second.size() >= fewest_tiles_of_a_map; });
}

}  // namespace attnscope::analysis

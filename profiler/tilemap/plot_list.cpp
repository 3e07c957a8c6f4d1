// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/plot_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  map_filter(table.algorithms())
      .for_each_problem(table, swept_rows(table, table.rows()), [&](const ProblemFilter& filter) {
        for (const auto& metrics : wanted) {
          const auto* metric = std::ranges::find_if(metrics, [&](std::string_view key) {
            return !key.empty() && build_tile_map(table, filter.rows(), key).minimum.has_value();
          });
          if (metric == metrics.end()) continue;
          plots.push_back({PlotKind::maps, map_stem(filter, *metric), filter, {}, std::string(*metric)});
        }
      });
}

}  // namespace

ProblemFilter curve_filter() {
  return {curve_facets(), key_length_facet()};
}

ProblemFilter map_filter(const Algorithms& algorithms) {
  return {map_facets(algorithms), tile_facet()};
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

}  // namespace attnscope::analysis

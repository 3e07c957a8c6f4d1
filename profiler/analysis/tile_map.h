// SPDX-License-Identifier: Apache-2.0
// The points of one problem, algorithm and device laid out as Br x Bc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/io_model.h"
#include "profiler/analysis/kernel_kinds.h"
#include "profiler/analysis/point_table.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {

/// Fewer tiles than this make a table, not a map.
inline constexpr std::size_t fewest_tiles_of_a_map = 4;

struct TileCell {
  std::optional<double> value;  ///< in the metric's unit
  double low = 0;   ///< with a value: how far its samples scatter, lowest and highest quartile, or a counter
  double high = 0;  ///< counted once; the value itself where it does neither
  Provenance provenance = Provenance::measured;
  std::optional<Disposition> disposition;  ///< empty: no point was collected for this tile
  int repeats = 0;                         ///< values of this tile in one run; the median one stands for them
  bool throttled = false;                  ///< the GPU slowed its clocks, and the metric shown follows them
  Row row = 0;                             ///< set when disposition is
  int kernel = -1;                         ///< place in TileMap::kernels; -1: none of them ran
};

/// One of several kernels that ran the tiles of a map.
struct MapKernel {
  KernelKind kind;
  std::string words;  ///< what sets it apart from the others
  int tiles = 0;
};

/// Where the paper's tile falls on the grid, in cells: 0 is the middle of the first row or column, 1.5 halfway between
/// the second and the third. Outside -0.5 .. count - 0.5 it is beyond the grid.
struct PaperMark {
  PaperTile tile;
  double column = 0;
  double row = 0;
  bool inside = false;
};

/// A run whose points the map does not show, since a newer one has the same tiles.
struct HiddenRun {
  RunIndex run = 0;
  int points = 0;
};

struct TileMap {
  std::string metric;
  std::string unit;
  std::vector<int> br;                       ///< rows, ascending
  std::vector<int> bc;                       ///< columns, ascending
  std::vector<std::vector<TileCell>> cells;  ///< [row][column]
  std::optional<double> minimum;
  std::optional<double> maximum;
  /// Half of the samples of the typical cell, or two counts of its launch, lie in an interval this wide; empty where
  /// values do not scatter.
  std::optional<double> spread;
  /// The values differ by no more than their spread: there is nothing for colours to show.
  bool flat = false;

  struct Place {
    int row = 0;
    int column = 0;
    bool operator==(const Place&) const = default;
  };
  Better better = Better::neither;  ///< which end of the metric's values is the better one
  /// The tile that the metric speaks for (the least bytes, the highest occupancy; of several with that very value, the
  /// fastest), then every tile whose value lies within its interval. None where the metric has no better end, all
  /// values are the same, or the map is flat.
  std::vector<Place> best;
  /// The tile of the shortest median time, whatever the metric shown, then every tile within its interval. None where
  /// all times differ by no more than they scatter.
  std::vector<Place> fastest;
  std::optional<PaperMark> paper;
  int collected = 0;
  int ok = 0;
  /// What ran in the cells, the one of most tiles first. Empty where one kernel ran all of them, as far as is known.
  std::vector<MapKernel> kernels;
  std::vector<RunIndex> shown;    ///< runs, the newest first
  std::vector<HiddenRun> hidden;  ///< the newest first

  [[nodiscard]] bool empty() const { return cells.empty(); }
  [[nodiscard]] const TileCell& at(Place place) const {
    return cells[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.column)];
  }
};

/// `rows` are of one problem, algorithm and device (map_facets()); those whose tile is not stated are left out. The
/// newest run that makes a map of its own leads; runs that have none of its tiles stand beside it; others are hidden.
[[nodiscard]] TileMap build_tile_map(const PointTable&, std::span<const Row> rows, std::string_view metric);

/// The rows of problems that were swept over tiles: by a run of its own, or by several on one device together.
[[nodiscard]] std::vector<Row> swept_rows(const PointTable&, std::span<const Row> rows);

}  // namespace attnscope::analysis

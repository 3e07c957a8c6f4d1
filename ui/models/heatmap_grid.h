// SPDX-License-Identifier: GPL-3.0-or-later
// Lays the points of one problem and algorithm out as Br x Bc. No widgets: values in, values out.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "kernels/model/io_model.h"
#include "profiler/metrics/metrics.h"
#include "ui/workspace.h"

namespace attnscope::ui {

/// Fewer tiles than this make a table, not a map.
inline constexpr std::size_t fewest_tiles_of_a_map = 4;

struct HeatmapCell {
  std::optional<double> value;  ///< in the metric's unit
  Provenance provenance = Provenance::measured;
  std::optional<Disposition> disposition;  ///< empty: no point was collected for this tile
  int repeats = 0;
  bool throttled = false;  ///< the GPU slowed its clocks, and the metric shown follows them
  ShownPoint source;       ///< set when disposition is
};

/// Where the paper's tile falls on the grid, in cells: 0 is the middle of the first row or column, 1.5 halfway between
/// the second and the third. Outside -0.5 .. count - 0.5 it is beyond the grid.
struct PaperMark {
  PaperTile tile;
  double column = 0;
  double row = 0;
  bool inside = false;
};

struct HeatmapGrid {
  std::string metric;
  QString label;  ///< "DRAM read"
  std::string unit;
  std::vector<int> br;                          ///< rows, ascending
  std::vector<int> bc;                          ///< columns, ascending
  std::vector<std::vector<HeatmapCell>> cells;  ///< [row][column]
  std::optional<double> minimum;
  std::optional<double> maximum;
  struct Place {
    int row = 0;
    int column = 0;
    bool operator==(const Place&) const = default;
  };
  Better better = Better::neither;  ///< which end of the metric's values is the better one
  /// The tile that the metric speaks for: the least bytes, the highest occupancy. Of several with that very value, the
  /// fastest. None where the metric has no better end or all values are the same.
  std::optional<Place> best;
  int alike = 0;                   ///< tiles that share the best one's value
  std::optional<Place> fastest;    ///< shortest median time, whatever the metric shown
  std::optional<PaperMark> paper;  ///< of the algorithm that the paper's rule is for
  int collected = 0;
  int ok = 0;

  /// "fastest", "lowest DRAM total", "highest TFLOP/s": what is best about `best`.
  [[nodiscard]] QString best_words() const;
  [[nodiscard]] bool empty() const { return cells.empty(); }
  [[nodiscard]] const HeatmapCell& at(Place place) const {
    return cells[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.column)];
  }
};

/// `points` are of one algorithm and problem; those whose tile is not stated are left out. A tile collected more than
/// once shows the median of its ok points.
[[nodiscard]] HeatmapGrid build_heatmap(const std::vector<ShownPoint>& points, std::string_view metric);

}  // namespace attnscope::ui

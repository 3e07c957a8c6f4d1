// SPDX-License-Identifier: GPL-3.0-or-later
// A map of tiles as the window names it. What stands in its cells is analysis' work.
#pragma once

#include <QString>
#include <QStringList>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/tilemap/tile_map.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/plot_export.h"
#include "ui/runs/point_set.h"
#include "ui/text/values.h"

namespace attnscope::ui {

using analysis::fewest_tiles_of_a_map;
using HeatmapCell = analysis::TileCell;

struct HeatmapGrid : analysis::TileMap {
  QString label;                           ///< "DRAM read", "DRAM read ÷ model"
  QString over_words;                      ///< of a comparison: what the other value is, "model"
  std::shared_ptr<const PointSet> points;  ///< what the cells' rows refer to

  /// "fastest", "lowest DRAM total", "highest TFLOP/s": what is best about `best`.
  [[nodiscard]] QString best_words() const;
  /// The rows of the points in its cells.
  [[nodiscard]] std::vector<Row> shown_rows() const;
  /// The runs of those points.
  [[nodiscard]] std::vector<RunPtr> sources() const;
  /// The cell that shows this point.
  [[nodiscard]] std::optional<Place> place_of(Row point) const;
  /// Pre: the cell has a disposition.
  [[nodiscard]] ShownPoint source(Place place) const { return (*points)[at(place).row]; }
};

/// `filter` stands on the problem.
[[nodiscard]] HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                                        const analysis::MapRequest& request);
/// Br x Bc, the metric itself.
[[nodiscard]] HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                                        std::string_view metric);
/// "% of the best", "÷ model": what stands behind a metric that is compared; empty where it is not.
[[nodiscard]] QString comparison_words(analysis::Comparison as);

// What a heatmap says in words: the legend below it and the read-out of a cell. Values in, words out.

struct HeatmapTitle {
  QString what;
  QString of;  ///< the problem and the device, on a second line
};
/// Pre: the grid is not empty.
[[nodiscard]] HeatmapTitle heatmap_title(const HeatmapGrid& grid);
/// The legend below the cells; `figures_shown`: the cells have room for their values.
[[nodiscard]] QString heatmap_caption(const HeatmapGrid& grid, bool figures_shown, PlotTarget target);
/// "Bc (key rows of a tile)", "Head dimension d": what stands below the columns, or beside the rows.
[[nodiscard]] QString axis_title(const analysis::MapAxis& axis);
/// "Br 128 × Bc 64", "N 4096 × d 128".
[[nodiscard]] QString place_title(const HeatmapGrid& grid, HeatmapGrid::Place place);
/// A cell's value with its unit: "1.2 ms", "97.3 %", "1.04 ×".
[[nodiscard]] QString value_words(const HeatmapGrid& grid, double value);
/// The read-out of a cell.
[[nodiscard]] HoverContent describe_heatmap_cell(const HeatmapGrid& grid, HeatmapGrid::Place place);
/// One short word for a cell that has no value.
[[nodiscard]] QString short_word(Disposition disposition);

/// Every cell, for other programs; of one that has no value how it ended.
[[nodiscard]] ShownValues values_of(const HeatmapGrid& map);

}  // namespace attnscope::ui

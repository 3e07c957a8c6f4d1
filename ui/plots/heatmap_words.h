// SPDX-License-Identifier: GPL-3.0-or-later
// What a map of tiles (profiler/tilemap/tile_map.h) says in words: its names, the legend below it and the read-out of a
// cell.
#pragma once

#include <QString>
#include <QStringList>

#include "profiler/tilemap/tile_map.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/plot_export.h"
#include "ui/runs/point_set.h"
#include "ui/text/values.h"

namespace attnscope::ui {

using analysis::fewest_tiles_of_a_map;
using analysis::TileCell;
using analysis::TileMap;

/// "% of the best", "÷ model": what stands behind a metric that is compared; empty where it is not.
[[nodiscard]] QString comparison_words(analysis::Comparison as);
/// "DRAM read", "DRAM read ÷ model".
[[nodiscard]] QString heatmap_label(const TileMap& map);
/// "fastest", "lowest DRAM total", "highest TFLOP/s": what is best about `best`.
[[nodiscard]] QString best_words(const TileMap& map);

struct HeatmapTitle {
  QString what;
  QString of;  ///< the problem and the device, on a second line
};
/// Pre: the map is not empty.
[[nodiscard]] HeatmapTitle heatmap_title(const PointSet& points, const TileMap& map);
/// The legend below the cells; `figures_shown`: the cells have room for their values.
[[nodiscard]] QString heatmap_caption(const PointSet& points, const TileMap& map, bool figures_shown,
                                      PlotTarget target);
/// "Bc (key rows of a tile)", "Head dimension d": what stands below the columns, or beside the rows.
[[nodiscard]] QString axis_title(const analysis::MapAxis& axis);
/// "Br 128 × Bc 64", "N 4096 × d 128".
[[nodiscard]] QString place_title(const TileMap& map, TileMap::Place place);
/// A cell's value with its unit: "1.2 ms", "97.3 %", "1.04 ×".
[[nodiscard]] QString value_words(const TileMap& map, double value);
/// The read-out of a cell.
[[nodiscard]] HoverContent describe_heatmap_cell(const PointSet& points, const TileMap& map, TileMap::Place place);
/// One short word for a cell that has no value.
[[nodiscard]] QString short_word(Disposition disposition);

/// Every cell, for other programs; of one that has no value how it ended.
[[nodiscard]] ShownValues values_of(const PointSet& points, const TileMap& map);

}  // namespace attnscope::ui

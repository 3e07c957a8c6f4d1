// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of a tile map (profiler/tilemap/tile_map.h): title, legend and read-out of a cell.
#pragma once

#include <QString>

#include "profiler/tilemap/tile_map.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/plot_export.h"
#include "ui/runs/point_set.h"
#include "ui/text/values.h"

namespace attnscope::ui {

using analysis::min_map_tiles;
using analysis::TileCell;
using analysis::TileMap;

/// Suffix of a compared metric: "% of the best", "÷ model"; empty if not compared.
[[nodiscard]] QString comparison_suffix(analysis::Comparison as);
/// "DRAM read", "DRAM read ÷ model".
[[nodiscard]] QString heatmap_label(const TileMap& map);
/// Meaning of "best" in this map: "fastest", "lowest DRAM total", "highest TFLOP/s".
[[nodiscard]] QString best_label(const TileMap& map);

struct HeatmapTitle {
  QString headline;  ///< Result in a sentence; empty: none.
  QString what;
  QString of;           ///< Problem and device; last line.
  QString causes = {};  ///< Causes of the headline; empty: none.
};
/// Pre: the map is not empty.
[[nodiscard]] HeatmapTitle heatmap_title(const PointSet& points, const TileMap& map);
/// Legend below the cells. `figures_shown`: the cells show their values.
[[nodiscard]] QString heatmap_caption(const PointSet& points, const TileMap& map, bool figures_shown,
                                      PlotTarget target);
/// Axis title: "Bc (key rows of a tile)", "Head dimension d".
[[nodiscard]] QString axis_title(const analysis::MapAxis& axis);
/// "Br 128 × Bc 64", "N 4096 × d 128".
[[nodiscard]] QString place_title(const TileMap& map, TileMap::Place place);
/// Text in a cell. `relative`: slowdown against the fastest instead of the value.
[[nodiscard]] QString cell_figure(const TileMap& map, double value, double factor, int digits, bool relative);
/// A cell's value with its unit: "1.2 ms", "97.3 %", "1.04 ×".
[[nodiscard]] QString cell_value_text(const TileMap& map, double value);
[[nodiscard]] HoverContent describe_heatmap_cell(const PointSet& points, const TileMap& map, TileMap::Place place);
[[nodiscard]] QString short_label(Disposition disposition);

/// All cells, for export; a cell without value has its disposition.
[[nodiscard]] ShownValues values_of(const PointSet& points, const TileMap& map);

}  // namespace attnscope::ui

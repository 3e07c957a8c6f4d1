// SPDX-License-Identifier: GPL-3.0-or-later
// What a heatmap says in words: the legend below it and the read-out of a cell. Values in, words out.
#pragma once

#include <QString>

#include "ui/models/heatmap_grid.h"
#include "ui/plots/heatmap_layout.h"
#include "ui/plots/hover_overlay.h"

namespace attnscope::ui {

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
/// The character that stands in the legend for what draw_kernel_mark() draws into the cells of one of several kernels;
/// empty for the first, whose cells have no mark.
[[nodiscard]] QString kernel_mark(int kernel);
/// One short word for a cell that has no value.
[[nodiscard]] QString short_word(Disposition disposition);

}  // namespace attnscope::ui

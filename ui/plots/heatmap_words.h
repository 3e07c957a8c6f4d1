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
[[nodiscard]] QString heatmap_caption(const HeatmapGrid& grid, bool figures_shown, Medium medium);
/// The read-out of a cell.
[[nodiscard]] HoverContent describe_heatmap_cell(const HeatmapGrid& grid, HeatmapGrid::Place place);
/// The character that stands in the legend for what draw_kernel_mark() draws into the cells of one of several kernels;
/// empty for the first, whose cells have no mark.
[[nodiscard]] QString kernel_mark(int kernel);
/// One short word for a cell that has no value.
[[nodiscard]] QString short_word(Disposition disposition);

}  // namespace attnscope::ui

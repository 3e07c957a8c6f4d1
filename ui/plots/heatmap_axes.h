// SPDX-License-Identifier: GPL-3.0-or-later
// What stands around the cells of a heatmap: title, axes with the paper's tile marked on them, colour bar, legend.
#pragma once

#include <QPainter>
#include <vector>

#include "ui/plots/heatmap_layout.h"

namespace attnscope::ui {

void draw_heatmap_title(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                        const QRectF& area);
void draw_heatmap_axes(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout);
/// Values that the bar is labelled with: round ones in the unit that is shown.
[[nodiscard]] std::vector<double> heatmap_ticks(const HeatmapDrawing& drawing, const HeatmapColors& colors, int most);
void draw_heatmap_bar(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout);
/// The legend and, in files, the source below it.
void draw_heatmap_caption(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                          const QRectF& area);

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The cells of a heatmap: colour, figure, frame, hatching, and the outlines of the best and the fastest.
#pragma once

#include <QPainter>

#include "ui/plots/heatmap_layout.h"

namespace attnscope::ui {

void draw_heatmap_cells(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout);

}  // namespace attnscope::ui

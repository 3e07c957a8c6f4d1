// SPDX-License-Identifier: GPL-3.0-or-later
// Crosses along the upper edge for points that gave no value.
#pragma once

#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/plot_legend.h"

namespace attnscope::ui {

/// Returns where each cross stands, as shares of the axes' height from the top, in the order of `set.failed`.
[[nodiscard]] std::vector<double> add_failed_marks(QCustomPlot& plot, const CurveSet& set, PlotLegend& legend);

}  // namespace attnscope::ui

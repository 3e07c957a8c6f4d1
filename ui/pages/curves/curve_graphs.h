// SPDX-License-Identifier: GPL-3.0-or-later
// Draws curves over N and marks throttled points.
#pragma once

#include <qcustomplot.h>
#include <cstddef>
#include <functional>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/legend_plot.h"

namespace attnscope::ui {

/// Maximum number of L2 bands drawn; more are listed as text.
inline constexpr std::size_t max_bands = 6;

/// Layer of theory and simulation, below the measurements. The plot must have it.
[[nodiscard]] QString theory_layer();
/// Layer of older runs of the same points, below theory_layer().
[[nodiscard]] QString older_layer();
/// Hidden curves appear in the legend only.
using IsHidden = std::function<bool(const Curve&)>;
void add_curve_graphs(
    QCustomPlot& plot, const std::vector<Curve>& curves, PlotLegend& legend,
    const IsHidden& is_hidden = [](const Curve&) { return false; });
/// Adds text entries to the legend: meaning of the L2 bands, times equal by construction, repeated colors.
void add_legend_notes(QCustomPlot& plot, const CurveSet& set, PlotLegend& legend);

// Marks where working sets exceed L2: a band over the N range in which L2 begins to miss, a tick at the nominal
// capacity, and a label, in the color of the curves.

using BandColor = std::function<QColor(const Boundary&)>;
/// `n`: visible range of N when not zoomed; labels are placed at band ends within it.
void add_boundary_bands(QCustomPlot& plot, const std::vector<Boundary>& boundaries, const QCPRange& n,
                        const BandColor& color_of);

// Crosses at the upper edge for failed points.

/// Returns the y position of each cross as a fraction of the axes' height from the top, in the order of `set.failed`.
[[nodiscard]] std::vector<double> add_failed_marks(QCustomPlot& plot, const CurveSet& set, PlotLegend& legend);

}  // namespace attnscope::ui

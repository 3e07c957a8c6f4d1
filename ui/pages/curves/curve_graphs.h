// SPDX-License-Identifier: GPL-3.0-or-later
// The curves of a plot over N, and the marks that say of single points that their clocks were throttled.
#pragma once

#include <qcustomplot.h>
#include <cstddef>
#include <functional>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/legend_plot.h"

namespace attnscope::ui {

/// More bands are left to words: nobody reads ten over one another.
inline constexpr std::size_t most_bands = 6;

/// The layer below the measurements, for theory and simulation; the plot has to have it.
[[nodiscard]] QString theory_layer();
/// The layer below that: of runs that a newer one of the same points leads.
[[nodiscard]] QString older_layer();
/// Those that are hidden stand in the legend alone.
using IsHidden = std::function<bool(const Curve&)>;
void add_curve_graphs(
    QCustomPlot& plot, const std::vector<Curve>& curves, PlotLegend& legend,
    const IsHidden& is_hidden = [](const Curve&) { return false; });
/// What stands in the legend as words alone: the L2's bands, and in the place of what is not drawn fits that points do
/// not carry and sweeps over tiles.
void add_omissions(QCustomPlot& plot, const CurveSet& set, PlotLegend& legend);

// Where working sets outgrow the L2: a band over the N in which it gives way, a tick where its nominal capacity is
// reached, and a label, in the colour that its curves have.

using BandColor = std::function<QColor(const Boundary&)>;
/// `n`: the lengths in sight when the plot is drawn whole, in which the labels stand, each along its own band's end.
void add_boundary_bands(QCustomPlot& plot, const std::vector<Boundary>& boundaries, const QCPRange& n,
                        const BandColor& color_of);

// Crosses along the upper edge for points that gave no value.

/// Returns where each cross stands, as shares of the axes' height from the top, in the order of `set.failed`.
[[nodiscard]] std::vector<double> add_failed_marks(QCustomPlot& plot, const CurveSet& set, PlotLegend& legend);

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The curves of a plot over N, and the marks that say of single points that their clocks were throttled.
#pragma once

#include <cstddef>
#include <functional>

#include "ui/models/curve_series.h"
#include "ui/plots/plot_legend.h"

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

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the curves of one panel: lines, marks, error bars, L2 bands and crosses of failed points.
#pragma once

#include <qcustomplot.h>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/plot_parts.h"

namespace attnscope::ui {

/// Layer of models and simulations, below the measurements. The plot must have it.
[[nodiscard]] QString theory_layer();

struct CurvePanel {
  QCustomPlot& plot;
  QCPAxisRect& rect;
  const CurveSet& set;
  std::size_t place;  ///< Index in CurveSet::panels.
};
/// Returns whether a curve, failed point or band is drawn in the panel.
template <class Item>
[[nodiscard]] bool is_in_panel(const Item& item, std::size_t panel) {
  return std::ranges::find(item.panels, panel) != item.panels.end();
}

// Marks of measured curves that coincide in a panel are drawn side by side, or as one with "×5" if there are many.

struct Coincident {
  std::size_t panel = 0;
  double n = 0;
  double value = 0;
  std::size_t marks = 0;
};
struct MarkShifts {
  std::map<std::pair<std::size_t, std::size_t>, double> shifts;  ///< In pixels, by indices of curve and point.
  std::vector<Coincident> crowded;                               ///< Not shifted.

  [[nodiscard]] double at(std::size_t curve, std::size_t point) const {
    const auto found = shifts.find({curve, point});
    return found == shifts.end() ? 0 : found->second;
  }
};
/// `closeness`: maximum distance of coinciding values, after `scale` (logarithm or identity).
[[nodiscard]] MarkShifts shift_marks(const CurveSet& set, const std::function<double(double)>& scale, double closeness);

void add_curve_graphs(const CurvePanel& panel, const MarkShifts& shifts);

/// Bars at the top that show where working sets exceed L2: over the N range in which L2 begins to miss, with a tick at
/// the nominal capacity and a label. `n`: visible range of N when not zoomed.
void add_boundary_bars(const CurvePanel& panel, const QCPRange& n);

/// Crosses at the upper edge for failed points. Returns the y position of each cross as a fraction of the axes' height
/// from the top, by index in CurveSet::failed; empty for points of other panels.
[[nodiscard]] std::map<std::size_t, double> add_failed_marks(const CurvePanel& panel);

/// Draws the ratios of the panel's curves, or of all curves, on a linear axis.
void draw_ratios(const CurvePanel& panel, const std::vector<analysis::RatioCurve>& ratios, bool all);
/// Draws the margin within which ratios count as equal.
void draw_margin(const CurvePanel& panel);
/// Measured over modeled values of the measured curves that have any.
[[nodiscard]] std::vector<analysis::RatioCurve> residual_curves(const CurveSet& set);

}  // namespace attnscope::ui

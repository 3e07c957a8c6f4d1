// SPDX-License-Identifier: GPL-3.0-or-later
// A panel below a plot: what was measured over what theory says of the very same points.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/plot_legend.h"

namespace attnscope::ui {

class ResidualPanel {
 public:
  ResidualPanel(QCustomPlot& plot, int row) : plot_(plot), row_(row) {}

  /// One line for each measured curve that theory speaks of, in the curve's colour and marks; without any, or where the
  /// panel is not wanted, takes it away. Its axis follows the plot's own x axis.
  void show(const std::vector<Curve>& curves, bool wanted, PlotLegend& legend);
  void set_range(const QCPRange& range);
  [[nodiscard]] QCPAxisRect* rect() const { return rect_; }

 private:
  void add_panel(PlotLegend& legend);
  void remove_panel();

  QCustomPlot& plot_;
  int row_;  ///< of the plot's layout
  QCPAxisRect* rect_ = nullptr;
};

}  // namespace attnscope::ui

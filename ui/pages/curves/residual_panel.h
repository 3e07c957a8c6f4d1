// SPDX-License-Identifier: GPL-3.0-or-later
// Panel below a plot: measured over modeled values of the same points. Its x axis follows the plot's.
#pragma once

#include <qcustomplot.h>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/legend_plot.h"

namespace attnscope::ui {

class ResidualPanel {
 public:
  explicit ResidualPanel(QCustomPlot& plot) : plot_(plot) {}

  /// Draws a line for each measured curve with theory, in the curve's color and markers. Removes the panel if there is
  /// none or `wanted` is false.
  void show(const std::vector<Curve>& curves, bool wanted, PlotLegend& legend);
  void set_range(const QCPRange& range);
  /// Null if the panel is closed.
  [[nodiscard]] QCPAxisRect* rect() const { return rect_; }

 private:
  void open(PlotLegend& legend);
  void close();
  [[nodiscard]] QCPAxis* left() const { return rect_->axis(QCPAxis::atLeft); }
  [[nodiscard]] QCPAxis* bottom() const { return rect_->axis(QCPAxis::atBottom); }

  QCustomPlot& plot_;
  QCPAxisRect* rect_ = nullptr;
};

}  // namespace attnscope::ui

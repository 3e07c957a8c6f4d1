// SPDX-License-Identifier: GPL-3.0-or-later
// A panel below a plot: what was measured over what theory says of the very same points. Its axis follows the plot's
// own x axis.
#pragma once

#include <qcustomplot.h>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/legend_plot.h"

namespace attnscope::ui {

class ResidualPanel {
 public:
  explicit ResidualPanel(QCustomPlot& plot) : plot_(plot) {}

  /// One line for each measured curve that theory speaks of, in the curve's colour and marks; without any, or where the
  /// panel is not wanted, takes it away.
  void show(const std::vector<Curve>& curves, bool wanted, PlotLegend& legend);
  void set_range(const QCPRange& range);
  /// Null while there is none.
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

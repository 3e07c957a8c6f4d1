// SPDX-License-Identifier: GPL-3.0-or-later
// A panel below a plot, whose axis follows the plot's own x axis.
#pragma once

#include <qcustomplot.h>

#include "ui/plots/plot_legend.h"

namespace attnscope::ui {

class LowerPanel {
 public:
  LowerPanel(QCustomPlot& plot, int row) : plot_(plot), row_(row) {}

  void set_range(const QCPRange& range);
  /// Null while there is none.
  [[nodiscard]] QCPAxisRect* rect() const { return rect_; }

 protected:
  /// Makes it, where there is none; the plot is `share` times as high.
  void open(PlotLegend& legend, double share);
  /// A line at 1, above what is drawn.
  void add_unity();
  void close();
  [[nodiscard]] QCPAxis* left() const { return rect_->axis(QCPAxis::atLeft); }
  [[nodiscard]] QCPAxis* bottom() const { return rect_->axis(QCPAxis::atBottom); }

  QCustomPlot& plot_;

 private:
  int row_;  ///< of the plot's layout
  QCPAxisRect* rect_ = nullptr;
};

}  // namespace attnscope::ui

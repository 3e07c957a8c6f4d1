// SPDX-License-Identifier: GPL-3.0-or-later
// A second panel below a plot over N: the bytes of each kernel of the multi-kernel algorithms, stacked, as parts of
// standard attention's count.
#pragma once

#include <qcustomplot.h>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/legend_plot.h"

namespace attnscope::ui {

// A panel below a plot, whose axis follows the plot's own x axis.

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

class KernelStacks : public LowerPanel {
 public:
  using LowerPanel::LowerPanel;

  /// Draws the stacks; without any, or with none wanted, takes the panel away.
  void show(const CurveSet& set, bool wanted, PlotLegend& legend);

 private:
  /// The stacks of one algorithm; returns the height of the highest.
  double add_bars(const std::string& algorithm, const std::vector<const KernelStack*>& stacks, bool dram,
                  bool side_by_side, PlotLegend& legend);

  QCPBarsGroup* side_by_side_ = nullptr;
};

// A panel below a plot: what was measured over what theory says of the very same points.

class ResidualPanel : public LowerPanel {
 public:
  using LowerPanel::LowerPanel;

  /// One line for each measured curve that theory speaks of, in the curve's colour and marks; without any, or where the
  /// panel is not wanted, takes it away.
  void show(const std::vector<Curve>& curves, bool wanted, PlotLegend& legend);
};

}  // namespace attnscope::ui

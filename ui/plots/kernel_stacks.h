// SPDX-License-Identifier: GPL-3.0-or-later
// A second panel below a plot over N: the bytes of each kernel of the multi-kernel algorithms, stacked, as parts of
// standard attention's count.
#pragma once

#include <qcustomplot.h>

#include "ui/models/curve_series.h"
#include "ui/plots/plot_legend.h"

namespace attnscope::ui {

class KernelStacks {
 public:
  KernelStacks(QCustomPlot& plot, int row) : plot_(plot), row_(row) {}

  /// Draws the stacks; without any, or with none wanted, takes the panel away. Its axis follows the plot's own x axis.
  void show(const CurveSet& set, bool wanted, PlotLegend& legend);
  void set_range(const QCPRange& range);

 private:
  void add_panel(PlotLegend& legend);
  /// The stacks of one algorithm; returns the height of the highest.
  double add_bars(const std::string& algorithm, const std::vector<const KernelStack*>& stacks, bool dram,
                  bool side_by_side, PlotLegend& legend);
  void add_unity();

  QCustomPlot& plot_;
  int row_;  ///< of the plot's layout
  QCPAxisRect* rect_ = nullptr;
  QCPBarsGroup* side_by_side_ = nullptr;
};

}  // namespace attnscope::ui

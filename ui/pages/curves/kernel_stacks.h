// SPDX-License-Identifier: GPL-3.0-or-later
// A second panel below a plot over N: the bytes of each kernel of the multi-kernel algorithms, stacked, as parts of
// standard attention's count.
#pragma once

#include "ui/models/curve_series.h"
#include "ui/pages/curves/lower_panel.h"

namespace attnscope::ui {

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

}  // namespace attnscope::ui

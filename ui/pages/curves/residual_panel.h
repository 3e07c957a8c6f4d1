// SPDX-License-Identifier: GPL-3.0-or-later
// A panel below a plot: what was measured over what theory says of the very same points.
#pragma once

#include <vector>

#include "ui/models/curve_series.h"
#include "ui/pages/curves/lower_panel.h"

namespace attnscope::ui {

class ResidualPanel : public LowerPanel {
 public:
  using LowerPanel::LowerPanel;

  /// One line for each measured curve that theory speaks of, in the curve's colour and marks; without any, or where the
  /// panel is not wanted, takes it away.
  void show(const std::vector<Curve>& curves, bool wanted, PlotLegend& legend);
};

}  // namespace attnscope::ui

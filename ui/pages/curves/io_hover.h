// SPDX-License-Identifier: GPL-3.0-or-later
// What a plot over N reads out at each N: every curve's value, the largest first, and notes. Values in, values out.
#pragma once

#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/hover_overlay.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

struct HoverColumn {
  double n = 0;
  HoverContent content;
};

/// One column for each N at which something was collected, ascending.
[[nodiscard]] std::vector<HoverColumn> build_hover_columns(const CurveSet& set, const PlotColors& colors);

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Where an algorithm's working set outgrows an L2: a labelled upright line each.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/models/curve_series.h"

namespace attnscope::ui {

void add_boundary_lines(QCustomPlot& plot, const std::vector<L2Boundary>& boundaries);

}  // namespace attnscope::ui

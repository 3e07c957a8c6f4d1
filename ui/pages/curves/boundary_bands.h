// SPDX-License-Identifier: GPL-3.0-or-later
// Where working sets outgrow the L2: a band over the N in which it gives way, a tick where its nominal capacity is
// reached, and a label, in the colour that its curves have.
#pragma once

#include <qcustomplot.h>

#include <functional>
#include <vector>

#include "ui/models/curve_series.h"

namespace attnscope::ui {

using BandColor = std::function<QColor(const Boundary&)>;
/// `n`: the lengths in sight when the plot is drawn whole, in which the labels stand, each along its own band's end.
void add_boundary_bands(QCustomPlot& plot, const std::vector<Boundary>& boundaries, const QCPRange& n,
                        const BandColor& color_of);

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// How the axes of plots look.
#pragma once

#include <qcustomplot.h>

#include "ui/theme/theme.h"

namespace attnscope::ui {

/// Colours and font of an axis and its grid, of whose lines only those of the ticks are drawn.
void style_axis(QCPAxis& axis, const PlotColors& colors, const QFont& font);

}  // namespace attnscope::ui

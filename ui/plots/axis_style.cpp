// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/axis_style.h"

namespace attnscope::ui {

void style_axis(QCPAxis& axis, const PlotColors& colors, const QFont& font) {
  axis.setBasePen(QPen(colors.axis));
  axis.setTickPen(QPen(colors.axis));
  axis.setSubTickPen(QPen(colors.axis));
  axis.setTickLabelColor(colors.text);
  axis.setLabelColor(colors.text);
  axis.setTickLabelFont(font);
  axis.setLabelFont(font);
  axis.grid()->setPen(QPen(colors.grid, 1));
  axis.grid()->setZeroLinePen(Qt::NoPen);
  axis.grid()->setSubGridVisible(false);
}

}  // namespace attnscope::ui

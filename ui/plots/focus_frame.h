// SPDX-License-Identifier: GPL-3.0-or-later
// Shows that a plot has the keyboard's focus.
#pragma once

#include <QPainter>
#include <QWidget>

#include "ui/theme/theme.h"

namespace attnscope::ui {

/// To be called at the end of a paint event: pictures in files have no focus.
inline void draw_focus_frame(QWidget& widget) {
  if (!widget.hasFocus()) return;
  constexpr double width = 2;
  QPainter painter(&widget);
  painter.setPen(QPen(plot_colors(widget.palette()).accent, width));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(widget.rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2));
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/frame_plot.h"

namespace attnscope::ui {

FramePlot::FramePlot(QWidget* parent) : QCustomPlot(parent) {
  setPlottingHint(QCP::phImmediateRefresh, false);
  // A layer of its own costs a picture of the plot's size, cleared and laid over at every drawing; nothing is in it.
  layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmLogical);
  connect(this, &QCustomPlot::afterReplot, this, [this] { outgrown_ = false; });
}

void FramePlot::resizeEvent(QResizeEvent* /*event*/) {
  setViewport(rect());
  outgrown_ = true;
  replot(rpQueuedReplot);
}

void FramePlot::paintEvent(QPaintEvent* event) {
  // Where a frame is painted before the event loop turns: no picture of another size is shown.
  if (outgrown_) replot(rpQueuedRefresh);
  QCustomPlot::paintEvent(event);
}

}  // namespace attnscope::ui

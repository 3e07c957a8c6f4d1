// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/lower_panel.h"

#include "ui/plots/plot_parts.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

void LowerPanel::set_range(const QCPRange& range) {
  if (rect_ != nullptr) bottom()->setRange(range);
}

void LowerPanel::close() {
  if (rect_ == nullptr) return;
  plot_.plotLayout()->remove(rect_);
  rect_ = nullptr;
  plot_.plotLayout()->simplify();
}

void LowerPanel::open(PlotLegend& legend, double share) {
  if (rect_ == nullptr) {
    rect_ = new QCPAxisRect(&plot_);
    // The legend is laid out after this: the row below the main plot is free.
    legend.remove();
    plot_.plotLayout()->addElement(row_, 0, rect_);
    rect_->setRangeZoom(Qt::Orientations());
    rect_->setRangeDrag(Qt::Orientations());
    auto* group = new QCPMarginGroup(&plot_);
    plot_.axisRect()->setMarginGroup(QCP::msLeft | QCP::msRight, group);
    rect_->setMarginGroup(QCP::msLeft | QCP::msRight, group);
  }
  bottom()->setScaleType(plot_.xAxis->scaleType());
  bottom()->setTicker(plot_.xAxis->ticker());
  set_range(plot_.xAxis->range());
  plot_.plotLayout()->setRowStretchFactor(row_ - 1, share);
  plot_.plotLayout()->setRowStretchFactor(row_, 1);
}

void LowerPanel::add_unity() {
  add_level(*rect_, 1, QPen(plot_colors(plot_.palette()).muted, 1.2, Qt::DashLine));
}

}  // namespace attnscope::ui

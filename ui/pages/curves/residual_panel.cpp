// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/residual_panel.h"

#include <algorithm>
#include <cmath>

#include "messages/curve_plot.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr int row = 2;                   ///< Row of the plot layout, below title and axes.
constexpr double min_axis_range = 0.05;  ///< Minimum axis range on both sides of 1.
constexpr double plot_to_panel_ratio = 2.4;

bool has_residuals(const Curve& curve) {
  return curve.kind == CurveKind::measured &&
         std::ranges::any_of(curve.points, [](const CurvePoint& point) { return point.over_modeled.has_value(); });
}

}  // namespace

void ResidualPanel::set_range(const QCPRange& range) {
  if (rect_ != nullptr) bottom()->setRange(range);
}

void ResidualPanel::close() {
  if (rect_ == nullptr) return;
  plot_.plotLayout()->remove(rect_);
  rect_ = nullptr;
  plot_.plotLayout()->simplify();
}

void ResidualPanel::open(PlotLegend& legend) {
  if (rect_ == nullptr) {
    rect_ = new QCPAxisRect(&plot_);
    // The legend is laid out later, so the row below the main plot can be used.
    legend.remove();
    plot_.plotLayout()->addElement(row, 0, rect_);
    rect_->setRangeZoom(Qt::Orientations());
    rect_->setRangeDrag(Qt::Orientations());
    auto* group = new QCPMarginGroup(&plot_);
    plot_.axisRect()->setMarginGroup(QCP::msLeft | QCP::msRight, group);
    rect_->setMarginGroup(QCP::msLeft | QCP::msRight, group);
  }
  bottom()->setScaleType(plot_.xAxis->scaleType());
  bottom()->setTicker(plot_.xAxis->ticker());
  set_range(plot_.xAxis->range());
  plot_.plotLayout()->setRowStretchFactor(row - 1, plot_to_panel_ratio);
  plot_.plotLayout()->setRowStretchFactor(row, 1);
}

void ResidualPanel::show(const std::vector<Curve>& curves, bool wanted, PlotLegend& legend) {
  if (!wanted || std::ranges::none_of(curves, has_residuals)) return close();
  open(legend);
  const PlotColors colors = plot_colors(plot_.palette());
  double reach = min_axis_range;
  for (const Curve& curve : curves) {
    if (!has_residuals(curve)) continue;
    const QColor color = curve_color(curve, colors);
    QCPGraph* graph = add_line(*rect(), curve_pen(curve, color));
    graph->setName(to_qstring(curve.label));
    graph->setScatterStyle(scatter_of(curve, color, colors.background));
    for (const CurvePoint& point : curve.points) {
      if (!point.over_modeled) continue;
      graph->addData(point.n, *point.over_modeled);
      reach = std::max(reach, std::abs(std::log(*point.over_modeled)));
    }
  }
  left()->setScaleType(QCPAxis::stLogarithmic);
  const double end = std::exp(1.15 * reach);
  left()->setRange(1 / end, end);
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  const double step = reach > 0.9 ? 0.5 : reach > 0.3 ? 0.2 : reach > 0.12 ? 0.1 : 0.05;
  std::vector<double> ticks{1 - step, 1.0, reach > 0.9 ? 2.0 : 1 + step};
  if (reach > 1.8) ticks.insert(ticks.end(), {0.1, 10.0});
  const QStringList labels = tick_labels(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) ticker->addTick(ticks[i], labels[static_cast<qsizetype>(i)]);
  left()->setTicker(ticker);
  left()->setLabel(qtext(msg::curve_plot::residual_axis{}));
  add_level(*rect_, 1, QPen(colors.muted, 1.2, Qt::DashLine));
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/lower_panels.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "messages/curve_plot.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
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

namespace {

QColor share_color(const QColor& base, std::size_t index, std::size_t count, bool dark) {
  const auto step = static_cast<int>(100 + 45 * static_cast<double>(index) * (count > 3 ? 0.7 : 1));
  return dark ? base.darker(step) : base.lighter(step);
}

double bytes_of(const KernelShare& share, bool dram) {
  return dram ? share.dram_bytes : share.sm_l2_bytes;
}

/// Standard attention's count, as the paper has it for n_q = n_k.
QString reference_words(const CurveSet& set) {
  if (set.queries) return qtext(say::curve_plot::standard_count{});
  switch (set.pass) {
    case Pass::fwd:
      return QStringLiteral("(4N²+4Nd)");
    case Pass::bwd:
      return QStringLiteral("(7N²+8Nd)");
    case Pass::fwd_bwd:
      return QStringLiteral("(11N²+12Nd)");
  }
  return {};
}

Qt::BrushStyle pattern_of(Provenance provenance) {
  if (is_simulated(provenance)) return Qt::Dense4Pattern;
  return provenance == Provenance::imported ? Qt::BDiagPattern : Qt::SolidPattern;
}

/// What the bars are; where some of a simulation were continued from a part, how many.
QString origin_words(const std::vector<const KernelStack*>& stacks) {
  const auto in_part = std::ranges::count_if(
      stacks, [](const KernelStack* stack) { return stack->provenance == Provenance::extrapolated; });
  if (in_part == 0 || in_part == static_cast<std::ptrdiff_t>(stacks.size())) return to_qstring(stacks[0]->provenance);
  return qtext(say::curve_plot::some_extrapolated{
      .origin = title(Provenance::simulated), .extrapolated = in_part, .all = stacks.size()});
}

}  // namespace

double KernelStacks::add_bars(const std::string& algorithm, const std::vector<const KernelStack*>& stacks, bool dram,
                              bool side_by_side, PlotLegend& legend) {
  const PlotColors colors = plot_colors(plot_.palette());
  const KernelStack& first = *stacks.front();
  QCPBars* below = nullptr;
  for (std::size_t k = 0; k < first.kernels.size(); ++k) {
    const QColor color = share_color(algorithm_color(algorithm, colors.dark), k, first.kernels.size(), colors.dark);
    auto* bars = new QCPBars(bottom(), left());
    bars->setName(QStringLiteral("%1 %2 · %3 · %4")
                      .arg(short_title(algorithm), QString::fromStdString(first.kernels[k].kernel),
                           to_qstring(analysis::quantity_words(dram ? Quantity::dram : Quantity::sm_l2)),
                           origin_words(stacks)));
    bars->setBrush(QBrush(color, pattern_of(first.provenance)));
    bars->setPen(QPen(color, 1));
    bars->setWidthType(QCPBars::wtAbsolute);
    bars->setWidth(16);
    if (below != nullptr) {
      bars->moveAbove(below);
    } else if (side_by_side) {
      bars->setBarsGroup(side_by_side_);
    }
    below = bars;
    for (const KernelStack* stack : stacks) {
      if (k >= stack->kernels.size() || stack->reference_bytes <= 0) continue;
      bars->addData(stack->n, bytes_of(stack->kernels[k], dram) / stack->reference_bytes);
    }
    legend.add(QString::fromStdString(algorithm), bars);
  }
  double top = 0;
  for (const KernelStack* stack : stacks) {
    if (stack->reference_bytes <= 0) continue;
    double sum = 0;
    for (const KernelShare& share : stack->kernels) sum += bytes_of(share, dram);
    top = std::max(top, sum / stack->reference_bytes);
  }
  return top;
}

void KernelStacks::show(const CurveSet& set, bool wanted, PlotLegend& legend) {
  if (!wanted || set.stacks.empty()) return close();
  constexpr double share_of_plot = 1.7;
  open(legend, share_of_plot);
  const bool dram = std::any_of(set.curves.begin(), set.curves.end(), [](const Curve& curve) {
    return curve.kind == CurveKind::measured && curve.quantity == Quantity::dram;
  });
  left()->setLabel(QStringLiteral("%1 ÷ %2").arg(
      to_qstring(analysis::quantity_words(dram ? Quantity::dram : Quantity::sm_l2)), reference_words(set)));

  std::map<std::string, std::vector<const KernelStack*>> by_algorithm;
  for (const KernelStack& stack : set.stacks) by_algorithm[stack.algorithm].push_back(&stack);
  if (side_by_side_ == nullptr) {
    side_by_side_ = new QCPBarsGroup(&plot_);
    side_by_side_->setSpacing(2);
  }
  double top = 1;
  for (const auto& [algorithm, stacks] : by_algorithm) {
    top = std::max(top, add_bars(algorithm, stacks, dram, by_algorithm.size() > 1, legend));
  }
  left()->setRange(0, top * 1.12);
  add_unity();
}

namespace {

constexpr double narrowest_reach = 0.05;  ///< of the axis, to both sides of 1
constexpr double share_of_plot = 2.4;

bool has_residuals(const Curve& curve) {
  return curve.kind == CurveKind::measured &&
         std::ranges::any_of(curve.points, [](const CurvePoint& point) { return point.over_theory.has_value(); });
}

}  // namespace

void ResidualPanel::show(const std::vector<Curve>& curves, bool wanted, PlotLegend& legend) {
  if (!wanted || std::ranges::none_of(curves, has_residuals)) return close();
  open(legend, share_of_plot);
  const PlotColors colors = plot_colors(plot_.palette());
  double reach = narrowest_reach;
  for (const Curve& curve : curves) {
    if (!has_residuals(curve)) continue;
    const QColor color = curve_color(curve, colors);
    QCPGraph* graph = add_line(*rect(), curve_pen(curve, color));
    graph->setName(to_qstring(curve.label));
    graph->setScatterStyle(scatter_of(curve, color, colors.background));
    for (const CurvePoint& point : curve.points) {
      if (!point.over_theory) continue;
      graph->addData(point.n, *point.over_theory);
      reach = std::max(reach, std::abs(std::log(*point.over_theory)));
    }
  }
  // As far above 1 as below: twice and half are alike far off.
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
  left()->setLabel(qtext(say::curve_plot::residual_axis{}));
  add_unity();
}

}  // namespace attnscope::ui

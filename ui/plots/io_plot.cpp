// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/io_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "profiler/metrics/metrics.h"
#include "ui/format.h"
#include "ui/plots/byte_ticker.h"
#include "ui/save_file.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr int legend_icon_width = 34;
constexpr int legend_padding = 20;  ///< between icon and text, and between columns
constexpr double disc_size = 7.5;
constexpr double square_size = 6.5;
constexpr double path_unit_size = 6;  ///< the size at which QCPScatterStyle draws a path's units as pixels
constexpr double click_radius = 14;
constexpr double lone_dash = 1.07;  ///< half the length of a dash that stands for theory at one N, as a factor of N
constexpr double guide_reach = 60;  ///< pixels from the pointer to the N that it reads

enum PlotRow { title_row, main_row, stack_row, legend_row };

QPen curve_pen(const Curve& curve, const QColor& color) {
  QPen pen(color, 1.6);
  pen.setCapStyle(Qt::FlatCap);
  switch (curve.kind) {
    case CurveKind::measured:
      pen.setWidthF(curve.quantity == Quantity::sm_l2 ? 1.5 : 2.2);
      if (curve.provenance == Provenance::simulated) pen.setDashPattern({1, 2});
      if (curve.provenance == Provenance::imported) pen.setDashPattern({5, 2, 1, 2});
      break;
    case CurveKind::model:
      pen.setDashPattern({6, 3});
      break;
    case CurveKind::asymptote:
      pen.setDashPattern({8, 3, 1.5, 3});
      break;
    case CurveKind::paper_count:
      pen.setDashPattern({3, 2, 1, 2, 1, 2});
      break;
    case CurveKind::compulsory:
      pen.setWidthF(1.2);
      break;
  }
  return pen;
}

SampleMark mark_of(const Curve& curve) {
  if (curve.kind != CurveKind::measured) return SampleMark::dashes;
  const bool squares = curve.quantity == Quantity::sm_l2;
  switch (curve.provenance) {
    case Provenance::simulated:
      return squares ? SampleMark::hollow_square : SampleMark::hollow_disc;
    case Provenance::imported:
      return squares ? SampleMark::triangle : SampleMark::diamond;
    default:
      return squares ? SampleMark::square : SampleMark::disc;
  }
}

QCPScatterStyle scatter_of(const Curve& curve, const QColor& color, const QColor& background) {
  const QPen pen(color, 1.5);
  switch (mark_of(curve)) {
    case SampleMark::disc:
      return {QCPScatterStyle::ssCircle, pen, color, disc_size};
    case SampleMark::hollow_disc:
      return {QCPScatterStyle::ssCircle, pen, background, disc_size};
    case SampleMark::square:
      return {QCPScatterStyle::ssSquare, pen, color, square_size};
    case SampleMark::hollow_square:
      return {QCPScatterStyle::ssSquare, pen, background, square_size};
    case SampleMark::diamond:
      return {QCPScatterStyle::ssDiamond, pen, background, 9.5};
    case SampleMark::triangle:
      return {QCPScatterStyle::ssTriangle, pen, background, 9};
    default:  // theory has no marks; a half disc is one point's, and add_throttled() draws it over the curve's own
      return {};
  }
}

QColor curve_color(const Curve& curve, const PlotColors& colors) {
  return curve.algorithm.empty() ? colors.muted : algorithm_color(curve.algorithm, colors.dark);
}

bool slowed_by_clocks(const Curve& curve) {
  if (curve.kind != CurveKind::measured) return false;
  const Metric* metric = find_metric(metric_of(curve.quantity));
  return metric != nullptr && metric->follows_clocks;
}

QString throttled_words() {
  return IoPlot::tr("Clocks throttled");
}

QColor share_color(const QColor& base, std::size_t index, std::size_t count, bool dark) {
  const auto step = static_cast<int>(100 + 45 * static_cast<double>(index) * (count > 3 ? 0.7 : 1));
  return dark ? base.darker(step) : base.lighter(step);
}

/// "558 – 598", in the value's own unit where all three read in it; empty where the ends read alike.
QString format_range(const CurvePoint& point, Quantity quantity) {
  QString low = format_quantity(point.low, quantity);
  const QString high = format_quantity(point.high, quantity);
  if (low == high) return {};
  const auto unit = [](const QString& text) { return text.section(QLatin1Char(' '), 1); };
  const QString value_unit = unit(format_quantity(point.value, quantity));
  if (unit(low) != value_unit || unit(high) != value_unit) return low + QStringLiteral(" – ") + high;
  return low.section(QLatin1Char(' '), 0, 0) + QStringLiteral(" – ") + high.section(QLatin1Char(' '), 0, 0);
}

}  // namespace

IoPlot::IoPlot(QWidget* parent) : QCustomPlot(parent) {
  setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  setNoAntialiasingOnDrag(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 240);
  legend->setVisible(false);

  QCPAxisRect* main_rect = axisRect();
  plotLayout()->take(main_rect);
  plotLayout()->simplify();
  title_ = new QCPTextElement(this);
  title_->setMargins({0, 6, 0, 2});
  plotLayout()->addElement(title_row, 0, title_);
  plotLayout()->addElement(main_row, 0, main_rect);

  xAxis->setScaleType(QCPAxis::stLogarithmic);
  xAxis->setTicker(QSharedPointer<LengthTicker>::create());

  // Theory and simulation lie below what was measured.
  addLayer(QStringLiteral("theory"), layer(QStringLiteral("main")), limBelow);
  overlay_ = new HoverOverlay(this);
  connect(xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this](const QCPRange& range) {
    overlay_->clear();
    if (stack_rect_ != nullptr) stack_rect_->axis(QCPAxis::atBottom)->setRange(range);
  });
  connect(this, &QCustomPlot::mouseWheel, this, [this] { user_view_ = true; });
  connect(this, &QCustomPlot::mouseMove, this, [this](const QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0) user_view_ = true;
  });
  rebuild();
}

void IoPlot::set_curves(const CurveSet& set, bool stacks, bool keep_view) {
  set_ = set;
  stacks_shown_ = stacks;
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  rebuild();
  if (keep_view) {
    xAxis->setRange(x);
    yAxis->setRange(y);
    replot(rpQueuedReplot);
  } else {
    reset_view();
  }
}

void IoPlot::reset_view() {
  double n_low = std::numeric_limits<double>::infinity();
  double n_high = 0;
  double low = n_low;
  double high = 0;
  const auto take = [&](double n, double bytes) {
    n_low = std::min(n_low, n);
    n_high = std::max(n_high, n);
    low = std::min(low, bytes);
    high = std::max(high, bytes);
  };
  for (const Curve& curve : set_.curves) {
    // An asymptote dives far below everything else at small N, where it means nothing.
    if (curve.kind == CurveKind::asymptote) continue;
    for (const CurvePoint& point : curve.points) {
      take(point.n, point.low);
      take(point.n, point.high);
    }
  }
  for (const FailedPoint& point : set_.failed) {
    n_low = std::min(n_low, point.n);
    n_high = std::max(n_high, point.n);
  }
  if (high <= 0) {
    low = set_.ordinate == Ordinate::rate ? 1 : 1e6;
    high = set_.ordinate == Ordinate::rate ? 1000 : 1e9;
  }
  if (n_high <= 0) {
    n_low = 256;
    n_high = 16384;
  }
  const double margin = n_low < n_high ? 1.25 : 4;
  xAxis->setRange(n_low / margin, n_high * margin);
  if (set_.ordinate == Ordinate::rate) {
    yAxis->setRange(0, high * 1.15);
  } else {
    yAxis->setRange(low / 2, high * 3);
  }
  user_view_ = false;
  replot(rpQueuedReplot);
}

void IoPlot::rebuild() {
  clearPlottables();
  clearItems();
  legend_entries_.clear();
  boundary_items_.clear();
  overlay_->clear();
  current_column_ = -1;
  style_axes();

  for (const Curve& curve : set_.curves) add_curve(curve);
  add_throttled_sample();
  add_failed();
  add_boundaries();
  add_stacks();
  prepare_hover();
  lay_out_legend(width());
}

void IoPlot::style_axes() {
  const PlotColors colors = plot_colors(palette());
  setBackground(QBrush(colors.background));
  for (QCPAxisRect* rect : axisRects()) {
    for (QCPAxis* axis : rect->axes()) {
      axis->setBasePen(QPen(colors.axis));
      axis->setTickPen(QPen(colors.axis));
      axis->setSubTickPen(QPen(colors.axis));
      axis->setTickLabelColor(colors.text);
      axis->setLabelColor(colors.text);
      axis->setTickLabelFont(font());
      axis->setLabelFont(font());
      axis->grid()->setPen(QPen(colors.grid, 1));
      axis->grid()->setSubGridPen(QPen(colors.grid, 1, Qt::DotLine));
      axis->grid()->setZeroLinePen(Qt::NoPen);
    }
  }
  xAxis->grid()->setSubGridVisible(false);
  yAxis->grid()->setSubGridVisible(false);
  const bool linear = set_.ordinate == Ordinate::rate;
  yAxis->setScaleType(linear ? QCPAxis::stLinear : QCPAxis::stLogarithmic);
  xAxis->setLabel(set_.queries ? tr("Keys n_k, with n_q = %1 (1k = 1024)").arg(*set_.queries)
                               : tr("Sequence length N (1k = 1024)"));
  switch (set_.ordinate) {
    case Ordinate::bytes:
      yAxis->setTicker(QSharedPointer<ByteTicker>::create());
      yAxis->setLabel(set_.per_head ? tr("Bytes moved, per head") : tr("Bytes moved, all heads"));
      break;
    case Ordinate::time:
      yAxis->setTicker(QSharedPointer<TimeTicker>::create());
      yAxis->setLabel(tr("Time [ms], median and quartiles"));
      break;
    case Ordinate::rate:
      yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
      yAxis->setLabel(tr("Compute rate [TFLOP/s]"));
      break;
  }
  setAccessibleName(tr("%1 against %2").arg(yAxis->label(), xAxis->label()));
  QFont title_font = font();
  title_font.setBold(true);
  title_->setFont(title_font);
  title_->setTextColor(colors.text);
  title_->setText(set_.title);
}

void IoPlot::add_curve(const Curve& curve) {
  const PlotColors colors = plot_colors(palette());
  const QColor color = curve_color(curve, colors);
  QCPGraph* graph = addGraph();
  graph->setName(curve.label);
  graph->setPen(curve_pen(curve, color));
  if (curve.kind != CurveKind::measured || curve.provenance == Provenance::simulated)
    graph->setLayer(QStringLiteral("theory"));
  QVector<double> n;
  QVector<double> bytes;
  for (const CurvePoint& point : curve.points) {
    n.append(point.n);
    bytes.append(point.value);
  }
  // Theory has no marks: at a single N it would be a line without length.
  if (curve.kind != CurveKind::measured && n.size() == 1) {
    n = {n[0] / lone_dash, n[0] * lone_dash};
    bytes.append(bytes[0]);
  }
  graph->setData(n, bytes, true);
  if (curve.kind == CurveKind::measured) {
    graph->setScatterStyle(scatter_of(curve, color, colors.background));

    QVector<double> minus;
    QVector<double> plus;
    bool scattered = false;
    for (const CurvePoint& point : curve.points) {
      minus.append(point.value - point.low);
      plus.append(point.high - point.value);
      scattered = scattered || point.high > point.low;
    }
    if (scattered) {
      auto* bars = new QCPErrorBars(xAxis, yAxis);
      bars->setDataPlottable(graph);
      bars->setData(minus, plus);
      bars->setPen(QPen(color, 1.2));
      bars->setSymbolGap(0);
    }
  }
  legend_entries_.push_back({QString::fromStdString(curve.algorithm), graph});
  add_throttled(curve);
}

double IoPlot::shortest_length() const {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Curve& curve : set_.curves) {
    if (!curve.points.empty()) shortest = std::min(shortest, curve.points.front().n);
  }
  for (const FailedPoint& point : set_.failed) shortest = std::min(shortest, point.n);
  return shortest;
}

void IoPlot::add_throttled(const Curve& curve) {
  if (!slowed_by_clocks(curve)) return;
  QVector<double> n;
  QVector<double> values;
  for (const CurvePoint& point : curve.points) {
    if (!point.throttled) continue;
    n.append(point.n);
    values.append(point.value);
  }
  if (n.isEmpty()) return;
  const PlotColors colors = plot_colors(palette());
  // The upper half of the marks, emptied.
  QPainterPath half;
  half.moveTo(disc_size / 2, 0);
  half.arcTo(QRectF(-disc_size / 2, -disc_size / 2, disc_size, disc_size), 0, 180);
  half.closeSubpath();
  QCPGraph* graph = addGraph();
  graph->setName(throttled_words());
  graph->setLineStyle(QCPGraph::lsNone);
  graph->setScatterStyle(
      QCPScatterStyle(half, QPen(curve_color(curve, colors), 1.5), colors.background, path_unit_size));
  graph->setData(n, values, true);
}

void IoPlot::add_throttled_sample() {
  const bool any = std::any_of(set_.curves.begin(), set_.curves.end(), [](const Curve& curve) {
    return slowed_by_clocks(curve) && std::any_of(curve.points.begin(), curve.points.end(),
                                                  [](const CurvePoint& point) { return point.throttled; });
  });
  if (!any) return;
  const PlotColors colors = plot_colors(palette());
  QPainterPath lower_half;  // of a disc: where the halves overlap, odd and even leave the upper one empty
  const QRectF disc(-disc_size / 2, -disc_size / 2, disc_size, disc_size);
  lower_half.addEllipse(disc);
  lower_half.moveTo(disc_size / 2, 0);
  lower_half.arcTo(disc, 0, 180);
  lower_half.closeSubpath();
  QCPGraph* sample = addGraph();
  sample->setName(throttled_words());
  sample->setLineStyle(QCPGraph::lsNone);
  sample->setScatterStyle(QCPScatterStyle(lower_half, QPen(colors.muted, 1.1), colors.muted, 1.15 * path_unit_size));
  legend_entries_.push_back({{}, sample});
}

void IoPlot::add_failed() {
  const PlotColors colors = plot_colors(palette());
  std::map<double, int> stacked;
  std::set<QString> named;
  failed_heights_.clear();
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.92);
  const double shortest = shortest_length();
  for (const FailedPoint& point : set_.failed) {
    failed_heights_.push_back(0.03 + 0.05 * stacked[point.n]++);
    const QColor color = algorithm_color(point.algorithm, colors.dark);
    auto* cross = new QCPItemText(this);
    cross->setText(QStringLiteral("✕"));
    QFont bold = font();
    bold.setBold(true);
    cross->setFont(bold);
    cross->setColor(color);
    cross->setClipToAxisRect(true);
    cross->setPositionAlignment(Qt::AlignCenter);
    cross->position->setTypeX(QCPItemPosition::ptPlotCoords);
    cross->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    cross->position->setCoords(point.n, failed_heights_.back());
    const QString why = failure_words(point.disposition).replace(QStringLiteral(": "), QStringLiteral(":\n"));
    const QString label = QStringLiteral("%1 · %2").arg(short_title(point.algorithm), why);
    if (!named.insert(label).second) continue;
    // The points of a family come in the order of their N: beside the first of its kind there is room, unless nothing
    // ran at all.
    if (point.n > shortest) {
      auto* words = new QCPItemText(this);
      words->setText(to_qstring(to_string(point.disposition)));
      words->setFont(small);
      words->setColor(color);
      words->setClipToAxisRect(true);
      words->setPositionAlignment(Qt::AlignRight | Qt::AlignVCenter);
      words->setPadding({0, 0, 9, 0});
      words->position->setTypeX(QCPItemPosition::ptPlotCoords);
      words->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
      words->position->setCoords(point.n, failed_heights_.back());
    }
    QCPGraph* sample = addGraph();
    sample->setName(label);
    sample->setLineStyle(QCPGraph::lsNone);
    sample->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCross, QPen(color, 1.8), Qt::NoBrush, 7));
    legend_entries_.push_back({QString::fromStdString(point.algorithm), sample});
  }
}

void IoPlot::add_boundaries() {
  const PlotColors colors = plot_colors(palette());
  for (const L2Boundary& boundary : set_.boundaries) {
    QColor color = algorithm_color(boundary.algorithm, colors.dark);
    auto* line = new QCPItemStraightLine(this);
    line->point1->setTypeY(QCPItemPosition::ptAxisRectRatio);
    line->point2->setTypeY(QCPItemPosition::ptAxisRectRatio);
    line->point1->setCoords(boundary.n, 0);
    line->point2->setCoords(boundary.n, 1);
    color.setAlpha(150);
    line->setPen(QPen(color, 1.2, Qt::DashDotDotLine));
    auto* label = new QCPItemText(this);
    const QString owner = boundary.device.isEmpty() ? QString() : boundary.device + QLatin1Char(' ');
    label->setText(tr("%1 > %2L2 %3").arg(short_title(boundary.algorithm), owner, format_capacity(boundary.l2_bytes)));
    label->setFont(font());
    label->setColor(algorithm_color(boundary.algorithm, colors.dark));
    label->setRotation(-90);
    label->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    label->setPadding({2, 2, 2, 3});
    label->position->setTypeX(QCPItemPosition::ptPlotCoords);
    label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    label->position->setCoords(boundary.n, 0.08);
    boundary_items_.push_back({label, boundary.n});
  }
  // Labels stand left of their lines; where two lines are close, the right one's label goes to its right side.
  std::sort(boundary_items_.begin(), boundary_items_.end(),
            [](const BoundaryItems& a, const BoundaryItems& b) { return a.n < b.n; });
  for (std::size_t i = 1; i < boundary_items_.size(); ++i) {
    if (boundary_items_[i].n / boundary_items_[i - 1].n < 1.6) {
      boundary_items_[i].label->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
    }
  }
}

void IoPlot::add_stacks() {
  const bool wanted = stacks_shown_ && !set_.stacks.empty();
  if (!wanted) {
    if (stack_rect_ != nullptr) {
      plotLayout()->remove(stack_rect_);
      stack_rect_ = nullptr;
      plotLayout()->simplify();
    }
    return;
  }
  const PlotColors colors = plot_colors(palette());
  if (stack_rect_ == nullptr) {
    stack_rect_ = new QCPAxisRect(this);
    // The legend is laid out after this: the row below the main plot is free.
    if (legend_grid_ != nullptr) {
      plotLayout()->remove(legend_grid_);
      legend_grid_ = nullptr;
      plotLayout()->simplify();
    }
    plotLayout()->addElement(stack_row, 0, stack_rect_);
    QCPAxis* bottom = stack_rect_->axis(QCPAxis::atBottom);
    bottom->setScaleType(QCPAxis::stLogarithmic);
    bottom->setTicker(QSharedPointer<LengthTicker>::create());
    stack_rect_->setRangeZoom(Qt::Orientations());
    stack_rect_->setRangeDrag(Qt::Orientations());
    auto* group = new QCPMarginGroup(this);
    axisRect()->setMarginGroup(QCP::msLeft | QCP::msRight, group);
    stack_rect_->setMarginGroup(QCP::msLeft | QCP::msRight, group);
    style_axes();
  }
  QCPAxis* bottom = stack_rect_->axis(QCPAxis::atBottom);
  QCPAxis* left = stack_rect_->axis(QCPAxis::atLeft);
  bottom->setRange(xAxis->range());

  const bool dram = std::any_of(set_.curves.begin(), set_.curves.end(), [](const Curve& curve) {
    return curve.kind == CurveKind::measured && curve.quantity == Quantity::dram;
  });
  // Standard attention's count, as the paper has it for n_q = n_k.
  const QString count = set_.queries             ? tr("standard count")
                        : set_.pass == Pass::fwd ? QStringLiteral("(4N²+4Nd)")
                        : set_.pass == Pass::bwd ? QStringLiteral("(7N²+8Nd)")
                                                 : QStringLiteral("(11N²+12Nd)");
  left->setLabel(QStringLiteral("%1 ÷ %2").arg(to_string(dram ? Quantity::dram : Quantity::sm_l2), count));

  std::map<std::string, std::vector<const KernelStack*>> by_algorithm;
  for (const KernelStack& stack : set_.stacks) by_algorithm[stack.algorithm].push_back(&stack);
  double top = 1;
  auto* side_by_side = new QCPBarsGroup(this);
  side_by_side->setSpacing(2);
  for (const auto& [algorithm, stacks] : by_algorithm) {
    const std::size_t kernels = stacks.front()->kernels.size();
    QCPBars* below = nullptr;
    for (std::size_t k = 0; k < kernels; ++k) {
      const KernelStack& first = *stacks.front();
      const QColor color = share_color(algorithm_color(algorithm, colors.dark), k, kernels, colors.dark);
      auto* bars = new QCPBars(bottom, left);
      bars->setName(QStringLiteral("%1 %2 · %3 · %4")
                        .arg(short_title(algorithm), first.kernels[k].kernel,
                             to_string(dram ? Quantity::dram : Quantity::sm_l2),
                             to_qstring(attnscope::to_string(first.provenance))));
      bars->setBrush(QBrush(color, first.provenance == Provenance::simulated  ? Qt::Dense4Pattern
                                   : first.provenance == Provenance::imported ? Qt::BDiagPattern
                                                                              : Qt::SolidPattern));
      bars->setPen(QPen(color, 1));
      bars->setWidthType(QCPBars::wtAbsolute);
      bars->setWidth(16);
      if (below != nullptr) {
        bars->moveAbove(below);
      } else if (by_algorithm.size() > 1) {
        bars->setBarsGroup(side_by_side);
      }
      below = bars;
      for (const KernelStack* stack : stacks) {
        if (k >= stack->kernels.size() || stack->reference_bytes <= 0) continue;
        const KernelShare& share = stack->kernels[k];
        bars->addData(stack->n, (dram ? share.dram_bytes : share.sm_l2_bytes) / stack->reference_bytes);
      }
      legend_entries_.push_back({QString::fromStdString(algorithm), bars});
    }
    for (const KernelStack* stack : stacks) {
      double sum = 0;
      for (const KernelShare& share : stack->kernels) sum += dram ? share.dram_bytes : share.sm_l2_bytes;
      top = std::max(top, sum / stack->reference_bytes);
    }
  }
  left->setRange(0, top * 1.12);
  auto* unity = new QCPItemStraightLine(this);
  unity->setClipAxisRect(stack_rect_);
  for (QCPItemPosition* position : {unity->point1, unity->point2}) {
    position->setAxes(bottom, left);
    position->setAxisRect(stack_rect_);
  }
  unity->point1->setCoords(1, 1);
  unity->point2->setCoords(2, 1);
  unity->setPen(QPen(colors.muted, 1.2, Qt::DashLine));
  plotLayout()->setRowStretchFactor(main_row, 1.7);
  plotLayout()->setRowStretchFactor(stack_row, 1);
}

void IoPlot::prepare_hover() {
  const PlotColors colors = plot_colors(palette());
  std::map<double, std::vector<std::pair<double, HoverRow>>> rows;
  std::map<double, QStringList> notes;
  for (const Curve& curve : set_.curves) {
    if (curve.kind != CurveKind::measured) continue;
    for (const CurvePoint& point : curve.points) rows[point.n];
  }
  for (const FailedPoint& point : set_.failed) {
    rows[point.n];
    notes[point.n] << QStringLiteral("✕ %1: %2 – %3")
                          .arg(short_title(point.algorithm), to_qstring(to_string(point.disposition)), point.reason);
  }
  for (auto& [n, entries] : rows) {
    const auto point_at = [n = n](const Curve& curve) -> const CurvePoint* {
      const auto at = std::lower_bound(curve.points.begin(), curve.points.end(), n,
                                       [](const CurvePoint& point, double wanted) { return point.n < wanted; });
      return at == curve.points.end() || at->n != n ? nullptr : &*at;
    };
    std::map<std::string, double> model;
    std::set<std::string> compared;  // beside their model: it needs no row of its own
    for (const Curve& curve : set_.curves) {
      const CurvePoint* at = point_at(curve);
      if (at != nullptr && curve.kind == CurveKind::model) model[curve.algorithm] = at->value;
      if (at != nullptr && curve.kind == CurveKind::measured && curve.quantity == Quantity::sm_l2) {
        compared.insert(curve.algorithm);
      }
    }
    QStringList tiles;
    std::map<QString, QStringList> throttled;  // algorithms, by the reason
    for (const Curve& curve : set_.curves) {
      const CurvePoint* at = point_at(curve);
      // A fit is a law, not a reading.
      if (at == nullptr || curve.kind == CurveKind::asymptote) continue;
      if (curve.kind == CurveKind::model && compared.contains(curve.algorithm)) continue;
      QString value = format_quantity(at->value, curve.quantity);
      if (at->source != nullptr) {
        const TileShape& tile = at->source->record.spec.tile;
        const QString tile_text = QStringLiteral("%1 %2").arg(short_title(curve.algorithm), format_tile(tile));
        if (tile_stated(tile) && !tiles.contains(tile_text)) tiles << tile_text;
        if (at->throttled) {
          const ClockReading clocks = at->source->record.clocks.value_or(ClockReading{});
          const QString why = QString::fromStdString(describe_throttle_reasons(clocks.throttle_reasons));
          QStringList& slowed = throttled[why];
          if (const QString title = short_title(curve.algorithm); !slowed.contains(title)) slowed << title;
        }
        QStringList aside;
        if (at->repeats > 1) aside << tr("%1 runs").arg(at->repeats);
        if (const QString range = format_range(*at, curve.quantity); !range.isEmpty()) aside << range;
        if (!aside.isEmpty()) value += QStringLiteral(" (%1)").arg(aside.join(QStringLiteral(", ")));
        const auto predicted = model.find(curve.algorithm);
        if (curve.quantity == Quantity::sm_l2 && predicted != model.end()) {
          value += QStringLiteral(" = %1 × model").arg(at->value / predicted->second, 0, 'f', 3);
        }
      }
      const QString label = curve.label.section(QLatin1Char('\n'), 0, 0);
      const SampleMark mark = at->throttled && slowed_by_clocks(curve) ? SampleMark::half_disc : mark_of(curve);
      entries.emplace_back(at->value, HoverRow{curve_color(curve, colors), mark, label, value});
    }
    for (const auto& [why, slowed] : throttled) {
      QString words = set_.ordinate == Ordinate::bytes ? tr("Clocks throttled, which slows times") : throttled_words();
      if (!why.isEmpty()) words += QStringLiteral(" (%1)").arg(why);
      notes[n] << words + QStringLiteral(": ") + slowed.join(QStringLiteral(", "));
    }
    if (!tiles.isEmpty()) notes[n] << tr("Tiles: %1").arg(tiles.join(QStringLiteral("; ")));
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  }
  columns_.clear();
  for (auto& [n, entries] : rows) {
    HoverColumn column;
    column.n = n;
    column.content.title = set_.queries ? tr("n_k = %1, n_q = %2").arg(format_number(n, 9)).arg(*set_.queries)
                                        : tr("N = %1").arg(format_number(n, 9));
    if (set_.per_head) column.content.title += tr(", per head");
    for (auto& [value, row] : entries) column.content.rows.push_back(std::move(row));
    column.content.notes = notes[n];
    columns_.push_back(std::move(column));
  }
}

void IoPlot::lay_out_legend(int width) {
  if (legend_grid_ != nullptr) {
    plotLayout()->remove(legend_grid_);
    plotLayout()->simplify();
    legend_grid_ = nullptr;
  }
  if (legend_entries_.empty()) return;
  const PlotColors colors = plot_colors(palette());
  auto* box = new QCPLegend;
  box->setBorderPen(Qt::NoPen);
  box->setBrush(Qt::NoBrush);
  box->setIconSize(legend_icon_width, 14);
  box->setRowSpacing(1);
  box->setColumnSpacing(8);
  box->setMargins({12, 2, 8, 6});
  legend_grid_ = box;
  plotLayout()->addElement(plotLayout()->rowCount(), 0, box);
  box->setLayer(QStringLiteral("legend"));
  plotLayout()->setRowStretchFactor(plotLayout()->rowCount() - 1, 0.001);

  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.92);
  const QFontMetrics metrics(small);
  std::vector<QString> groups;
  std::vector<int> group_widths;
  int widest = 0;
  for (const LegendEntry& entry : legend_entries_) {
    const int entry_width = metrics.boundingRect(0, 0, 0, 0, Qt::TextDontClip, entry.plottable->name()).width() +
                            legend_icon_width + legend_padding;
    widest = std::max(widest, entry_width);
    auto place = static_cast<std::size_t>(std::find(groups.begin(), groups.end(), entry.group) - groups.begin());
    if (place == groups.size()) {
      groups.push_back(entry.group);
      group_widths.push_back(0);
    }
    group_widths[place] = std::max(group_widths[place], entry_width);
  }
  const int available = width - 24;
  const int columns = std::max(1, available / std::max(1, widest));
  const bool column_per_group =
      groups.size() > 1 && std::accumulate(group_widths.begin(), group_widths.end(), 0) <= available;
  std::map<QString, int> next_row;
  int placed = 0;
  for (const LegendEntry& entry : legend_entries_) {
    auto* item = new QCPPlottableLegendItem(box, entry.plottable);
    item->setFont(small);
    item->setTextColor(colors.text);
    if (column_per_group) {
      const auto column = std::find(groups.begin(), groups.end(), entry.group) - groups.begin();
      box->addElement(next_row[entry.group]++, static_cast<int>(column), item);
    } else {
      box->addElement(placed / columns, placed % columns, item);
      ++placed;
    }
  }
  if (column_per_group) {
    for (std::size_t i = 0; i < groups.size(); ++i) box->setColumnStretchFactor(static_cast<int>(i), group_widths[i]);
  }
}

bool IoPlot::hover_at(const QPointF& position) {
  const QRect area = axisRect()->rect();
  if (columns_.empty() || position.x() < area.left() || position.x() > area.right()) {
    overlay_->clear();
    return false;
  }
  const auto distance = [&](const HoverColumn& column) {
    return std::abs(xAxis->coordToPixel(column.n) - position.x());
  };
  const auto nearest = std::min_element(columns_.begin(), columns_.end(),
                                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (distance(*nearest) > guide_reach) {
    overlay_->clear();
    return false;
  }
  current_column_ = static_cast<int>(nearest - columns_.begin());
  overlay_->setGeometry(rect());
  overlay_->show_content(&nearest->content, position.toPoint(), xAxis->coordToPixel(nearest->n), area);
  return true;
}

void IoPlot::mouseMoveEvent(QMouseEvent* event) {
  QCustomPlot::mouseMoveEvent(event);
  if (event->buttons() == Qt::NoButton) hover_at(event->position());
}

void IoPlot::mousePressEvent(QMouseEvent* event) {
  press_position_ = event->pos();
  QCustomPlot::mousePressEvent(event);
}

void IoPlot::mouseReleaseEvent(QMouseEvent* event) {
  QCustomPlot::mouseReleaseEvent(event);
  if ((event->pos() - press_position_).manhattanLength() > 3) return;
  double best = click_radius;
  const ShownPoint* found = nullptr;
  ShownPoint candidate;
  const QPointF where = event->position();
  for (const Curve& curve : set_.curves) {
    for (const CurvePoint& point : curve.points) {
      if (point.source == nullptr) continue;
      const QPointF pixel(xAxis->coordToPixel(point.n), yAxis->coordToPixel(point.value));
      const double away = QLineF(pixel, where).length();
      if (away >= best) continue;
      best = away;
      candidate = {point.run, point.source};
      found = &candidate;
    }
  }
  const QRect area = axisRect()->rect();
  for (std::size_t i = 0; i < set_.failed.size(); ++i) {
    const FailedPoint& point = set_.failed[i];
    const QPointF pixel(xAxis->coordToPixel(point.n), area.top() + failed_heights_[i] * area.height());
    const double away = QLineF(pixel, where).length();
    if (away >= best) continue;
    best = away;
    candidate = {point.run, point.source};
    found = &candidate;
  }
  if (found != nullptr) emit point_clicked(*found);
}

void IoPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  QCustomPlot::mouseDoubleClickEvent(event);
  reset_view();
}

void IoPlot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  overlay_->clear();
}

void IoPlot::resizeEvent(QResizeEvent* event) {
  lay_out_legend(event->size().width());
  QCustomPlot::resizeEvent(event);
  overlay_->setGeometry(rect());
  overlay_->clear();
}

void IoPlot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    if (overlay_ == nullptr) return;
    const QCPRange x = xAxis->range();
    const QCPRange y = yAxis->range();
    rebuild();
    xAxis->setRange(x);
    yAxis->setRange(y);
    replot(rpQueuedReplot);
  }
}

void IoPlot::keyPressEvent(QKeyEvent* event) {
  const bool left = event->key() == Qt::Key_Left;
  if ((left || event->key() == Qt::Key_Right) && !columns_.empty()) {
    const int last = static_cast<int>(columns_.size()) - 1;
    current_column_ = current_column_ < 0 ? (left ? last : 0) : std::clamp(current_column_ + (left ? -1 : 1), 0, last);
    const QRect area = axisRect()->rect();
    hover_at({xAxis->coordToPixel(columns_[static_cast<std::size_t>(current_column_)].n), area.center().y() + 0.0});
    return;
  }
  if (event->key() == Qt::Key_Home || event->key() == Qt::Key_0) {
    reset_view();
    return;
  }
  QCustomPlot::keyPressEvent(event);
}

template <class Draw>
QString IoPlot::with_layout_for(const QSize& size, Draw draw) {
  lay_out_legend(size.width());
  QString error = draw();
  lay_out_legend(width());
  replot(rpQueuedReplot);
  return error;
}

void IoPlot::draw_vectors(QPaintDevice& device, const QSize& size) {
  QCPPainter painter;
  painter.begin(&device);
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  toPainter(&painter, size.width(), size.height());
}

QString IoPlot::save_png(const QString& file, const QSize& size, double scale) {
  return with_layout_for(
      size, [&] { return save_image(file, toPixmap(size.width(), size.height(), scale).toImage(), "PNG"); });
}

QString IoPlot::save_pdf(const QString& file, const QSize& size) {
  return with_layout_for(size, [&] {
    return save_file(file, [&](QIODevice& out) {
      QPdfWriter writer(&out);
      set_up_page(writer, size, set_.title);
      draw_vectors(writer, size);
      return true;
    });
  });
}

QString IoPlot::save_svg(const QString& file, const QSize& size) {
  return with_layout_for(size, [&] {
    return save_file(file, [&](QIODevice& out) {
      QSvgGenerator generator;
      generator.setOutputDevice(&out);
      set_up_page(generator, size, set_.title);
      draw_vectors(generator, size);
      return true;
    });
  });
}

}  // namespace attnscope::ui

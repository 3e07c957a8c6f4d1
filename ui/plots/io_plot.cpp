// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/io_plot.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "messages/curve_plot.h"
#include "profiler/metrics/metrics.h"
#include "ui/plots/boundary_bands.h"
#include "ui/plots/byte_ticker.h"
#include "ui/plots/curve_graphs.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/failed_marks.h"
#include "ui/plots/focus_frame.h"
#include "ui/plots/plot_export.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr double click_radius = 14;
constexpr int title_margin = 8;
constexpr int least_right_margin = 14;
constexpr int least_with_residuals = 570;  ///< leaves the axes above the panel 300 pixels, between title and legend
constexpr double guide_reach = 60;         ///< pixels from the pointer to the N that it reads

enum PlotRow { title_row, main_row, stack_row };

struct View {
  QCPRange n;
  QCPRange value;
};

/// The ranges that show everything of a set, with margins.
View whole_view(const CurveSet& set, bool log_x, bool log_y, bool peaks) {
  double n_low = std::numeric_limits<double>::infinity();
  double n_high = 0;
  double low = n_low;
  double high = 0;
  for (const Curve& curve : set.curves) {
    for (const CurvePoint& point : curve.points) {
      n_low = std::min(n_low, point.n);
      n_high = std::max(n_high, point.n);
      low = std::min(low, point.low);
      high = std::max(high, point.high);
    }
  }
  for (const FailedPoint& point : set.failed) {
    n_low = std::min(n_low, point.n);
    n_high = std::max(n_high, point.n);
  }
  const bool rate = set.ordinate == Ordinate::rate;
  if (high <= 0) {
    low = rate ? 1 : 1e6;
    high = rate ? 1000 : 1e9;
  }
  if (n_high <= 0) {
    n_low = 256;
    n_high = 16384;
  }
  if (peaks) {
    for (const PeakLine& peak : set.peaks) high = std::max(high, peak.value);
  }
  const double margin = n_low < n_high ? 1.25 : 4;
  const double step = n_low < n_high ? 0.06 * (n_high - n_low) : 0.5;
  const QCPRange n = log_x ? QCPRange(n_low / margin, n_high * margin) : QCPRange(n_low - step, n_high + step);
  // Metrics of their own scale have no orders of magnitude between them.
  const double room = set.axis ? 1.6 : 3;
  return {n,
          log_y ? QCPRange(low / (set.axis ? 1.6 : 2), high * room) : QCPRange(std::min(0.0, 1.15 * low), high * 1.15)};
}

}  // namespace

IoPlot::IoPlot(QWidget* parent) : FramePlot(parent), stacks_(*this, stack_row), residuals_(*this, stack_row) {
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
  addLayer(theory_layer(), layer(QStringLiteral("main")), limBelow);
  addLayer(older_layer(), layer(theory_layer()), limBelow);
  addLayer(selection_layer(), layer(QStringLiteral("main")), limAbove);
  overlay_ = new HoverOverlay(this);
  connect(xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this](const QCPRange& range) {
    overlay_->clear();
    stacks_.set_range(range);
    residuals_.set_range(range);
  });
  connect(this, &QCustomPlot::mouseWheel, this, [this] { user_view_ = true; });
  connect(this, &QCustomPlot::mouseMove, this, [this](const QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0) user_view_ = true;
  });
  connect(this, &QCustomPlot::afterLayout, this, [this] { labels_.place(); });
  // The second of two quick clicks is a click as well.
  for (const auto clicked : {&QCustomPlot::legendClick, &QCustomPlot::legendDoubleClick}) {
    connect(this, clicked, this, [this](QCPLegend* /*box*/, QCPAbstractLegendItem* item, const QMouseEvent* event) {
      click_legend(item, event->modifiers());
    });
  }
  rebuild();
}

void IoPlot::set_curves(const CurveSet& set, bool stacks, bool keep_view) {
  set_ = set;
  stacks_shown_ = stacks;
  if (keep_view) return redraw();
  rebuild();
  reset_view();
}

void IoPlot::redraw() {
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  rebuild();
  xAxis->setRange(x);
  yAxis->setRange(y);
  make_room_for_labels(width());
  replot(rpQueuedReplot);
}

void IoPlot::click_legend(const QCPAbstractLegendItem* item, Qt::KeyboardModifiers modifiers) {
  const PlotLegend::Shown* entry = legend_.shown(item);
  if (entry == nullptr) return;
  const QStringList curves = entry->curves;  // the legend is made anew
  if ((modifiers & Qt::ShiftModifier) != 0) {
    // At the last place that the curve has.
    for (const Curve& curve : shown_.curves) {
      if (curves.contains(curve.label) && !curve.points.empty()) return pick(curve.label, curve.points.back().n);
    }
    return;
  }
  if ((modifiers & Qt::ControlModifier) != 0) {
    isolate(curves);
  } else {
    toggle(curves);
  }
}

CurveSet IoPlot::in_sight() const {
  CurveSet shown = set_;
  std::erase_if(shown.curves, [this](const Curve& curve) { return is_hidden(curve); });
  // Marks and bands go with an algorithm of which nothing is left.
  const auto gone = [&](const auto& mark) {
    const auto of_its_algorithm = [&](const Curve& curve) { return curve.name.algorithm == mark.algorithm; };
    return std::ranges::any_of(set_.curves, of_its_algorithm) && std::ranges::none_of(shown.curves, of_its_algorithm);
  };
  std::erase_if(shown.failed, gone);
  std::erase_if(shown.boundaries, [&](const Boundary& band) {
    const auto of_band = [&](const Curve& curve) {
      return curve.name.algorithm == band.algorithm && (band.device.empty() || curve.name.device == band.device);
    };
    return std::ranges::any_of(set_.curves, of_band) && std::ranges::none_of(shown.curves, of_band);
  });
  // A legend does not speak of a band that lies beside the axes.
  const View view = whole_view(set_, log_x(), log_y(), peaks_shown_);
  std::erase_if(shown.boundaries,
                [&](const Boundary& band) { return band.at.n_high <= view.n.lower || band.at.n_low >= view.n.upper; });
  std::erase_if(shown.stacks, gone);
  return shown;
}

void IoPlot::toggle(const QStringList& curves) {
  const bool show = std::ranges::all_of(curves, [this](const QString& curve) { return hidden_.contains(curve); });
  for (const QString& curve : curves) {
    if (show) {
      hidden_.erase(curve);
    } else {
      hidden_.insert(curve);
    }
  }
  redraw();
}

void IoPlot::isolate(const QStringList& curves) {
  std::set<QString> others;
  for (const Curve& curve : set_.curves) {
    if (!curves.contains(curve.label)) others.insert(curve.label);
  }
  hidden_ = hidden_ == others ? std::set<QString>() : others;
  redraw();
}

void IoPlot::make_room_for_labels(int width) {
  const int room = labels_.room(width);
  axisRect()->setMinimumMargins({0, 0, std::max(room, least_right_margin), 0});
}

void IoPlot::fit_height(int height) {
  const bool low = height < least_with_residuals;
  if (std::exchange(low_, low) != low && residuals_shown_) redraw();
}

void IoPlot::reset_view() {
  const View view = whole_view(set_, log_x(), log_y(), peaks_shown_);
  xAxis->setRange(view.n);
  yAxis->setRange(view.value);
  make_room_for_labels(width());
  user_view_ = false;
  replot(rpQueuedReplot);
}

void IoPlot::rebuild() {
  ring_ = nullptr;
  clearPlottables();
  clearItems();
  legend_.clear();
  overlay_->clear();
  current_column_ = -1;

  // What went with other points is not hidden.
  std::erase_if(hidden_, [this](const QString& label) {
    return std::ranges::none_of(set_.curves, [&](const Curve& curve) { return curve.label == label; });
  });
  shown_ = in_sight();
  const auto hidden = static_cast<std::int64_t>(hidden_.size());
  QStringList words;
  if (hidden > 0) words << qtext(say::curve_plot::curves_hidden{.curves = hidden});
  if (residuals_folded()) words << qtext(say::curve_plot::residuals_folded{});
  legend_.set_hidden(hidden_, words.join(QStringLiteral(" · ")));
  add_curve_graphs(*this, set_.curves, legend_, [this](const Curve& curve) { return is_hidden(curve); });
  add_omissions(*this, shown_, legend_);
  failed_heights_ = add_failed_marks(*this, shown_, legend_);
  name_axes();
  if (shown_.boundaries.size() <= most_bands) {
    const QCPRange n = whole_view(set_, log_x(), log_y(), peaks_shown_).n;
    add_boundary_bands(*this, shown_.boundaries, n, [this](const Boundary& band) {
      // The colour of its curves, which may be a device's.
      const PlotColors colors = plot_colors(palette());
      const auto curve = std::ranges::find_if(shown_.curves, [&](const Curve& each) {
        return each.name.algorithm == band.algorithm && each.name.device == band.device &&
               each.kind == CurveKind::measured;
      });
      return curve == shown_.curves.end() ? algorithm_color(band.algorithm, colors.dark) : curve_color(*curve, colors);
    });
  }
  stacks_.show(shown_, stacks_shown_ && !residuals_shown_, legend_);
  residuals_.show(shown_.curves, residuals_shown_ && !low_, legend_);
  if (peaks_shown_) add_peaks();
  bracket_.show(shown_, plot_colors(palette()));
  labels_.set(shown_.curves, plot_colors(palette()));
  columns_ = build_hover_columns(shown_, plot_colors(palette()));
  draw_selection();
  style_axes();
  legend_.lay_out(size(), Medium::screen);
}

bool IoPlot::select(const ShownPoint& point) {
  selected_ = point;
  if (ring_ != nullptr) removeGraph(std::exchange(ring_, nullptr));
  const bool shown = draw_selection();
  replot(rpQueuedReplot);
  return shown;
}

bool IoPlot::draw_selection() {
  if (!selected_ || set_.points == nullptr) return false;
  const std::optional<Row> row = set_.points->row_of(*selected_);
  QVector<double> x;
  QVector<double> y;
  for (const Curve& curve : shown_.curves) {
    for (const CurvePoint& point : curve.points) {
      if (!row || point.row != row) continue;
      x << point.n;
      y << point.value;
    }
  }
  if (x.isEmpty()) return false;
  ring_ = addGraph();
  ring_->setLineStyle(QCPGraph::lsNone);
  ring_->setScatterStyle(selection_ring(plot_colors(palette()).text));
  ring_->setData(x, y);
  ring_->setLayer(selection_layer());
  return true;
}

void IoPlot::set_extras(bool residuals, bool peaks) {
  residuals_shown_ = residuals;
  peaks_shown_ = peaks;
}

void IoPlot::set_scales(Scale x, Scale y) {
  x_scale_ = x;
  y_scale_ = y;
}

bool IoPlot::log_x() const {
  if (!set_.places.empty()) return false;
  return x_scale_ != Scale::linear;
}

bool IoPlot::log_y() const {
  const bool positive = std::ranges::all_of(set_.curves, [](const Curve& curve) {
    return std::ranges::all_of(curve.points, [](const CurvePoint& point) { return point.low > 0; });
  });
  if (!positive) return false;
  if (y_scale_ != Scale::automatic) return y_scale_ == Scale::logarithmic;
  const Metric* metric = find_metric(set_.metric);
  if (metric != nullptr) return metric->unit == "byte" || metric->unit == "ns" || metric->unit == "cycle";
  return set_.ordinate != Ordinate::rate;
}

void IoPlot::pick(const QString& curve, double near) {
  bracket_.pick(curve, near);
  redraw();
}

bool IoPlot::pick_at(const QPointF& position) {
  const auto row = row_at(position);
  if (!row) return false;
  for (const Curve& curve : shown_.curves) {
    for (const CurvePoint& point : curve.points) {
      if (point.row != row) continue;
      // Of one point two quantities are drawn: the nearer is meant.
      if (std::abs(yAxis->coordToPixel(point.value) - position.y()) > click_radius) continue;
      pick(curve.label, point.n);
      return true;
    }
  }
  return false;
}

void IoPlot::add_peaks() {
  const PlotColors colors = plot_colors(palette());
  for (const PeakLine& peak : set_.peaks) {
    auto* line = new QCPItemStraightLine(this);
    line->point1->setCoords(1, peak.value);
    line->point2->setCoords(2, peak.value);
    // What was measured is drawn through, what a datasheet says is dashed.
    line->setPen(QPen(colors.muted, 1.4, peak.measured ? Qt::SolidLine : Qt::DashLine));
    auto* label = new QCPItemText(this);
    label->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    label->position->setTypeY(QCPItemPosition::ptPlotCoords);
    label->position->setCoords(0.01, peak.value);
    // Below its line: above the highest stand the marks of what did not run.
    label->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
    label->setFont(small_font(font()));
    label->setColor(colors.muted);
    label->setText(peak.text);
  }
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
  QFont title_font = font();
  title_font.setBold(true);
  title_->setFont(title_font);
  title_->setTextColor(colors.text);
}

void IoPlot::name_general_axes() {
  const Metric* metric = find_metric(set_.metric);
  double high = 0;
  for (const Curve& curve : set_.curves) {
    for (const CurvePoint& point : curve.points) high = std::max(high, point.high);
  }
  const UnitScale unit = unit_scale(high > 0 ? high : 1, metric == nullptr ? std::string_view() : metric->unit);
  yAxis->setTicker(QSharedPointer<RoundTicker>::create(unit.factor, log_y()));
  const QString label = metric_label(set_.metric);
  yAxis->setLabel(unit.suffix.empty() || to_qstring(unit.suffix) == label
                      ? label
                      : QStringLiteral("%1 [%2]").arg(label, to_qstring(unit.suffix)));
  const bool memory = set_.axis->key() == analysis::memory_axis().key();
  xAxis->setLabel(memory ? qtext(say::curve_plot::memory_axis{}) : qtext(set_.axis->facet->label));
  if (set_.places.empty()) {
    const bool length = memory || set_.axis->key() == "n" || set_.axis->key() == "n_k";
    if (length && log_x()) {
      xAxis->setTicker(QSharedPointer<LengthTicker>::create());
    } else {
      xAxis->setTicker(QSharedPointer<RoundTicker>::create(1, log_x()));
    }
    return;
  }
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  for (std::size_t i = 0; i < set_.places.size(); ++i) {
    ticker->addTick(static_cast<double>(i) + 1, QString::fromStdString(set_.places[i]));
  }
  xAxis->setTicker(ticker);
}

void IoPlot::name_axes() {
  xAxis->setScaleType(log_x() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  yAxis->setScaleType(log_y() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  if (set_.axis) {
    name_general_axes();
    setAccessibleName(qtext(
        say::curve_plot::name{.ordinate = yAxis->label().toStdString(), .abscissa = xAxis->label().toStdString()}));
    fit_title(width());
    return;
  }
  if (log_x()) {
    xAxis->setTicker(QSharedPointer<LengthTicker>::create());
  } else {
    xAxis->setTicker(QSharedPointer<RoundTicker>::create(1, false));
  }
  xAxis->setLabel(set_.queries ? qtext(say::curve_plot::keys_axis{.n_q = *set_.queries})
                               : qtext(say::curve_plot::length_axis{}));
  switch (set_.ordinate) {
    case Ordinate::bytes:
      if (log_y()) {
        yAxis->setTicker(QSharedPointer<ByteTicker>::create());
      } else {
        yAxis->setTicker(QSharedPointer<LinearByteTicker>::create());
      }
      yAxis->setLabel(set_.per_head ? qtext(say::curve_plot::bytes_per_head_axis{})
                                    : qtext(say::curve_plot::bytes_axis{}));
      break;
    case Ordinate::time:
      if (log_y()) {
        yAxis->setTicker(QSharedPointer<TimeTicker>::create());
      } else {
        yAxis->setTicker(QSharedPointer<RoundTicker>::create(1e-6, false));
      }
      yAxis->setLabel(qtext(say::curve_plot::time_axis{}));
      break;
    case Ordinate::rate:
      yAxis->setTicker(QSharedPointer<RoundTicker>::create(1, log_y()));
      yAxis->setLabel(qtext(say::curve_plot::rate_axis{}));
      break;
  }
  setAccessibleName(
      qtext(say::curve_plot::name{.ordinate = yAxis->label().toStdString(), .abscissa = xAxis->label().toStdString()}));
  fit_title(width());
}

void IoPlot::fit_title(int width) {
  title_->setText(QFontMetrics(title_->font()).elidedText(set_.title, Qt::ElideRight, width - 2 * title_margin));
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

std::optional<Row> IoPlot::row_at(const QPointF& position) const {
  double best = click_radius;
  std::optional<Row> found;
  const auto take = [&](const QPointF& pixel, Row row) {
    const double away = QLineF(pixel, position).length();
    if (away >= best) return;
    best = away;
    found = row;
  };
  for (const Curve& curve : shown_.curves) {
    for (const CurvePoint& point : curve.points) {
      if (point.row) take({xAxis->coordToPixel(point.n), yAxis->coordToPixel(point.value)}, *point.row);
    }
  }
  const QRect area = axisRect()->rect();
  for (std::size_t i = 0; i < shown_.failed.size(); ++i) {
    const FailedPoint& point = shown_.failed[i];
    take({xAxis->coordToPixel(point.n), area.top() + failed_heights_[i] * area.height()}, point.row);
  }
  return found;
}

void IoPlot::select_at(double n) {
  if (!followed_) return;
  for (const Curve& curve : shown_.curves) {
    if (curve.kind != CurveKind::measured || curve.name != followed_->name || curve.quantity != followed_->quantity ||
        curve.provenance != followed_->provenance) {
      continue;
    }
    for (const CurvePoint& point : curve.points) {
      if (point.n == n && point.row) {
        select(set_.at(*point.row));
        emit point_clicked(set_.at(*point.row));
      }
    }
  }
}

bool IoPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    // A legend that found no room for all of itself says the rest here.
    const auto* help = static_cast<QHelpEvent*>(event);
    if (legend_.contains(help->pos())) {
      QToolTip::showText(help->globalPos(),
                         plain_tip(legend_.words() + QStringLiteral("\n\n") + qtext(say::curve_plot::legend_help{})),
                         this);
    } else {
      QToolTip::hideText();
      event->ignore();
    }
    return true;
  }
  return QCustomPlot::event(event);
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
  if ((event->pos() - press_position_).manhattanLength() > 3 || !axisRect()->rect().contains(event->pos())) return;
  if (bracket_.contains(event->position())) {
    QGuiApplication::clipboard()->setText(bracket_.words());
    emit ratio_copied(bracket_.words());
    return;
  }
  if (event->modifiers().testFlag(Qt::ShiftModifier)) {
    pick_at(event->position());
    return;
  }
  const auto row = row_at(event->position());
  if (!row) return;
  followed_.reset();
  for (const Curve& curve : shown_.curves) {
    for (const CurvePoint& at : curve.points) {
      if (at.row == row && !followed_) {
        followed_ = Followed{curve.name, curve.quantity, curve.provenance};
      }
    }
  }
  select(set_.at(*row));
  emit point_clicked(set_.at(*row));
}

void IoPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  const bool on_legend = legend_.contains(event->pos());  // which the click lays out anew
  QCustomPlot::mouseDoubleClickEvent(event);
  if (!on_legend) reset_view();
}

void IoPlot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  overlay_->clear();
}

void IoPlot::resizeEvent(QResizeEvent* event) {
  fit_height(event->size().height());
  fit_title(event->size().width());
  make_room_for_labels(event->size().width());
  legend_.lay_out(event->size(), Medium::screen);
  FramePlot::resizeEvent(event);
  overlay_->setGeometry(rect());
  overlay_->clear();
}

void IoPlot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    if (overlay_ == nullptr) return;
    redraw();
  }
}

void IoPlot::keyPressEvent(QKeyEvent* event) {
  const bool left = event->key() == Qt::Key_Left;
  if ((left || event->key() == Qt::Key_Right) && !columns_.empty()) {
    const int last = static_cast<int>(columns_.size()) - 1;
    current_column_ = current_column_ < 0 ? (left ? last : 0) : std::clamp(current_column_ + (left ? -1 : 1), 0, last);
    const QRect area = axisRect()->rect();
    const double n = columns_[static_cast<std::size_t>(current_column_)].n;
    hover_at({xAxis->coordToPixel(n), area.center().y() + 0.0});
    select_at(n);
    return;
  }
  if (event->matches(QKeySequence::Copy) && !bracket_.words().isEmpty()) {
    QGuiApplication::clipboard()->setText(bracket_.words());
    emit ratio_copied(bracket_.words());
    return;
  }
  if (event->key() == Qt::Key_Escape && !bracket_.picked().isEmpty()) {
    bracket_.forget();
    return redraw();
  }
  if (event->key() == Qt::Key_Home || event->key() == Qt::Key_0) {
    reset_view();
    return;
  }
  QCustomPlot::keyPressEvent(event);
}

void IoPlot::paintEvent(QPaintEvent* event) {
  FramePlot::paintEvent(event);
  draw_focus_frame(*this);
}

void IoPlot::focusInEvent(QFocusEvent* event) {
  QCustomPlot::focusInEvent(event);
  update();
}

void IoPlot::focusOutEvent(QFocusEvent* event) {
  QCustomPlot::focusOutEvent(event);
  update();
}

template <class Draw>
auto IoPlot::with_layout_for(const QSize& size, Draw draw) {
  fit_height(size.height());
  fit_title(size.width());
  make_room_for_labels(size.width());
  legend_.lay_out(size, Medium::paper);
  QCPTextElement* source = nullptr;
  if (!source_.isEmpty()) {
    source = new QCPTextElement(this, source_, small_font(font()));
    source->setTextColor(plot_colors(palette()).muted);
    source->setTextFlags(Qt::AlignRight | Qt::AlignVCenter);
    source->setMargins({12, 0, 8, 6});
    plotLayout()->addElement(plotLayout()->rowCount(), 0, source);
    plotLayout()->setRowStretchFactor(plotLayout()->rowCount() - 1, 0.001);
  }
  layer(selection_layer())->setVisible(false);
  auto result = draw();
  layer(selection_layer())->setVisible(true);
  if (source != nullptr) {
    plotLayout()->remove(source);
    plotLayout()->simplify();
  }
  fit_height(height());
  fit_title(width());
  make_room_for_labels(width());
  legend_.lay_out(this->size(), Medium::screen);
  replot(rpQueuedReplot);
  return result;
}

void IoPlot::render(QCPPainter& painter, const QRect& area) {
  with_layout_for(area.size(), [&] {
    painter.save();
    painter.translate(area.topLeft());
    toPainter(&painter, area.width(), area.height());
    painter.restore();
    return true;
  });
}

QString IoPlot::save_png(const QString& file, const QSize& size, double scale) {
  return with_layout_for(size, [&] { return save_plot_png(*this, file, size, scale); });
}

QString IoPlot::save_svg(const QString& file, const QSize& size) {
  return with_layout_for(size, [&] { return save_plot_svg(*this, file, size, set_.title); });
}

QString IoPlot::save_pdf(const QString& file, const QSize& size) {
  return with_layout_for(size, [&] { return save_plot_pdf(*this, file, size, set_.title); });
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/ratio_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "messages/compare_page.h"
#include "ui/models/comparison_model.h"
#include "ui/plots/axis_style.h"
#include "ui/plots/byte_ticker.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/focus_frame.h"
#include "ui/plots/plot_export.h"
#include "ui/plots/round_ticks.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::Verdict;

constexpr double near_enough = 14;      ///< pixels from the pointer to the mark that it reads
constexpr double beyond_marks = 1.25;   ///< of a logarithmic axis beyond all points, as a factor
constexpr double times_share = 1.6;     ///< height of the times over that of the ratios
constexpr double logarithmic_from = 4;  ///< largest over smallest x from which steps are factors
constexpr int most_ratio_ticks = 5;
constexpr int legend_columns = 4;

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return high < low; }
};

bool steps_are_factors(const Extent& extent) {
  return extent.low > 0 && extent.high >= logarithmic_from * extent.low;
}

Extent extent_of_x(const RatioCurves& curves) {
  Extent extent;
  for (const RatioCurve& curve : curves.curves) {
    for (const RatioPoint& point : curve.points) extent.take(point.x);
  }
  return extent;
}

Extent extent_of_ratios(const RatioCurves& curves) {
  Extent extent;
  const double margin = curves.set->margin;
  for (const double edge : {1 / (1 + 1.6 * margin), 1 + 1.6 * margin}) extent.take(edge);
  for (const RatioCurve& curve : curves.curves) {
    for (const RatioPoint& point : curve.points) {
      extent.take(point.pair->verdict.time.interval.low);
      extent.take(point.pair->verdict.time.interval.high);
    }
  }
  return extent;
}

Qt::PenStyle stroke_of(bool simulated) {
  return simulated ? Qt::DotLine : Qt::SolidLine;
}

}  // namespace

RatioPlot::RatioPlot(QWidget* parent) : FramePlot(parent) {
  setMinimumSize(320, 240);
  setFocusPolicy(Qt::StrongFocus);
  plotLayout()->clear();
  title_ = new QCPTextElement(this);
  title_->setMargins({0, 6, 0, 2});
  times_ = new QCPAxisRect(this);
  ratios_ = new QCPAxisRect(this);
  sides_ = new QCPLegend;
  key_ = new QCPTextElement(this);
  key_->setMargins({0, 0, 0, 4});
  plotLayout()->addElement(0, 0, title_);
  plotLayout()->addElement(1, 0, times_);
  plotLayout()->addElement(2, 0, ratios_);
  plotLayout()->addElement(3, 0, sides_);
  plotLayout()->addElement(4, 0, key_);
  setAutoAddPlottableToLegend(false);  // a side is one entry, whatever it is drawn with
  sides_->setLayer(QStringLiteral("legend"));
  sides_->setFillOrder(QCPLayoutGrid::foColumnsFirst);
  sides_->setWrap(legend_columns);
  sides_->setBorderPen(Qt::NoPen);
  sides_->setBrush(Qt::NoBrush);
  for (const int row : {0, 3, 4}) plotLayout()->setRowStretchFactor(row, 0.001);
  plotLayout()->setRowStretchFactor(1, times_share);
  auto* sides = new QCPMarginGroup(this);
  for (QCPAxisRect* panel : {times_, ratios_}) {
    panel->setMarginGroup(QCP::msLeft | QCP::msRight, sides);
    for (QCPAxis* axis : panel->axes()) {
      axis->setLayer(QStringLiteral("axes"));
      axis->grid()->setLayer(QStringLiteral("grid"));
    }
  }
  addLayer(selection_layer(), layer(QStringLiteral("main")), limAbove);
  overlay_ = new HoverOverlay(this);
  rebuild();
}

void RatioPlot::set_curves(RatioCurves curves) {
  walked_.reset();
  curves_ = std::move(curves);
  rebuild();
  replot(rpQueuedReplot);
}

QColor RatioPlot::color_of(std::size_t curve) const {
  return category_color(curve, plot_colors(palette()).dark);
}

QStringList RatioPlot::legend_words() const {
  QStringList words;
  for (int i = 0; i < sides_->itemCount(); ++i) {
    if (auto* item = qobject_cast<QCPPlottableLegendItem*>(sides_->item(i))) words << item->plottable()->name();
  }
  return words;
}

void RatioPlot::rebuild() {
  overlay_->clear();
  marks_.clear();
  sides_->clearItems();
  rings_.clear();
  clearPlottables();
  clearItems();
  const PlotColors colors = plot_colors(palette());
  setBackground(QBrush(colors.background));
  QFont bold = font();
  bold.setBold(true);
  title_->setFont(bold);
  title_->setTextColor(colors.text);
  key_->setFont(small_font(font()));
  key_->setTextColor(colors.muted);
  sides_->setFont(small_font(font()));
  sides_->setTextColor(colors.text);
  for (QCPAxisRect* panel : {times_, ratios_}) {
    for (QCPAxis* axis : panel->axes()) style_axis(*axis, colors, font());
  }
  title_text_.clear();
  key_text_.clear();
  if (curves_.set != nullptr && !curves_.curves.empty()) {
    title_text_ = qtext(say::compare_page::curves_title{.base = curves_.set->base_name().toStdString(),
                                                        .problem = curves_.problem.toStdString()});
    key_text_ = qtext(key_words());
    set_up_axes();
    draw_margin();
    draw_baseline();
    for (std::size_t i = 0; i < curves_.curves.size(); ++i) {
      draw_times(i);
      draw_ratios(i);
    }
    draw_selection();
  }
  setAccessibleName(qtext(say::compare_page::plot_name{.title = title_text_.toStdString()}));
  fit_words(width());
}

/// Of what is drawn alone.
Message RatioPlot::key_words() const {
  const auto any = [&](const auto& is) {
    return std::ranges::any_of(curves_.curves,
                               [&](const RatioCurve& curve) { return std::ranges::any_of(curve.points, is); });
  };
  const bool bars = any([](const RatioPoint& point) {
    const Interval& interval = point.pair->verdict.time.interval;
    return interval.high > interval.low;
  });
  const bool crossed = any([&](const RatioPoint& point) {
    return origin(point.pair->base.front()) == Provenance::extrapolated ||
           origin(point.pair->other.front()) == Provenance::extrapolated;
  });
  const std::string margin = number_text(100 * curves_.set->margin);
  Message key = say::compare_page::plot_key{.margin = margin};
  if (!bars) key = say::compare_page::plot_key_computed{.margin = margin};
  if (crossed) key = say::compare_page::plot_key_extrapolated{.key = key};
  return key;
}

void RatioPlot::set_up_axes() {
  const Extent x = extent_of_x(curves_);
  Extent times;
  for (const RatioCurve& curve : curves_.curves) {
    for (const RatioPoint& point : curve.points) {
      times.take(point.pair->base_ns);
      times.take(point.pair->other_ns);
    }
  }
  const Extent ratios = extent_of_ratios(curves_);
  const bool factors = steps_are_factors(x);
  const bool of_lengths = factors && curves_.x->speaks_for("n_k");
  for (QCPAxisRect* panel : {times_, ratios_}) {
    QCPAxis* bottom = panel->axis(QCPAxis::atBottom);
    bottom->setScaleType(factors ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (of_lengths) {
      bottom->setTicker(QSharedPointer<LengthTicker>::create());
    } else {
      // The values that there are: of a setting that is no length they are few.
      const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
      for (const RatioCurve& curve : curves_.curves) {
        for (const RatioPoint& point : curve.points) ticker->addTick(point.x, format_number(point.x, 6));
      }
      bottom->setTicker(ticker);
    }
    const double aside = x.high > x.low ? 0.05 * (x.high - x.low) : std::max(1.0, 0.1 * x.high);
    if (factors) {
      bottom->setRange(x.low / beyond_marks, x.high * beyond_marks);
    } else {
      bottom->setRange(x.low - aside, x.high + aside);
    }
  }
  times_->axis(QCPAxis::atBottom)->setTickLabels(false);
  ratios_->axis(QCPAxis::atBottom)->setLabel(qtext(curves_.x->facet->label));
  QCPAxis* time = times_->axis(QCPAxis::atLeft);
  time->setScaleType(QCPAxis::stLogarithmic);
  time->setTicker(QSharedPointer<TimeTicker>::create());
  time->setRange(times.low / beyond_marks, times.high * beyond_marks);
  time->setLabel(qtext(say::compare_page::time_axis{}));
  // As far above 1 as below: twice and half are alike far off.
  QCPAxis* ratio = ratios_->axis(QCPAxis::atLeft);
  ratio->setScaleType(QCPAxis::stLogarithmic);
  const double end = std::exp(1.1 * std::max(std::log(ratios.high), -std::log(ratios.low)));
  ratio->setRange(1 / end, end);
  const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  ticker->addTick(1, QStringLiteral("1"));
  for (const double tick : round_ticks(1 / end, end, most_ratio_ticks, end > 3)) {
    if (std::abs(std::log(tick)) > 0.08 * std::log(end)) ticker->addTick(tick, QString::number(tick, 'g', 3));
  }
  ratio->setTicker(ticker);
  ratio->setLabel(qtext(say::compare_page::ratio_axis{}));
}

void RatioPlot::draw_margin() {
  const PlotColors colors = plot_colors(palette());
  QCPAxis* x = ratios_->axis(QCPAxis::atBottom);
  QCPAxis* y = ratios_->axis(QCPAxis::atLeft);
  auto* band = new QCPItemRect(this);
  auto* unity = new QCPItemStraightLine(this);
  for (QCPItemPosition* position : {band->topLeft, band->bottomRight, unity->point1, unity->point2}) {
    position->setAxisRect(ratios_);
    position->setAxes(x, y);
  }
  for (QCPItemPosition* corner : {band->topLeft, band->bottomRight}) {
    corner->setTypeX(QCPItemPosition::ptAxisRectRatio);
    corner->setTypeY(QCPItemPosition::ptPlotCoords);
  }
  band->setClipAxisRect(ratios_);
  unity->setClipAxisRect(ratios_);
  band->topLeft->setCoords(0, 1 + curves_.set->margin);
  band->bottomRight->setCoords(1, 1 / (1 + curves_.set->margin));
  band->setPen(Qt::NoPen);
  QColor shade = colors.muted;
  shade.setAlphaF(0.22F);
  band->setBrush(shade);
  band->setLayer(QStringLiteral("grid"));
  unity->point1->setCoords(x->range().lower, 1);
  unity->point2->setCoords(x->range().upper, 1);
  unity->setPen(QPen(colors.muted, 1.2, Qt::DashLine));
  unity->setLayer(QStringLiteral("grid"));
}

QCPGraph* RatioPlot::add_line(QCPAxisRect* panel, const QPen& pen) {
  QCPGraph* line = addGraph(panel->axis(QCPAxis::atBottom), panel->axis(QCPAxis::atLeft));
  line->setPen(pen);
  return line;
}

void RatioPlot::add_marks(QCPAxisRect* panel, const QColor& color, SampleMark mark, const QVector<double>& x,
                          const QVector<double>& y) {
  if (x.isEmpty()) return;
  QCPGraph* marks = add_line(panel, QPen(color));
  marks->setLineStyle(QCPGraph::lsNone);
  marks->setScatterStyle(scatter_of(mark, color, plot_colors(palette()).background));
  marks->setData(x, y);
}

void RatioPlot::draw_baseline() {
  const QColor color = plot_colors(palette()).text;
  std::map<double, std::pair<double, Row>> base;
  std::map<double, std::pair<std::size_t, std::size_t>> from;  // curve and point that it is the base of
  for (std::size_t c = 0; c < curves_.curves.size(); ++c) {
    const RatioCurve& curve = curves_.curves[c];
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const RatioPoint& point = curve.points[i];
      const auto [known, first] = base.try_emplace(point.x, point.pair->base_ns, point.pair->base.front());
      if (!first && known->second.first <= point.pair->base_ns) continue;
      known->second = {point.pair->base_ns, point.pair->base.front()};
      from[point.x] = {c, i};
    }
  }
  for (const auto& [x, at] : from) marks_.push_back({times_, x, base.at(x).first, at.first, at.second, true});
  const bool simulated = std::ranges::any_of(
      base, [&](const auto& at) { return mark_of_values(origin(at.second.second)) != SampleMark::disc; });
  QCPGraph* line = add_line(times_, QPen(color, 1.8, stroke_of(simulated)));
  Message name = say::compare_page::baseline_named{.base = curves_.set->base_name().toStdString()};
  const bool computed = std::ranges::any_of(base, [&](const auto& at) {
    const Provenance its = origin(at.second.second);
    return its == Provenance::simulated || its == Provenance::extrapolated;
  });
  if (computed) name = say::compare_page::simulated_named{.side = name};
  line->setName(qtext(name));
  sides_->addItem(new QCPPlottableLegendItem(sides_, line));
  std::map<SampleMark, std::pair<QVector<double>, QVector<double>>> by_mark;
  for (const auto& [x, at] : base) {
    line->addData(x, at.first);
    auto& [xs, ys] = by_mark[mark_of_values(origin(at.second))];
    xs << x;
    ys << at.first;
  }
  for (const auto& [mark, drawn] : by_mark) add_marks(times_, color, mark, drawn.first, drawn.second);
}

void RatioPlot::draw_times(std::size_t place) {
  const RatioCurve& curve = curves_.curves[place];
  const QColor color = color_of(place);
  QCPGraph* line = add_line(times_, QPen(color, 1.6, stroke_of(curve.simulated)));
  line->setName(curve.simulated ? qtext(say::compare_page::simulated_named{.side = curve.name.toStdString()})
                                : curve.name);
  sides_->addItem(new QCPPlottableLegendItem(sides_, line));
  std::map<SampleMark, std::pair<QVector<double>, QVector<double>>> by_mark;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const RatioPoint& point = curve.points[i];
    line->addData(point.x, point.pair->other_ns);
    auto& [xs, ys] = by_mark[mark_of_values(origin(point.pair->other.front()))];
    xs << point.x;
    ys << point.pair->other_ns;
    marks_.push_back({times_, point.x, point.pair->other_ns, place, i, false});
  }
  for (const auto& [mark, drawn] : by_mark) add_marks(times_, color, mark, drawn.first, drawn.second);
}

void RatioPlot::draw_ratios(std::size_t place) {
  const RatioCurve& curve = curves_.curves[place];
  const QColor color = color_of(place);
  QCPGraph* line = add_line(ratios_, QPen(color, 1.4, stroke_of(curve.simulated_ratio)));
  std::map<SampleMark, std::pair<QVector<double>, QVector<double>>> by_mark;
  for (const bool decided : {true, false}) {
    // Bars of their own, for what is undecided has dashed ones without ends.
    QCPGraph* at = add_line(ratios_, Qt::NoPen);
    at->setLineStyle(QCPGraph::lsNone);
    auto* bars = new QCPErrorBars(ratios_->axis(QCPAxis::atBottom), ratios_->axis(QCPAxis::atLeft));
    bars->setDataPlottable(at);
    bars->setPen(QPen(color, 1.1, decided ? Qt::SolidLine : Qt::DashLine));
    bars->setSymbolGap(0);
    if (!decided) bars->setWhiskerWidth(0);
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const RatioPoint& point = curve.points[i];
      if ((point.pair->verdict.verdict != Verdict::ambiguous) != decided) continue;
      const analysis::RatioInterval& ratio = point.pair->verdict.time;
      at->addData(point.x, ratio.ratio);
      bars->addData(ratio.ratio - ratio.interval.low, ratio.interval.high - ratio.ratio);
    }
  }
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const RatioPoint& point = curve.points[i];
    const double ratio = point.pair->verdict.time.ratio;
    line->addData(point.x, ratio);
    auto& [xs, ys] = by_mark[mark_of_values(provenance_of(*curves_.set, *point.pair))];
    xs << point.x;
    ys << ratio;
    marks_.push_back({ratios_, point.x, ratio, place, i, false});
  }
  for (const auto& [mark, drawn] : by_mark) add_marks(ratios_, color, mark, drawn.first, drawn.second);
}

bool RatioPlot::select(const ShownPoint& point) {
  selected_ = point;
  for (QCPGraph* ring : rings_) removeGraph(ring);
  rings_.clear();
  const bool shown = draw_selection();
  replot(rpQueuedReplot);
  return shown;
}

bool RatioPlot::draw_selection() {
  if (!selected_ || curves_.set == nullptr) return false;
  const std::optional<Row> row = curves_.set->points->row_of(*selected_);
  if (!row) return false;
  for (const Mark& mark : marks_) {
    const ComparedPair& pair = *curves_.curves[mark.curve].points[mark.point].pair;
    const bool of_base = std::ranges::find(pair.base, *row) != pair.base.end();
    const bool of_other = std::ranges::find(pair.other, *row) != pair.other.end();
    // A ratio is of both sides.
    if (mark.panel == ratios_ ? !of_base && !of_other : mark.of_base ? !of_base : !of_other) continue;
    QCPGraph* ring = add_line(mark.panel, Qt::NoPen);
    ring->setLineStyle(QCPGraph::lsNone);
    ring->setScatterStyle(selection_ring(plot_colors(palette()).text));
    ring->addData(mark.x, mark.y);
    ring->setLayer(selection_layer());
    rings_.push_back(ring);
  }
  return !rings_.empty();
}

const RatioPlot::Mark* RatioPlot::mark_near(const QPointF& position) const {
  const Mark* nearest = nullptr;
  double best = near_enough;
  for (const Mark& mark : marks_) {
    const QPointF pixel(mark.panel->axis(QCPAxis::atBottom)->coordToPixel(mark.x),
                        mark.panel->axis(QCPAxis::atLeft)->coordToPixel(mark.y));
    const double away = QLineF(pixel, position).length();
    if (away > best) continue;  // of marks at one place the last lies above the others
    best = away;
    nearest = &mark;
  }
  return nearest;
}

HoverContent RatioPlot::read_out(const Mark& mark) const {
  const RatioCurve& curve = curves_.curves[mark.curve];
  const ComparedPair& pair = *curve.points[mark.point].pair;
  const Row base = pair.base.front();
  const Row other = pair.other.front();
  const QColor color = color_of(mark.curve);
  HoverContent content;
  content.title = qtext(say::compare_page::point_at{.axis = qtext(curves_.x->facet->label).toStdString(),
                                                    .value = number_text(mark.x, 6)});
  const auto side = [&](const QColor& of, const QString& name, Row row, double ns) {
    content.rows.push_back({of, mark_of_values(origin(row)),
                            QStringLiteral("%1 · %2").arg(name, to_qstring(origin(row))), qtext(Nanoseconds(ns))});
  };
  side(plot_colors(palette()).text, curves_.set->base_name(), base, pair.base_ns);
  if (mark.of_base) return content;
  side(color, curve.name, other, pair.other_ns);
  content.rows.push_back({color, SampleMark::none, qtext(say::compare_page::ratio_of{.side = curve.name.toStdString()}),
                          interval_words(pair.verdict.time)});
  content.notes << verdict_words(pair.verdict.verdict);
  if (const QString settle = settling_words(*curves_.set, pair); !settle.isEmpty()) content.notes << settle;
  return content;
}

bool RatioPlot::hover_at(const QPointF& position) {
  const Mark* mark = mark_near(position);
  if (mark == nullptr) {
    overlay_->clear();
    return false;
  }
  read_ = read_out(*mark);
  overlay_->setGeometry(rect());
  overlay_->show_content(&read_, position.toPoint());
  return true;
}

void RatioPlot::mouseMoveEvent(QMouseEvent* event) {
  QCustomPlot::mouseMoveEvent(event);
  hover_at(event->position());
}

void RatioPlot::mousePressEvent(QMouseEvent* event) {
  QCustomPlot::mousePressEvent(event);
  const Mark* mark = mark_near(event->position());
  if (mark == nullptr) return;
  const ComparedPair& pair = *curves_.curves[mark->curve].points[mark->point].pair;
  const ShownPoint point = (*curves_.set->points)[mark->of_base ? pair.base.front() : pair.other.front()];
  select(point);
  emit point_clicked(point);
}

void RatioPlot::step(int curves, int points) {
  if (curves_.curves.empty()) return;
  const auto last = static_cast<int>(curves_.curves.size()) - 1;
  const bool first = !walked_;
  const std::size_t curve =
      first ? 0 : static_cast<std::size_t>(std::clamp(static_cast<int>(walked_->first) + curves, 0, last));
  const std::vector<RatioPoint>& along = curves_.curves[curve].points;
  std::size_t place = points < 0 ? along.size() - 1 : 0;
  if (!first) {
    const double x = curves_.curves[walked_->first].points[walked_->second].x;
    const auto nearest = std::ranges::min_element(along, {}, [&](const RatioPoint& at) { return std::abs(at.x - x); });
    const auto there = static_cast<int>(nearest - along.begin());
    place = static_cast<std::size_t>(std::clamp(there + points, 0, static_cast<int>(along.size()) - 1));
  }
  walked_ = {curve, place};
  const RatioPoint& point = along[place];
  hover_at({ratios_->axis(QCPAxis::atBottom)->coordToPixel(point.x),
            ratios_->axis(QCPAxis::atLeft)->coordToPixel(point.pair->verdict.time.ratio)});
  const ShownPoint shown = (*curves_.set->points)[point.pair->other.front()];
  select(shown);
  emit point_clicked(shown);
}

void RatioPlot::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      return step(0, -1);
    case Qt::Key_Right:
      return step(0, 1);
    case Qt::Key_Up:
      return step(-1, 0);
    case Qt::Key_Down:
      return step(1, 0);
    default:
      QCustomPlot::keyPressEvent(event);
  }
}

void RatioPlot::paintEvent(QPaintEvent* event) {
  FramePlot::paintEvent(event);
  draw_focus_frame(*this);
}

void RatioPlot::focusInEvent(QFocusEvent* event) {
  QCustomPlot::focusInEvent(event);
  update();
}

void RatioPlot::focusOutEvent(QFocusEvent* event) {
  QCustomPlot::focusOutEvent(event);
  update();
}

void RatioPlot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  overlay_->clear();
}

void RatioPlot::fit_words(int width) {
  constexpr int edges = 16;
  title_->setText(QFontMetrics(title_->font()).elidedText(title_text_, Qt::ElideRight, width - edges));
  key_->setText(QFontMetrics(key_->font()).elidedText(key_text_, Qt::ElideRight, width - edges));
}

void RatioPlot::resizeEvent(QResizeEvent* event) {
  fit_words(event->size().width());
  FramePlot::resizeEvent(event);
  overlay_->setGeometry(rect());
  overlay_->clear();
}

void RatioPlot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  if (overlay_ == nullptr) return;
  rebuild();
  replot(rpQueuedReplot);
}

QString RatioPlot::save(const QString& file, const QSize& size) {
  fit_words(size.width());
  auto* source = new QCPTextElement(this, source_, small_font(font()));
  source->setTextColor(plot_colors(palette()).muted);
  source->setTextFlags(Qt::AlignRight | Qt::AlignVCenter);
  source->setMargins({12, 0, 8, 6});
  plotLayout()->addElement(5, 0, source);
  plotLayout()->setRowStretchFactor(5, 0.001);
  layer(selection_layer())->setVisible(false);
  QString error = save_plot(*this, file, size, title_text_);
  layer(selection_layer())->setVisible(true);
  plotLayout()->remove(source);
  plotLayout()->simplify();
  fit_words(width());
  replot(rpQueuedReplot);
  return error;
}

}  // namespace attnscope::ui

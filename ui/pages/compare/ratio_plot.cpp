// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/ratio_plot.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "messages/compare_page.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::Verdict;

constexpr double beyond_marks = 1.25;   ///< of a logarithmic axis beyond all points, as a factor
constexpr double times_share = 1.6;     ///< height of the times over that of the ratios
constexpr double logarithmic_from = 4;  ///< largest over smallest x from which steps are factors
constexpr int most_ratio_ticks = 5;
constexpr int legend_columns = 4;

bool steps_are_factors(const Extent& extent) {
  return extent.low > 0 && extent.high >= logarithmic_from * extent.low;
}

template <class Take>
void each_point(const RatioCurves& curves, Take take) {
  for (const RatioCurve& curve : curves.curves) {
    for (const RatioPoint& point : curve.points) take(point);
  }
}

Qt::PenStyle stroke_of(bool simulated) {
  return simulated ? Qt::DotLine : Qt::SolidLine;
}

}  // namespace

RatioPlot::RatioPlot(QWidget* parent)
    : MarkedPlot(parent), sides_(new QCPLegend), times_(new QCPAxisRect(this)), ratios_(new QCPAxisRect(this)) {
  plotLayout()->remove(axisRect());
  plotLayout()->addElement(1, 0, times_);
  plotLayout()->addElement(2, 0, ratios_);
  plotLayout()->addElement(3, 0, sides_);
  plotLayout()->setRowStretchFactor(1, times_share);
  plotLayout()->setRowStretchFactor(3, 0.001);
  add_key();
  setAutoAddPlottableToLegend(false);  // a side is one entry, whatever it is drawn with
  sides_->setLayer(QStringLiteral("legend"));
  sides_->setFillOrder(QCPLayoutGrid::foColumnsFirst);
  sides_->setWrap(legend_columns);
  sides_->setBorderPen(Qt::NoPen);
  sides_->setBrush(Qt::NoBrush);
  auto* sides = new QCPMarginGroup(this);
  for (QCPAxisRect* panel : {times_, ratios_}) {
    panel->setMarginGroup(QCP::msLeft | QCP::msRight, sides);
    for (QCPAxis* axis : panel->axes()) {
      axis->setLayer(QStringLiteral("axes"));
      axis->grid()->setLayer(QStringLiteral("grid"));
    }
  }
  rebuild();
}

void RatioPlot::set_curves(RatioCurves curves) {
  walked_.reset();
  curves_ = std::move(curves);
  redraw();
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

void RatioPlot::draw_contents() {
  points_ = curves_.set ? curves_.set->points() : nullptr;
  const PlotColors colors = plot_colors(palette());
  sides_->clearItems();
  sides_->setFont(small_font(font()));
  sides_->setTextColor(colors.text);
  for (QCPAxisRect* panel : {times_, ratios_}) {
    for (QCPAxis* axis : panel->axes()) style_axis(*axis, colors, font());
  }
  if (points_ != nullptr && !curves_.curves.empty()) {
    title_text_ = qtext(say::compare_page::curves_title{.base = curves_.set->base_name().toStdString(),
                                                        .problem = curves_.problem.toStdString()});
    key_text_ = qtext(key_words());
    set_up_axes();
    const double margin = 1 + curves_.set->view.margin;
    add_band(*ratios_, 1 / margin, margin, faded(colors.muted, 0.22));
    add_level(*ratios_, 1, QPen(colors.muted, 1.2, Qt::DashLine))->setLayer(QStringLiteral("grid"));
    draw_baseline();
    for (std::size_t i = 0; i < curves_.curves.size(); ++i) {
      draw_times(i);
      draw_ratios(i);
    }
  }
  setAccessibleName(qtext(say::compare_page::plot_name{.title = title_text_.toStdString()}));
}

/// What stands below the axes names what is drawn alone.
Message RatioPlot::key_words() const {
  bool bars = false;
  bool crossed = false;
  each_point(curves_, [&](const RatioPoint& point) {
    const Interval& interval = point.pair->verdict.time.interval;
    bars = bars || interval.high > interval.low;
    crossed = crossed || origin(point.pair->base.front()) == Provenance::extrapolated ||
              origin(point.pair->other.front()) == Provenance::extrapolated;
  });
  const std::string margin = number_text(100 * curves_.set->view.margin);
  Message key = say::compare_page::plot_key{.margin = margin};
  if (!bars) key = say::compare_page::plot_key_computed{.margin = margin};
  if (crossed) key = say::compare_page::plot_key_extrapolated{.key = key};
  return key;
}

void RatioPlot::set_up_abscissas() {
  Extent x;
  each_point(curves_, [&](const RatioPoint& point) { x.take(point.x); });
  const bool factors = steps_are_factors(x);
  QSharedPointer<QCPAxisTicker> ticker = length_ticker();
  if (!factors || !curves_.x->speaks_for("n_k")) {
    // The values that there are: of a setting that is no length they are few.
    const auto values = QSharedPointer<QCPAxisTickerText>::create();
    each_point(curves_, [&](const RatioPoint& point) { values->addTick(point.x, format_number(point.x, 6)); });
    ticker = values;
  }
  const double room = x.high > x.low ? 0.05 * (x.high - x.low) : std::max(1.0, 0.1 * x.high);
  for (QCPAxisRect* panel : {times_, ratios_}) {
    QCPAxis* bottom = panel->axis(QCPAxis::atBottom);
    bottom->setScaleType(factors ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    bottom->setTicker(ticker);
    if (factors) {
      bottom->setRange(x.low / beyond_marks, x.high * beyond_marks);
    } else {
      bottom->setRange(x.low - room, x.high + room);
    }
  }
}

void RatioPlot::set_up_axes() {
  Extent times;
  Extent ratios;
  const double margin = 1 + 1.6 * curves_.set->view.margin;
  for (const double edge : {1 / margin, margin}) ratios.take(edge);
  each_point(curves_, [&](const RatioPoint& point) {
    const auto& [low, high] = point.pair->verdict.time.interval;
    for (const double ns : {point.pair->base_ns, point.pair->other_ns}) times.take(ns);
    for (const double edge : {low, high}) ratios.take(edge);
  });
  set_up_abscissas();
  times_->axis(QCPAxis::atBottom)->setTickLabels(false);
  ratios_->axis(QCPAxis::atBottom)->setLabel(qtext(curves_.x->facet->label));
  QCPAxis* time = times_->axis(QCPAxis::atLeft);
  time->setScaleType(QCPAxis::stLogarithmic);
  time->setTicker(time_ticker());
  time->setRange(times.low / beyond_marks, times.high * beyond_marks);
  time->setLabel(qtext(say::compare_page::time_axis{}));
  // As far above 1 as below: twice and half are alike far off.
  QCPAxis* ratio = ratios_->axis(QCPAxis::atLeft);
  ratio->setScaleType(QCPAxis::stLogarithmic);
  const double end = std::exp(1.1 * std::max(std::log(ratios.high), -std::log(ratios.low)));
  ratio->setRange(1 / end, end);
  const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  std::vector<double> ticks = round_ticks(1 / end, end, most_ratio_ticks, end > 3);
  std::erase_if(ticks, [&](double tick) { return std::abs(std::log(tick)) <= 0.08 * std::log(end); });
  ticks.push_back(1);
  const QStringList labels = tick_labels(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) ticker->addTick(ticks[i], labels[static_cast<qsizetype>(i)]);
  ratio->setTicker(ticker);
  ratio->setLabel(qtext(say::compare_page::ratio_axis{}));
}

void RatioPlot::draw_values(QCPGraph& line, const std::vector<std::pair<Provenance, Mark>>& values) {
  MarkGraphs graphs(*line.keyAxis()->axisRect(), [&](SampleMark mark) {
    return scatter_of(mark, line.pen().color(), plot_colors(palette()).background);
  });
  for (const auto& [provenance, mark] : values) {
    line.addData(mark.x, mark.y);
    add_mark(graphs.of(mark_of_values(provenance)), mark);
  }
}

void RatioPlot::draw_side(const QColor& color, double width, bool simulated, const Message& name,
                          const std::vector<std::pair<Provenance, Mark>>& values) {
  QCPGraph* line = add_line(*times_, QPen(color, width, stroke_of(simulated)));
  line->setName(qtext(simulated ? Message(say::compare_page::simulated_named{.side = name}) : name));
  sides_->addItem(new QCPPlottableLegendItem(sides_, line));
  draw_values(*line, values);
}

void RatioPlot::draw_baseline() {
  std::map<double, Mark> fastest;  // by x: a baseline that several curves have
  for (std::size_t c = 0; c < curves_.curves.size(); ++c) {
    for (std::size_t i = 0; i < curves_.curves[c].points.size(); ++i) {
      const auto& [x, pair] = curves_.curves[c].points[i];
      const Mark mark{times_, x, pair->base_ns, c, i, pair->base};
      Mark& known = fastest.try_emplace(x, mark).first->second;
      if (mark.y < known.y) known = mark;
    }
  }
  std::vector<std::pair<Provenance, Mark>> values;
  bool simulated = false;
  for (const auto& [x, mark] : fastest) {
    values.emplace_back(origin(mark.rows.front()), mark);
    simulated = simulated || is_simulated(values.back().first);
  }
  draw_side(plot_colors(palette()).text, 1.8, simulated,
            say::compare_page::baseline_named{.base = curves_.set->base_name().toStdString()}, values);
}

void RatioPlot::draw_times(std::size_t place) {
  const RatioCurve& curve = curves_.curves[place];
  std::vector<std::pair<Provenance, Mark>> values;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const auto& [x, pair] = curve.points[i];
    values.emplace_back(origin(pair->other.front()), Mark{times_, x, pair->other_ns, place, i, pair->other});
  }
  draw_side(color_of(place), 1.6, curve.simulated, Message::verbatim(curve.name.toStdString()), values);
}

void RatioPlot::draw_ratios(std::size_t place) {
  const RatioCurve& curve = curves_.curves[place];
  const QColor color = color_of(place);
  QCPGraph* line = add_line(*ratios_, QPen(color, 1.4, stroke_of(curve.simulated_ratio)));
  for (const bool decided : {true, false}) {
    // Bars of their own, for what is undecided has dashed ones without ends.
    QCPGraph* at = add_marks(*ratios_, {});
    auto* bars = new QCPErrorBars(ratios_->axis(QCPAxis::atBottom), ratios_->axis(QCPAxis::atLeft));
    bars->setDataPlottable(at);
    bars->setPen(QPen(color, 1.1, decided ? Qt::SolidLine : Qt::DashLine));
    bars->setSymbolGap(0);
    if (!decided) bars->setWhiskerWidth(0);
    for (const auto& [x, pair] : curve.points) {
      if ((pair->verdict.verdict != Verdict::ambiguous) != decided) continue;
      const analysis::RatioInterval& time = pair->verdict.time;
      at->addData(x, time.ratio);
      bars->addData(time.ratio - time.interval.low, time.interval.high - time.ratio);
    }
  }
  std::vector<std::pair<Provenance, Mark>> values;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const auto& [x, pair] = curve.points[i];
    std::vector<Row> both = pair->other;  // a ratio is of both sides
    both.insert(both.end(), pair->base.begin(), pair->base.end());
    values.emplace_back(provenance_of(curves_.set->table(), *pair),
                        Mark{ratios_, x, pair->verdict.time.ratio, place, i, std::move(both)});
  }
  draw_values(*line, values);
}

HoverContent RatioPlot::read_out(const Mark& mark) const {
  const RatioCurve& curve = curves_.curves[mark.series];
  const ComparedPair& pair = *curve.points[mark.point].pair;
  const QColor color = color_of(mark.series);
  HoverContent content;
  content.title = qtext(say::compare_page::point_at{.axis = qtext(curves_.x->facet->label).toStdString(),
                                                    .value = number_text(mark.x, 6)});
  const auto side = [&](const QColor& of, const QString& name, Row row, double ns) {
    content.rows.push_back({of, mark_of_values(origin(row)),
                            QStringLiteral("%1 · %2").arg(name, to_qstring(origin(row))), qtext(Nanoseconds(ns))});
  };
  side(plot_colors(palette()).text, curves_.set->base_name(), pair.base.front(), pair.base_ns);
  if (mark.rows == pair.base) return content;
  side(color, curve.name, pair.other.front(), pair.other_ns);
  content.rows.push_back({color, SampleMark::none, qtext(say::compare_page::ratio_of{.side = curve.name.toStdString()}),
                          to_qstring(analysis::ratio_text(pair.verdict.time))});
  content.notes << qtext(analysis::verdict_title(pair.verdict.verdict));
  const Message settle = analysis::settling_words(curves_.set->table(), pair, curves_.set->view.margin);
  if (!settle.empty()) content.notes << qtext(settle);
  return content;
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
  const auto mark = std::ranges::find_if(
      marks_, [&](const Mark& each) { return each.panel == ratios_ && each.series == curve && each.point == place; });
  hover_at(pixel_of(*ratios_, {mark->x, mark->y}));
  click_mark(*mark);
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
      MarkedPlot::keyPressEvent(event);
  }
}

}  // namespace attnscope::ui

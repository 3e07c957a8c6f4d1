// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/roofline_plot.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "messages/curve_plot.h"
#include "messages/roofline_page.h"
#include "ui/plots/axis_style.h"
#include "ui/plots/byte_ticker.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_export.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::Roof;
using analysis::RoofSource;

constexpr double tera = 1e12;
constexpr double mark_reach = 14;        ///< pixels from the pointer to the mark that it reads
constexpr double told_apart = 1.02;      ///< executed over visible FLOPs, from which a line is drawn
constexpr double beyond_points = 2.5;    ///< of the axes beyond marks, as a factor
constexpr double beyond_ceilings = 1.8;  ///< likewise, beyond the highest ceiling
constexpr double beyond_ridge = 4;       ///< of the axis of intensities, beyond where roof and highest ceiling meet
constexpr double endless = 1e9;          ///< as a factor, of lines that go on beyond the axes
constexpr double other_level_strength = 0.45;

enum RooflineRow { roofline_title_row, roofline_axes_row };

SampleMark mark_of_roofline(const RooflinePoint& point) {
  if (point.provenance == Provenance::simulated) return SampleMark::hollow_disc;
  if (point.provenance == Provenance::extrapolated) return SampleMark::plus_disc;
  if (point.provenance == Provenance::imported) return SampleMark::diamond;
  return point.throttled ? SampleMark::half_disc : SampleMark::disc;
}

bool is_measured(RoofSource source) {
  return source == RoofSource::measured || source == RoofSource::alike;
}

QPen pen_of(RoofSource source, const QColor& color, double width) {
  QPen pen(color, width);
  pen.setCapStyle(Qt::FlatCap);
  if (source == RoofSource::datasheet) pen.setDashPattern({7, 4});
  if (!is_measured(source) && source != RoofSource::datasheet) pen.setDashPattern({1.5, 3});
  return pen;
}

QColor strength_of(QColor color, double strength) {
  color.setAlphaF(static_cast<float>(strength));
  return color;
}

QCPScatterStyle upright_dash(const QColor& color) {
  constexpr double half = 7;
  QPainterPath dash;
  dash.moveTo(0, -half);
  dash.lineTo(0, half);
  return {dash, QPen(color, 1.3), Qt::NoBrush, 6};
}

bool is_of_level(const Roof& roof, RooflineLevel level) {
  return roof.bound == (level == RooflineLevel::dram ? analysis::Bound::dram : analysis::Bound::l2);
}

}  // namespace

RooflinePlot::RooflinePlot(QWidget* parent) : FramePlot(parent) {
  setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 240);
  legend->setVisible(false);
  QCPAxisRect* axes = axisRect();
  plotLayout()->take(axes);
  plotLayout()->simplify();
  title_ = new QCPTextElement(this);
  title_->setMargins({0, 6, 0, 2});
  title_->setTextFlags(Qt::AlignCenter);
  plotLayout()->addElement(roofline_title_row, 0, title_);
  plotLayout()->addElement(roofline_axes_row, 0, axes);
  plotLayout()->setRowStretchFactor(roofline_title_row, 0.001);
  axes->setMinimumMargins({0, 0, 14, 0});
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setTicker(QSharedPointer<NumberTicker>::create());
  }
  addLayer(QStringLiteral("roofs"), layer(QStringLiteral("main")), limBelow);
  addLayer(selection_layer(), layer(QStringLiteral("main")), limAbove);
  overlay_ = new HoverOverlay(this);
  connect(this, &QCustomPlot::afterLayout, this, [this] { labels_.place(); });
  for (const auto clicked : {&QCustomPlot::legendClick, &QCustomPlot::legendDoubleClick}) {
    connect(this, clicked, this, [this](QCPLegend* /*box*/, QCPAbstractLegendItem* item, const QMouseEvent* event) {
      click_legend(item, event->modifiers());
    });
  }
  rebuild();
}

void RooflinePlot::set_roofline(RooflineSet set) {
  set_ = std::move(set);
  rebuild();
  reset_view();
}

bool RooflinePlot::is_hidden(const RooflineSeries& series) const {
  return hidden_.contains(series_title(set_, series));
}

void RooflinePlot::click_legend(const QCPAbstractLegendItem* item, Qt::KeyboardModifiers modifiers) {
  const PlotLegend::Shown* entry = legend_.shown(item);
  if (entry == nullptr) return;
  const QStringList titles = entry->curves;  // the legend is made anew
  if ((modifiers & Qt::ControlModifier) != 0) {
    isolate(titles);
  } else {
    toggle(titles);
  }
}

void RooflinePlot::toggle(const QStringList& titles) {
  const bool show = std::ranges::all_of(titles, [this](const QString& title) { return hidden_.contains(title); });
  for (const QString& title : titles) {
    if (show) {
      hidden_.erase(title);
    } else {
      hidden_.insert(title);
    }
  }
  rebuild();
  replot(rpQueuedReplot);
}

void RooflinePlot::isolate(const QStringList& titles) {
  std::set<QString> others;
  for (const RooflineSeries& series : set_.report.series) {
    const QString title = series_title(set_, series);
    if (!titles.contains(title)) others.insert(title);
  }
  hidden_ = hidden_ == others ? std::set<QString>() : others;
  rebuild();
  replot(rpQueuedReplot);
}

void RooflinePlot::find_marks() {
  marks_.clear();
  for (std::size_t i = 0; i < set_.report.series.size(); ++i) {
    const RooflineSeries& series = set_.report.series[i];
    if (is_hidden(series)) continue;
    for (std::size_t k = 0; k < series.points.size(); ++k) {
      const auto intensity = series.points[k].intensity(set_.level);
      if (intensity) marks_.push_back({*intensity, series.points[k].flops_per_second() / tera, i, k});
    }
  }
}

void RooflinePlot::rebuild() {
  overlay_->clear();
  rings_.clear();
  clearPlottables();
  clearItems();
  legend_.clear();
  labels_.clear();
  // What went with other points is not hidden.
  std::erase_if(hidden_, [this](const QString& title) {
    return std::ranges::none_of(set_.report.series,
                                [&](const RooflineSeries& series) { return series_title(set_, series) == title; });
  });
  const auto hidden = static_cast<std::int64_t>(hidden_.size());
  legend_.set_hidden(hidden_, hidden == 0 ? QString() : qtext(say::roofline_page::hidden{.series = hidden}));
  find_marks();
  draw_roofs();
  for (std::size_t i = 0; i < set_.report.series.size(); ++i) draw_series(i);
  for (const Mark& mark : marks_) labels_.keep_free({mark.x, mark.y});
  draw_selection();
  if (set_.points) add_keys();

  const PlotColors colors = plot_colors(palette());
  setBackground(QBrush(colors.background));
  for (QCPAxis* axis : axisRect()->axes()) style_axis(*axis, colors, font());
  const std::string level = level_words(set_.level).toStdString();
  title_text_ = qtext(say::roofline_page::plot_title{
      .level = level, .device = set_.device.toStdString(), .problem = set_.problem.toStdString()});
  xAxis->setLabel(qtext(say::roofline_page::intensity_axis{.level = level}));
  yAxis->setLabel(qtext(say::roofline_page::rate_axis{}));
  QFont bold = font();
  bold.setBold(true);
  title_->setFont(bold);
  title_->setTextColor(colors.text);
  fit_title(size());
  setAccessibleName(qtext(say::roofline_page::name{.title = title_text_.toStdString()}));
  legend_.lay_out(size(), Medium::screen);
}

void RooflinePlot::reset_view() {
  double low_x = std::numeric_limits<double>::infinity();
  double high_x = 0;
  double low_y = low_x;
  double high_y = 0;
  for (const Mark& mark : marks_) {
    low_x = std::min(low_x, mark.x);
    high_x = std::max(high_x, mark.x);
    low_y = std::min(low_y, mark.y);
    high_y = std::max(high_y, mark.y);
  }
  double highest = 0;
  double lowest = std::numeric_limits<double>::infinity();
  for (const Roof& roof : set_.report.roofs) {
    if (roof.of_memory()) continue;
    highest = std::max(highest, analysis::ceiling_flops(roof, set_.report.like));
    lowest = std::min(lowest, analysis::ceiling_flops(roof, set_.report.like));
  }
  for (const Roof& roof : set_.report.roofs) {
    if (!is_of_level(roof, set_.level)) continue;
    high_x = std::max(high_x, highest / roof.rate * beyond_ridge / beyond_points);
    low_x = std::min(low_x, lowest / roof.rate);  // a roof is seen, wherever the points lie
  }
  if (marks_.empty() || high_x <= 0) return replot(rpQueuedReplot);
  high_y = std::max(high_y, highest / tera);
  xAxis->setRange(low_x / beyond_points, high_x * beyond_points);
  yAxis->setRange(low_y / beyond_points, high_y * beyond_ceilings);
  replot(rpQueuedReplot);
}

void RooflinePlot::draw_roofs() {
  for (const Roof& roof : set_.report.roofs) {
    if (roof.of_memory()) {
      draw_roof(roof);
    } else {
      draw_ceiling(roof);
    }
  }
}

void RooflinePlot::draw_roof(const Roof& roof) {
  const PlotColors colors = plot_colors(palette());
  double highest = 0;
  for (const Roof& other : set_.report.roofs) {
    if (!other.of_memory()) highest = std::max(highest, analysis::ceiling_flops(other, set_.report.like));
  }
  const bool strong = is_of_level(roof, set_.level);
  const QColor color = strong ? colors.text : strength_of(colors.text, other_level_strength);
  QCPGraph* line = addGraph();
  line->setLayer(QStringLiteral("roofs"));
  line->setPen(pen_of(roof.source, color, strong ? 2.2 : 1.2));
  line->setName(roof_words(set_, roof));
  const double end = highest > 0 ? highest / roof.rate : endless;
  line->addData(end / endless, end / endless * roof.rate / tera);
  line->addData(end, end * roof.rate / tera);
  labels_.add_roof({1, roof.rate / tera}, roof_words(set_, roof), strong ? colors.text : colors.muted);
}

void RooflinePlot::draw_ceiling(const Roof& roof) {
  const PlotColors colors = plot_colors(palette());
  const double flops = analysis::ceiling_flops(roof, set_.report.like);
  double ridge = 1;
  for (const Roof& memory : set_.report.roofs) {
    if (is_of_level(memory, set_.level)) ridge = flops / memory.rate;
  }
  QCPGraph* line = addGraph();
  line->setLayer(QStringLiteral("roofs"));
  line->setPen(pen_of(roof.source, colors.text, 1.6));
  line->setName(roof_words(set_, roof));
  line->addData(ridge, flops / tera);
  line->addData(ridge * endless, flops / tera);
  labels_.add_ceiling(flops / tera, roof_words(set_, roof), colors.text);
}

void RooflinePlot::draw_series(std::size_t place) {
  const RooflineSeries& series = set_.report.series[place];
  const PlotColors colors = plot_colors(palette());
  const QColor color = series_color(set_, series, colors.dark);
  const QString title = series_title(set_, series);
  const bool hidden = is_hidden(series);
  auto* line = new QCPCurve(xAxis, yAxis);
  line->setPen(QPen(strength_of(color, series.n ? 0.55 : 1), series.n ? 1.1 : 1.6));
  line->setName(title);
  line->setVisible(!hidden);
  double at = 0;
  for (const Mark& mark : marks_) {
    if (mark.series == place) line->addData(at++, mark.x, mark.y);
  }
  const bool first_of_title =
      std::ranges::none_of(std::span(set_.report.series).first(place),
                           [&](const RooflineSeries& other) { return series_title(set_, other) == title; });
  if (first_of_title) {
    QCPGraph* key = addGraph();  // a curve has no mark in a legend
    key->setName(title);
    key->setPen(QPen(color, 1.6));
    const SampleMark mark = series.points.empty() ? SampleMark::disc : mark_of_roofline(series.points.front());
    key->setScatterStyle(scatter_of(mark == SampleMark::half_disc ? SampleMark::disc : mark, color, colors.background));
    legend_.add(QString(), key, {}, title);
  }
  if (hidden) return;
  draw_theory(place);
  draw_marks(place);
  if (!series.n) name_ends(place);
}

void RooflinePlot::draw_marks(std::size_t place) {
  const RooflineSeries& series = set_.report.series[place];
  const PlotColors colors = plot_colors(palette());
  const QColor color = series_color(set_, series, colors.dark);
  std::map<SampleMark, QCPGraph*> by_mark;
  for (const Mark& mark : marks_) {
    if (mark.series != place) continue;
    const SampleMark shape = mark_of_roofline(series.points[mark.point]);
    QCPGraph*& graph = by_mark[shape];
    if (graph == nullptr) {
      graph = addGraph();
      graph->setLineStyle(QCPGraph::lsNone);
      QCPScatterStyle style = scatter_of(shape, color, colors.background);
      constexpr double of_map = 5;
      if (series.n && style.shape() != QCPScatterStyle::ssCustom) style.setSize(of_map);
      graph->setScatterStyle(style);
    }
    graph->addData(mark.x, mark.y);
  }
}

void RooflinePlot::draw_theory(std::size_t place) {
  const RooflineSeries& series = set_.report.series[place];
  const PlotColors colors = plot_colors(palette());
  QColor faint = series_color(set_, series, colors.dark);
  QCPGraph* closed = addGraph();
  closed->setLayer(QStringLiteral("roofs"));
  closed->setLineStyle(QCPGraph::lsNone);
  closed->setScatterStyle(upright_dash(faint));
  for (const Mark& mark : marks_) {
    if (mark.series != place) continue;
    const RooflinePoint& point = series.points[mark.point];
    if (const auto modelled = point.model_intensity(set_.level); modelled && !series.n) {
      closed->addData(*modelled, mark.y);
    }
    const double ratio = point.executed_ratio();
    if (ratio < told_apart) continue;
    QCPGraph* executed = addGraph();
    executed->setLayer(QStringLiteral("roofs"));
    executed->setPen(QPen(faint, 1.3, Qt::DotLine));
    executed->addData(mark.x, mark.y);
    executed->addData(mark.x * ratio, mark.y * ratio);
  }
}

void RooflinePlot::name_ends(std::size_t place) {
  const Mark* first = nullptr;
  const Mark* last = nullptr;
  for (const Mark& mark : marks_) {
    if (mark.series != place) continue;
    if (first == nullptr) first = &mark;
    last = &mark;
  }
  if (first == nullptr) return;
  const RooflineSeries& series = set_.report.series[place];
  const QColor color = series_color(set_, series, plot_colors(palette()).dark);
  for (const Mark* mark : {last, first}) {
    labels_.add_mark({mark->x, mark->y}, format_length(static_cast<double>(series.points[mark->point].n)), color);
    if (first == last) break;
  }
}

void RooflinePlot::add_key(const QString& words, const QPen& pen, const QCPScatterStyle& scatter) {
  QCPGraph* sample = addGraph();
  sample->setName(words);
  sample->setPen(pen);
  sample->setScatterStyle(scatter);
  legend_.add(QStringLiteral("keys"), sample, PlotLegend::Style{words, pen, scatter});
}

void RooflinePlot::add_keys() {
  const PlotColors colors = plot_colors(palette());
  const auto any_roof = [&](const auto& is) { return std::ranges::any_of(set_.report.roofs, is); };
  if (any_roof([](const Roof& roof) { return is_measured(roof.source); })) {
    add_key(qtext(say::roofline_page::key_measured{}), pen_of(RoofSource::measured, colors.text, 2));
  }
  if (any_roof([](const Roof& roof) { return roof.source == RoofSource::datasheet; })) {
    add_key(qtext(say::roofline_page::key_datasheet{}), pen_of(RoofSource::datasheet, colors.text, 2));
  }
  if (any_roof([](const Roof& roof) { return !is_measured(roof.source) && roof.source != RoofSource::datasheet; })) {
    add_key(qtext(say::roofline_page::key_estimate{}), pen_of(RoofSource::stated, colors.text, 2));
  }
  bool closed = false;
  bool executed = false;
  bool throttled = false;
  for (const Mark& mark : marks_) {
    const RooflineSeries& series = set_.report.series[mark.series];
    const RooflinePoint& point = series.points[mark.point];
    closed = closed || (!series.n && point.model_intensity(set_.level));
    executed = executed || point.executed_ratio() >= told_apart;
    throttled = throttled || point.throttled;
  }
  if (closed) add_key(qtext(say::roofline_page::key_closed_form{}), QPen(Qt::NoPen), upright_dash(colors.muted));
  if (executed) add_key(qtext(say::roofline_page::key_executed{}), QPen(colors.muted, 1.3, Qt::DotLine));
  if (throttled) {
    add_key(qtext(say::roofline_page::key_throttled{}), QPen(Qt::NoPen),
            scatter_of(SampleMark::half_disc, colors.muted, colors.background));
  }
}

bool RooflinePlot::select(const ShownPoint& point) {
  selected_ = point;
  for (QCPGraph* ring : std::exchange(rings_, {})) removeGraph(ring);
  const bool shown = draw_selection();
  replot(rpQueuedReplot);
  return shown;
}

bool RooflinePlot::draw_selection() {
  const std::optional<Row> row = selected_ && set_.points ? set_.points->row_of(*selected_) : std::nullopt;
  if (!row) return false;
  for (const Mark& mark : marks_) {
    if (set_.report.series[mark.series].points[mark.point].row != *row) continue;
    if (rings_.empty()) {
      rings_.push_back(addGraph());
      rings_.front()->setLineStyle(QCPGraph::lsNone);
      rings_.front()->setScatterStyle(selection_ring(plot_colors(palette()).text));
      rings_.front()->setLayer(selection_layer());
    }
    rings_.front()->addData(mark.x, mark.y);
  }
  return !rings_.empty();
}

const RooflinePlot::Mark* RooflinePlot::mark_near(const QPointF& position) const {
  const Mark* nearest = nullptr;
  double best = mark_reach;
  for (const Mark& mark : marks_) {
    const double away = QLineF({xAxis->coordToPixel(mark.x), yAxis->coordToPixel(mark.y)}, position).length();
    if (away > best) continue;  // of marks at one place the last lies above the others
    best = away;
    nearest = &mark;
  }
  return nearest;
}

HoverContent RooflinePlot::read_out(const Mark& mark) const {
  const RooflineSeries& series = set_.report.series[mark.series];
  const RooflinePoint& point = series.points[mark.point];
  const PlotColors colors = plot_colors(palette());
  const QColor color = series_color(set_, series, colors.dark);
  const auto rate = [](double flops_per_second) { return qtext(FlopsPerSecond(flops_per_second)); };
  HoverContent content;
  const analysis::PointTable& table = set_.points->table();
  const std::string algorithm = analysis::short_title(table.algorithms(), series.algorithm);
  content.title = qtext(say::roofline_page::at{.series = algorithm, .n = point.n});
  content.rows.push_back({color, mark_of_roofline(point),
                          qtext(say::roofline_page::visible{.provenance = to_qstring(point.provenance).toStdString()}),
                          rate(point.flops_per_second())});
  if (point.executed_flops) {
    content.rows.push_back(
        {color, SampleMark::none, qtext(say::roofline_page::executed{}), rate(*point.executed_flops / point.ns * 1e9)});
  }
  for (const RooflineLevel level : analysis::roofline_levels) {
    const auto counted = point.intensity(level);
    if (!counted) continue;
    const std::string measured = number_text(*counted);
    const std::string provenance = to_qstring(intensity_provenance(set_, point, level)).toStdString();
    const auto modelled = point.model_intensity(level);
    const Message value =
        modelled ? Message(say::roofline_page::intensity_closed{
                       .measured = measured, .provenance = provenance, .modelled = number_text(*modelled)})
                 : Message(say::roofline_page::intensity_value{.measured = measured, .provenance = provenance});
    content.rows.push_back({colors.text, SampleMark::none,
                            qtext(say::roofline_page::intensity{.level = level_words(level).toStdString()}),
                            qtext(value)});
    if (const auto limit = limit_of(set_, point, level)) {
      const std::string form = limit_words(*limit).toStdString();
      Message words = say::roofline_page::limit_value{.form = form, .value = number_text(limit->intensity)};
      content.rows.push_back({colors.muted, SampleMark::none,
                              qtext(say::roofline_page::limit{.level = level_words(level).toStdString()}),
                              limit->of.empty() ? limit_words(*limit) : qtext(words)});
    }
  }
  for (const analysis::BoundShare& share : point.shares) {
    content.rows.push_back({colors.text, SampleMark::none,
                            qtext(say::roofline_page::share{.bound = to_string(share.bound)}),
                            qtext(say::roofline_page::share_value{.time = text(Nanoseconds(share.ns)),
                                                                  .percent = text(Share(share.ns / point.ns))})});
  }
  if (!point.shares.empty()) {
    content.notes << qtext(
        say::roofline_page::hits{.bound = bound_words(point).toStdString(), .percent = text(Share(point.reached()))});
    const auto by_datasheet = [](const analysis::BoundShare& share) { return share.bound == analysis::Bound::tensor; };
    if (std::ranges::any_of(point.shares, by_datasheet)) content.notes << qtext(say::roofline_page::upper_bound{});
  }
  content.notes << qtext(say::roofline_page::tile{.tile = format_tile(table.tile_of(point.row)).toStdString()});
  if (point.throttled) content.notes << qtext(say::roofline_page::throttled{});
  content.notes << QStringLiteral("%1 · %2").arg(set_.points->run_of(point.row)->title,
                                                 QString::fromStdString(analysis::device_title(table, series.run)));
  return content;
}

bool RooflinePlot::hover_at(const QPointF& position) {
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

bool RooflinePlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QCustomPlot::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  if (legend_.contains(help->pos())) {
    const QString words = legend_.words() + QStringLiteral("\n\n") + qtext(say::curve_plot::legend_help{});
    QToolTip::showText(help->globalPos(), plain_tip(words), this);
  } else {
    QToolTip::hideText();
    event->ignore();
  }
  return true;
}

void RooflinePlot::mouseMoveEvent(QMouseEvent* event) {
  QCustomPlot::mouseMoveEvent(event);
  if (event->buttons() == Qt::NoButton) hover_at(event->position());
}

void RooflinePlot::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->pos();
  QCustomPlot::mousePressEvent(event);
}

void RooflinePlot::mouseReleaseEvent(QMouseEvent* event) {
  QCustomPlot::mouseReleaseEvent(event);
  if ((event->pos() - pressed_).manhattanLength() > 3 || !axisRect()->rect().contains(event->pos())) return;
  const Mark* mark = mark_near(event->position());
  if (mark == nullptr) return;
  const ShownPoint clicked = (*set_.points)[set_.report.series[mark->series].points[mark->point].row];
  select(clicked);
  emit point_clicked(clicked);
}

void RooflinePlot::mouseDoubleClickEvent(QMouseEvent* event) {
  const bool on_legend = legend_.contains(event->pos());  // which the click lays out anew
  QCustomPlot::mouseDoubleClickEvent(event);
  if (!on_legend) reset_view();
}

void RooflinePlot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  overlay_->clear();
}

void RooflinePlot::fit_title(const QSize& size) {
  constexpr int sides = 16;
  constexpr int room_for_two_lines = 430;  // of the plot: the axes of a low one need it more
  const QFontMetrics metrics(title_->font());
  const int width = size.width() - sides;
  QStringList lines{title_text_};
  if (metrics.horizontalAdvance(title_text_) > width && size.height() >= room_for_two_lines) {
    lines = {title_text_.chopped(set_.problem.size()), set_.problem};
    const QString bullet = QStringLiteral(" · ");
    if (lines.front().endsWith(bullet)) lines.front().chop(bullet.size());
  }
  for (QString& line : lines) line = metrics.elidedText(line, Qt::ElideRight, width);
  title_->setText(lines.join(QLatin1Char('\n')));
}

void RooflinePlot::resizeEvent(QResizeEvent* event) {
  fit_title(event->size());
  legend_.lay_out(event->size(), Medium::screen);
  FramePlot::resizeEvent(event);
  overlay_->setGeometry(rect());
  overlay_->clear();
}

void RooflinePlot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  if (overlay_ == nullptr) return;
  rebuild();
  replot(rpQueuedReplot);
}

QString RooflinePlot::save(const QString& file, const QSize& size) {
  fit_title(size);
  legend_.lay_out(size, Medium::paper);
  auto* source = new QCPTextElement(this, source_, small_font(font()));
  source->setTextColor(plot_colors(palette()).muted);
  source->setTextFlags(Qt::AlignRight | Qt::AlignVCenter);
  source->setMargins({12, 0, 8, 6});
  const int row = plotLayout()->rowCount();
  plotLayout()->addElement(row, 0, source);
  plotLayout()->setRowStretchFactor(row, 0.001);
  layer(selection_layer())->setVisible(false);
  QString error = save_plot(*this, file, size, title_text_);
  layer(selection_layer())->setVisible(true);
  plotLayout()->remove(source);
  plotLayout()->simplify();
  fit_title(this->size());
  legend_.lay_out(this->size(), Medium::screen);
  replot(rpQueuedReplot);
  return error;
}

}  // namespace attnscope::ui

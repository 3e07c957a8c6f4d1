// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/law_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "messages/law_page.h"
#include "ui/plots/axis_style.h"
#include "ui/plots/byte_ticker.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_export.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::LawPoint;
using analysis::LawVariable;

constexpr std::array variables{LawVariable::n, LawVariable::d, LawVariable::m};
constexpr double reach = 14;           ///< pixels from the pointer to the mark that it reads
constexpr double faint = 0.4;          ///< strength of the slices that have no fit's line
constexpr double covered_rim = 4.5;    ///< pixels that a covered mark is larger
constexpr double small_mark = 4.5;     ///< diameter in pixels
constexpr int band_strength = 46;      ///< of 255
constexpr double band_margin = 2.5;    ///< of the axis beyond the bands, as a factor
constexpr double point_margin = 1.35;  ///< beyond all points, as a factor

/// Elements in powers of ten: "10 M".
class ElementTicker : public ByteTicker {
 protected:
  QString getTickLabel(double tick, const QLocale& /*locale*/, QChar /*format*/, int /*precision*/) override {
    return qtext(Elements(tick));
  }
};

bool is_played(Provenance provenance) {
  return provenance == Provenance::simulated || provenance == Provenance::extrapolated;
}

SampleMark mark_of(Provenance provenance) {
  if (provenance == Provenance::extrapolated) return SampleMark::plus_disc;
  return is_played(provenance) ? SampleMark::hollow_disc : SampleMark::disc;
}

QColor faded(QColor color, double strength) {
  color.setAlphaF(static_cast<float>(strength));
  return color;
}

/// The points that differ in one variable alone, in its order.
using Slice = std::vector<std::size_t>;
std::vector<Slice> slices_of(const LawFamily& family, LawVariable along) {
  std::map<std::array<double, analysis::law_variables>, Slice> slices;
  for (std::size_t i = 0; i < family.points.size(); ++i) {
    auto others = family.points[i].at;
    others.at(static_cast<std::size_t>(along)) = 0;
    slices[others].push_back(i);
  }
  std::vector<Slice> result;
  for (auto& [others, slice] : slices) {
    std::ranges::sort(slice, {}, [&](std::size_t i) { return family.points[i].value(along); });
    result.push_back(std::move(slice));
  }
  return result;
}

/// The middle one of the longest.
std::size_t strong_slice(const std::vector<Slice>& slices) {
  const std::size_t longest = std::ranges::max_element(slices, {}, &Slice::size)->size();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (slices[i].size() == longest) places.push_back(i);
  }
  return places[places.size() / 2];
}

QString axis_words(LawVariable variable) {
  if (variable == LawVariable::m) return qtext(say::law_page::m_axis{});
  return variable == LawVariable::n ? qtext(say::law_page::n{}) : qtext(say::law_page::d{});
}

}  // namespace

LawPlot::LawPlot(QWidget* parent) : FramePlot(parent) {
  setMinimumSize(320, 200);
  setFocusPolicy(Qt::StrongFocus);
  plotLayout()->clear();
  title_ = new QCPTextElement(this);
  title_->setMargins({0, 6, 0, 2});
  plotLayout()->addElement(0, 0, title_);
  grid_ = new QCPLayoutGrid;
  plotLayout()->addElement(1, 0, grid_);
  key_ = new QCPTextElement(this);
  key_->setMargins({0, 0, 0, 4});
  plotLayout()->addElement(2, 0, key_);
  plotLayout()->setRowStretchFactor(2, 0.001);
  plotLayout()->setRowStretchFactor(0, 0.001);
  grid_->setColumnSpacing(4);
  addLayer(selection_layer(), layer(QStringLiteral("main")), limAbove);
  overlay_ = new HoverOverlay(this);
  rebuild();
}

void LawPlot::set_laws(LawSet set, LawLevel level, LawView view) {
  set_ = std::move(set);
  level_ = level;
  view_ = view;
  rebuild();
  replot(rpQueuedReplot);
}

QColor LawPlot::color_of(std::size_t family) const {
  return family_color(set_, set_.families[family], plot_colors(palette()).dark);
}

template <class Value>
LawPlot::Range LawPlot::range_of(Value value) const {
  Range range{std::numeric_limits<double>::infinity(), 0};
  for (const std::size_t family : drawn_) {
    for (const LawPoint& point : set_.families[family].points) {
      range.low = std::min(range.low, value(point));
      range.high = std::max(range.high, value(point));
    }
  }
  return range;
}

void LawPlot::rebuild() {
  overlay_->clear();
  rings_.clear();
  clearPlottables();
  clearItems();
  marks_.clear();
  panels_.clear();
  grid_->clear();
  grid_->simplify();
  drawn_.clear();
  for (std::size_t i = 0; i < set_.families.size(); ++i) {
    if (set_.families[i].level == level_ && !set_.families[i].points.empty()) drawn_.push_back(i);
  }
  // What was measured lies above what was simulated, which shows as a rim where they agree.
  const auto measured = [&](std::size_t place) { return !is_played(set_.families[place].provenance); };
  // Not of std::ranges: clang 14 does not take gcc 12's subrange.
  std::stable_partition(drawn_.begin(), drawn_.end(), [&](std::size_t place) { return !measured(place); });
  rim_ = !drawn_.empty() && !measured(drawn_.front()) && measured(drawn_.back());
  const std::string level = level_words(level_).toStdString();
  const std::string problem = set_.problem.toStdString();
  title_text_ = view_ == LawView::growth ? qtext(say::law_page::plot_title{.level = level, .problem = problem})
                                         : qtext(say::law_page::collapse_title{.level = level, .problem = problem});
  const PlotColors colors = plot_colors(palette());
  setBackground(QBrush(colors.background));
  QFont bold = font();
  bold.setBold(true);
  title_->setFont(bold);
  title_->setTextColor(colors.text);
  key_text_ = drawn_.empty()             ? QString()
              : view_ == LawView::growth ? qtext(say::law_page::growth_key{})
                                         : qtext(say::law_page::collapse_key{});
  key_->setFont(small_font(font()));
  key_->setTextColor(colors.muted);
  fit_words(width());
  setAccessibleName(qtext(say::law_page::name{.title = title_text_.toStdString()}));
  if (drawn_.empty()) return;
  if (view_ == LawView::growth) {
    draw_growth();
  } else {
    draw_collapse();
  }
  draw_selection();
}

QCPAxisRect* LawPlot::add_panel(int column, const QString& heading, const QString& x_label) {
  const PlotColors colors = plot_colors(palette());
  auto* words = new QCPTextElement(this, heading, small_font(font()));
  words->setTextColor(colors.text);
  grid_->addElement(0, column, words);
  auto* panel = new QCPAxisRect(this);
  grid_->addElement(1, column, panel);
  grid_->setRowStretchFactor(0, 0.001);
  for (QCPAxis* axis : panel->axes()) {
    axis->setLayer(QStringLiteral("axes"));
    axis->grid()->setLayer(QStringLiteral("grid"));
    style_axis(*axis, colors, font());
  }
  for (QCPAxis* axis : {panel->axis(QCPAxis::atBottom), panel->axis(QCPAxis::atLeft)}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
  }
  panel->axis(QCPAxis::atBottom)->setLabel(x_label);
  panels_.push_back(panel);
  return panel;
}

void LawPlot::draw_growth() {
  const Range bytes = range_of([](const LawPoint& point) { return point.bytes; });
  auto* together = new QCPMarginGroup(this);
  for (std::size_t k = 0; k < variables.size(); ++k) {
    const LawVariable variable = variables.at(k);
    QStringList heading;
    for (const std::size_t place : drawn_) {
      const LawFamily& family = set_.families[place];
      if (family.refusal) continue;
      heading << qtext(say::law_page::panel_of{.algorithm = family_title(set_, family).toStdString(),
                                               .variable = analysis::to_string(variable),
                                               .exponent = number_text(family.fit->exponents[k])});
    }
    constexpr qsizetype most_named = 3;  // the table says them all
    if (heading.size() > most_named) heading = heading.mid(0, most_named) << QStringLiteral("…");
    heading << qtext(
        say::law_page::panel{.exponent = QString::number(analysis::theorem_exponent(variable)).toStdString()});
    QCPAxisRect* panel = add_panel(static_cast<int>(k), heading.join(QStringLiteral(" · ")), axis_words(variable));
    panel->setMarginGroup(QCP::msTop | QCP::msBottom, together);
    QCPAxis* x = panel->axis(QCPAxis::atBottom);
    QCPAxis* y = panel->axis(QCPAxis::atLeft);
    const Range along = range_of([&](const LawPoint& point) { return point.value(variable); });
    x->setTicker(QSharedPointer<LengthTicker>::create());
    x->setRange(along.low / point_margin, along.high * point_margin);
    y->setTicker(QSharedPointer<ByteTicker>::create());
    y->setRange(bytes.low / point_margin, bytes.high * point_margin);
    if (k == 0) {
      y->setLabel(qtext(say::law_page::bytes_axis{}));
    } else {
      y->setTickLabels(false);
    }
    for (const std::size_t family : drawn_) draw_growth_of(panel, variable, family);
  }
}

void LawPlot::draw_growth_of(QCPAxisRect* panel, LawVariable variable, std::size_t place) {
  const LawFamily& family = set_.families[place];
  const QColor color = color_of(place);
  const std::vector<Slice> slices = slices_of(family, variable);
  const std::size_t strong = strong_slice(slices);
  const auto graph = [&](const QPen& pen) {
    QCPGraph* line = addGraph(panel->axis(QCPAxis::atBottom), panel->axis(QCPAxis::atLeft));
    line->setPen(pen);
    return line;
  };
  for (std::size_t i = 0; i < slices.size(); ++i) {
    QCPGraph* line = graph(QPen(faded(color, i == strong ? 1 : faint), i == strong ? 1.6 : 1));
    for (const std::size_t point : slices[i]) {
      line->addData(family.points[point].value(variable), family.points[point].bytes);
    }
    if (i != strong) draw_marks(panel, place, slices[i], false);
  }
  draw_marks(panel, place, slices[strong], true);
  if (family.refusal) return;
  // The fit through the strong slice, a little beyond its ends, so that it is seen where it agrees.
  QPen dashes(plot_colors(palette()).text, 1.2);
  dashes.setDashPattern({6, 4});
  QCPGraph* fitted = graph(dashes);
  auto at = family.points[slices[strong].front()].at;
  double& x = at.at(static_cast<std::size_t>(variable));
  const double last = family.points[slices[strong].back()].value(variable) * point_margin;
  x /= point_margin;
  fitted->addData(x, family.fit->at(at));
  x = last;
  fitted->addData(x, family.fit->at(at));
}

void LawPlot::draw_marks(QCPAxisRect* panel, std::size_t place, const std::vector<std::size_t>& points, bool strong) {
  const LawFamily& family = set_.families[place];
  const QColor color = faded(color_of(place), strong ? 1 : 0.7);
  const QColor background = plot_colors(palette()).background;
  std::map<Provenance, QCPGraph*> by_provenance;
  for (const std::size_t i : points) {
    const LawPoint& point = family.points[i];
    QCPGraph*& graph = by_provenance[point.provenance];
    if (graph == nullptr) {
      graph = addGraph(panel->axis(QCPAxis::atBottom), panel->axis(QCPAxis::atLeft));
      graph->setLineStyle(QCPGraph::lsNone);
      QCPScatterStyle marks = scatter_of(mark_of(point.provenance), color, background);
      if (!strong) marks.setSize(small_mark);
      if (rim_ && is_played(point.provenance)) marks.setSize(marks.size() + covered_rim);
      graph->setScatterStyle(marks);
    }
    const bool growth = view_ == LawView::growth;
    const std::size_t k = static_cast<std::size_t>(std::ranges::find(panels_, panel) - panels_.begin());
    const Mark mark{panel, growth ? point.at.at(k) : point.law_bytes, growth ? point.bytes : point.ratio(), place, i};
    graph->addData(mark.x, mark.y);
    marks_.push_back(mark);
  }
}

void LawPlot::draw_collapse() {
  QStringList heading;
  for (const std::size_t place : drawn_) {
    const LawFamily& family = set_.families[place];
    if (!has_band(place)) {
      heading << qtext(say::law_page::no_band{.algorithm = family_title(set_, family).toStdString()});
      continue;
    }
    heading << qtext(say::law_page::spread{.algorithm = family_title(set_, family).toStdString(),
                                           .low = number_text(family.band.low),
                                           .high = number_text(family.band.high),
                                           .range = number_text(family.bytes_range)});
  }
  QString lines;
  for (qsizetype i = 0; i < heading.size(); ++i) {
    constexpr qsizetype of_a_line = 2;
    if (i > 0) lines += i % of_a_line == 0 ? QStringLiteral("\n") : QStringLiteral("   ");
    lines += heading[i];
  }
  QCPAxisRect* panel = add_panel(0, lines, qtext(say::law_page::law_axis{}));
  const Range law = range_of([](const LawPoint& point) { return point.law_bytes; });
  const Range ratio = range_of([](const LawPoint& point) { return point.ratio(); });
  QCPAxis* x = panel->axis(QCPAxis::atBottom);
  QCPAxis* y = panel->axis(QCPAxis::atLeft);
  x->setTicker(QSharedPointer<ElementTicker>::create());
  x->setRange(law.low / point_margin, law.high * point_margin);
  y->setTicker(QSharedPointer<NumberTicker>::create());
  y->setRange(ratio.low / band_margin, ratio.high * band_margin);
  y->setLabel(qtext(say::law_page::ratio_axis{}));
  for (const std::size_t family : drawn_) draw_family(panel, family);
}

bool LawPlot::has_band(std::size_t family) const {
  return level_ == LawLevel::sm_l2 || set_.families[family].cycles;
}

void LawPlot::draw_family(QCPAxisRect* panel, std::size_t place) {
  const LawFamily& family = set_.families[place];
  if (has_band(place)) draw_band(panel, family.band, color_of(place));
  // The closed form at the very same points, as dashes behind the marks.
  constexpr double reach_of_dash = 9;
  QPainterPath dash;
  dash.moveTo(-reach_of_dash, 0);
  dash.lineTo(reach_of_dash, 0);
  QCPGraph* exact = addGraph(panel->axis(QCPAxis::atBottom), panel->axis(QCPAxis::atLeft));
  exact->setLineStyle(QCPGraph::lsNone);
  exact->setScatterStyle(QCPScatterStyle(dash, QPen(plot_colors(palette()).text, 1.1), Qt::NoBrush, 6));
  for (const LawPoint& point : family.points) {
    if (point.model_bytes) exact->addData(point.law_bytes, *point.model_bytes / point.law_bytes);
  }
  std::vector<std::size_t> all(family.points.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  draw_marks(panel, place, all, true);
}

void LawPlot::draw_band(QCPAxisRect* panel, const LawFamily::Band& ratios, QColor color) {
  auto* band = new QCPItemRect(this);
  for (QCPItemPosition* corner : {band->topLeft, band->bottomRight}) {
    corner->setAxisRect(panel);
    corner->setAxes(panel->axis(QCPAxis::atBottom), panel->axis(QCPAxis::atLeft));
    corner->setTypeX(QCPItemPosition::ptAxisRectRatio);
    corner->setTypeY(QCPItemPosition::ptPlotCoords);
  }
  band->setClipAxisRect(panel);
  band->topLeft->setCoords(0, ratios.high);
  band->bottomRight->setCoords(1, ratios.low);
  band->setPen(Qt::NoPen);
  color.setAlpha(band_strength);
  band->setBrush(color);
  band->setLayer(QStringLiteral("grid"));
}

bool LawPlot::select(const ShownPoint& point) {
  selected_ = point;
  for (QCPGraph* ring : std::exchange(rings_, {})) removeGraph(ring);
  const bool shown = draw_selection();
  replot(rpQueuedReplot);
  return shown;
}

bool LawPlot::draw_selection() {
  const std::optional<Row> row = selected_ && set_.points ? set_.points->row_of(*selected_) : std::nullopt;
  if (!row) return false;
  for (const Mark& mark : marks_) {
    if (set_.families[mark.family].points[mark.point].row != *row) continue;
    QCPGraph* ring = addGraph(mark.panel->axis(QCPAxis::atBottom), mark.panel->axis(QCPAxis::atLeft));
    ring->setLineStyle(QCPGraph::lsNone);
    ring->setScatterStyle(selection_ring(plot_colors(palette()).text));
    ring->setLayer(selection_layer());
    ring->addData(mark.x, mark.y);
    rings_.push_back(ring);
  }
  return !rings_.empty();
}

const LawPlot::Mark* LawPlot::mark_near(const QPointF& position) const {
  const Mark* nearest = nullptr;
  double best = reach;
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

HoverContent LawPlot::read_out(const Mark& mark) const {
  const LawFamily& family = set_.families[mark.family];
  const LawPoint& point = family.points[mark.point];
  const QColor color = color_of(mark.family);
  HoverContent content;
  content.title = QStringLiteral("%1 · %2").arg(
      family_title(set_, family),
      qtext(say::law_page::at{.n = static_cast<std::int64_t>(point.value(LawVariable::n)),
                              .d = static_cast<std::int64_t>(point.value(LawVariable::d)),
                              .m = static_cast<std::int64_t>(point.value(LawVariable::m))}));
  content.rows.push_back({color, mark_of(point.provenance),
                          QStringLiteral("%1 %2 · %3")
                              .arg(level_words(level_), qtext(say::law_page::bytes{}), to_qstring(point.provenance)),
                          qtext(Bytes(point.bytes))});
  if (point.model_bytes) {
    content.rows.push_back({plot_colors(palette()).text, SampleMark::dashes, qtext(say::law_page::closed{}),
                            qtext(Bytes(*point.model_bytes))});
  }
  if (!family.refusal) {
    content.rows.push_back({plot_colors(palette()).text, SampleMark::dashes, qtext(say::law_page::fitted{}),
                            qtext(Bytes(family.fit->at(point.at)))});
  }
  content.rows.push_back({color, SampleMark::none, qtext(say::law_page::ratio{}), format_number(point.ratio())});
  const analysis::PointTable& table = set_.points->table();
  content.notes << qtext(say::law_page::tile{.tile = format_tile(table.tile_of(point.row)).toStdString()})
                << QStringLiteral("%1 · %2").arg(set_.points->run_of(point.row)->title,
                                                 QString::fromStdString(analysis::device_title(table, family.run)));
  return content;
}

bool LawPlot::hover_at(const QPointF& position) {
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

void LawPlot::mouseMoveEvent(QMouseEvent* event) {
  QCustomPlot::mouseMoveEvent(event);
  hover_at(event->position());
}

void LawPlot::mousePressEvent(QMouseEvent* event) {
  QCustomPlot::mousePressEvent(event);
  const Mark* mark = mark_near(event->position());
  if (mark == nullptr) return;
  const ShownPoint clicked = (*set_.points)[set_.families[mark->family].points[mark->point].row];
  select(clicked);
  emit point_clicked(clicked);
}

void LawPlot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  overlay_->clear();
}

void LawPlot::fit_words(int width) {
  constexpr int sides = 16;
  title_->setText(QFontMetrics(title_->font()).elidedText(title_text_, Qt::ElideRight, width - sides));
  key_->setText(QFontMetrics(key_->font()).elidedText(key_text_, Qt::ElideRight, width - sides));
}

void LawPlot::resizeEvent(QResizeEvent* event) {
  fit_words(event->size().width());
  FramePlot::resizeEvent(event);
  overlay_->setGeometry(rect());
  overlay_->clear();
}

void LawPlot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  if (overlay_ == nullptr) return;
  rebuild();
  replot(rpQueuedReplot);
}

QString LawPlot::save(const QString& file, const QSize& size) {
  fit_words(size.width());
  auto* source = new QCPTextElement(this, source_, small_font(font()));
  source->setTextColor(plot_colors(palette()).muted);
  source->setTextFlags(Qt::AlignRight | Qt::AlignVCenter);
  source->setMargins({12, 0, 8, 6});
  plotLayout()->addElement(3, 0, source);
  plotLayout()->setRowStretchFactor(3, 0.001);
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

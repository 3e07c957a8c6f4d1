// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/curve_graphs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "messages/curve_plot.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/metrics/metrics.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/heatmap_text.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

constexpr double dash_half_width = 1.07;  ///< Factor of N: half length of the dash that shows a model at a single N.
constexpr double shift_step = 8;          ///< In pixels, between marks that would coincide.
constexpr std::size_t most_shifted = 4;   ///< More coinciding marks are drawn as one.

void bind(QCPAbstractItem& item, QCPAxisRect& rect) {
  item.setClipAxisRect(&rect);
  for (QCPItemPosition* position : item.positions()) {
    position->setAxisRect(&rect);
    position->setAxes(rect.axis(QCPAxis::atBottom), rect.axis(QCPAxis::atLeft));
  }
}

void add_spread(const CurvePanel& panel, QCPGraph* graph, const Curve& curve, const QColor& color) {
  QVector<double> minus;
  QVector<double> plus;
  bool scattered = false;
  for (const CurvePoint& point : curve.points) {
    minus.append(point.value - point.low);
    plus.append(point.high - point.value);
    scattered = scattered || point.high > point.low;
  }
  if (!scattered) return;
  auto* bars = new QCPErrorBars(panel.rect.axis(QCPAxis::atBottom), panel.rect.axis(QCPAxis::atLeft));
  bars->setDataPlottable(graph);
  bars->setLayer(graph->layer());
  bars->setData(minus, plus);
  bars->setPen(QPen(color, 1.2));
  bars->setSymbolGap(0);
}

bool is_background_curve(const Curve& curve) {
  return curve.kind != CurveKind::measured || curve.provenance == Provenance::simulated;
}

void add_curve(const CurvePanel& panel, std::size_t place, const MarkShifts& shifts) {
  const Curve& curve = panel.set.curves[place];
  const PlotColors colors = plot_colors(panel.plot.palette());
  const QColor color = curve_color(curve, colors);
  QCPGraph* line = add_line(panel.rect, curve_pen(curve, color));
  line->setName(to_qstring(curve.label));
  if (is_background_curve(curve)) line->setLayer(theory_layer());
  for (const CurvePoint& point : curve.points) line->addData(point.n, point.value);
  if (curve.kind != CurveKind::measured) {
    // Models have no markers, so a single N is drawn as a dash.
    if (curve.points.size() == 1) {
      const CurvePoint& only = curve.points.front();
      line->setData({only.n / dash_half_width, only.n * dash_half_width}, {only.value, only.value}, true);
    }
    return;
  }
  add_spread(panel, line, curve, color);
  MarkerGraphs graphs(panel.rect, [&](const Sample& sample, double shift) {
    return scatter_of(sample, color, colors.background, shift);
  });
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    QCPGraph& marks = graphs.of(sample_of(curve), shifts.at(place, i));
    marks.setLayer(line->layer());
    marks.addData(curve.points[i].n, curve.points[i].value);
  }
}

QCPItemText* add_text(const CurvePanel& panel, const QString& text, const QColor& color) {
  auto* item = new QCPItemText(&panel.plot);
  bind(*item, panel.rect);
  item->setText(text);
  item->setColor(color);
  item->setFont(small_font(panel.plot.font()));
  item->setClipToAxisRect(true);
  return item;
}

}  // namespace

QString theory_layer() {
  return QStringLiteral("theory");
}

MarkShifts shift_marks(const CurveSet& set, const std::function<double(double)>& scale, double closeness) {
  struct Place {
    double value;
    std::size_t curve;
    std::size_t point;
  };
  std::map<std::pair<std::size_t, double>, std::vector<Place>> places;  // key: panel and N
  for (std::size_t c = 0; c < set.curves.size(); ++c) {
    const Curve& curve = set.curves[c];
    if (curve.kind != CurveKind::measured || curve.merged) continue;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      places[{curve.panels.front(), curve.points[i].n}].push_back({scale(curve.points[i].value), c, i});
    }
  }
  MarkShifts result;
  for (auto& [at, marks] : places) {
    std::ranges::stable_sort(marks, {}, &Place::value);
    for (std::size_t first = 0; first < marks.size();) {
      std::size_t end = first + 1;
      while (end < marks.size() && marks[end].value - marks[end - 1].value <= closeness) ++end;
      const std::size_t count = end - first;
      std::sort(marks.begin() + static_cast<std::ptrdiff_t>(first), marks.begin() + static_cast<std::ptrdiff_t>(end),
                [](const Place& a, const Place& b) { return a.curve < b.curve; });
      if (count > most_shifted) {
        const Place& top = marks[end - 1];
        result.crowded.push_back({at.first, at.second, set.curves[top.curve].points[top.point].value, count});
      }
      for (std::size_t k = 0; k < count && count > 1 && count <= most_shifted; ++k) {
        const double shift = shift_step * (static_cast<double>(k) - static_cast<double>(count - 1) / 2);
        result.shifts[{marks[first + k].curve, marks[first + k].point}] = shift;
      }
      first = end;
    }
  }
  return result;
}

void add_curve_graphs(const CurvePanel& panel, const MarkShifts& shifts) {
  for (std::size_t c = 0; c < panel.set.curves.size(); ++c) {
    const Curve& curve = panel.set.curves[c];
    if (is_in_panel(curve, panel.place) && !curve.merged) add_curve(panel, c, shifts);
  }
  for (const Coincident& crowd : shifts.crowded) {
    if (crowd.panel != panel.place) continue;
    const PlotColors colors = plot_colors(panel.plot.palette());
    QCPItemText* count = add_text(panel, QStringLiteral("×%1").arg(crowd.marks), colors.text);
    count->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
    count->setPadding({5, 0, 0, 3});
    count->position->setCoords(crowd.n, crowd.value);
  }
}

namespace {

constexpr double bar_opacity = 90 / 255.0;
constexpr double bar_gap = 3;  ///< In pixels.

/// Color of the algorithm's first curve.
QColor color_in(const CurveSet& set, const std::string& algorithm, const PlotColors& colors) {
  const auto curve = std::ranges::find(set.curves, algorithm, [](const Curve& each) { return each.name.algorithm; });
  return curve == set.curves.end() ? algorithm_color(algorithm, colors.dark) : curve_color(*curve, colors);
}

QString label_text(const CurveSet& set, const Boundary& boundary) {
  const std::string algorithm = short_title(boundary.algorithm).toStdString();
  const std::string size = text(Capacity(boundary.at.l2_bytes));
  const bool device = !boundary.device.empty() && set.panels.size() == 1;
  if (!device) return qtext(msg::curve_plot::exceeds_l2{.algorithm = algorithm, .size = size});
  return qtext(msg::curve_plot::exceeds_device_l2{.algorithm = algorithm, .device = boundary.device, .size = size});
}

/// Positions an item at an N, in pixels below the top of the axes.
void place_below_top(const CurvePanel& panel, QCPItemPosition* position, double n, double pixels) {
  auto* anchor = new QCPItemTracer(&panel.plot);
  anchor->setVisible(false);
  bind(*anchor, panel.rect);
  anchor->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  anchor->position->setCoords(n, 0);
  position->setType(QCPItemPosition::ptAbsolute);
  position->setParentAnchor(anchor->position);
  position->setCoords(0, pixels);
}

}  // namespace

void add_boundary_bars(const CurvePanel& panel, const QCPRange& n) {
  const PlotColors colors = plot_colors(panel.plot.palette());
  const double height = QFontMetricsF(small_font(panel.plot.font())).height() - 2;
  double top = bar_gap;
  const auto place = [&](QCPItemPosition* position, double x, double down) {
    place_below_top(panel, position, x, down);
  };
  for (const Boundary& boundary : panel.set.boundaries) {
    if (!is_in_panel(boundary, panel.place)) continue;
    const QColor color = color_in(panel.set, boundary.algorithm, colors);
    auto* bar = new QCPItemRect(&panel.plot);
    auto* tick = new QCPItemLine(&panel.plot);
    QCPItemText* label = add_text(panel, label_text(panel.set, boundary), colors.muted);
    for (QCPAbstractItem* item : std::initializer_list<QCPAbstractItem*>{bar, tick, label}) {
      bind(*item, panel.rect);
      item->setLayer(QStringLiteral("grid"));  // Below all data.
    }
    place(bar->topLeft, boundary.at.n_low, top);
    place(bar->bottomRight, boundary.at.n_high, top + height);
    bar->setPen(Qt::NoPen);
    bar->setBrush(with_opacity(color, bar_opacity));
    place(tick->start, boundary.at.n_nominal, top);
    place(tick->end, boundary.at.n_nominal, top + height);
    tick->setPen(QPen(color, 2.4));
    const double last = std::max(boundary.at.n_high, boundary.at.n_nominal);
    const bool before = boundary.at.n_low / n.lower > n.upper / last;
    label->setPadding({5, 0, 5, 0});
    label->setPositionAlignment((before ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    place(label->position, before ? boundary.at.n_low : last, top + height / 2);
    top += height + bar_gap;
  }
}

std::map<std::size_t, double> add_failed_marks(const CurvePanel& panel) {
  const PlotColors colors = plot_colors(panel.plot.palette());
  std::map<double, int> stacked;
  std::map<QString, double> named;  ///< Last N with a label, by label text.
  std::map<std::size_t, double> heights;
  for (std::size_t i = 0; i < panel.set.failed.size(); ++i) {
    const FailedPoint& point = panel.set.failed[i];
    if (!is_in_panel(point, panel.place)) continue;
    const double height = 0.03 + 0.05 * stacked[point.n]++;
    heights[i] = height;
    const QColor color = color_in(panel.set, point.algorithm, colors);
    const auto put = [&](QCPItemText* item) {
      item->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
      item->position->setCoords(point.n, height);
    };
    QCPItemText* cross = add_text(panel, QStringLiteral("✕"), color);
    cross->setFont(bold(panel.plot.font()));
    cross->setPositionAlignment(Qt::AlignCenter);
    put(cross);
    if (panel.set.panels.size() > 1) continue;  // The legend has the reason.
    const QString why = qtext(title(panel.set.table().disposition(point.row)));
    const auto [known, fresh] = named.try_emplace(short_title(point.algorithm) + why, point.n);
    // The points of a family are in ascending N. The first one is labeled, and then each that is at least twice as far.
    if (!fresh && point.n < 2 * known->second) continue;
    known->second = point.n;
    QCPItemText* words = add_text(panel, why, colors.muted);
    words->setPositionAlignment(Qt::AlignRight | Qt::AlignVCenter);
    words->setPadding({0, 0, 9, 0});
    put(words);
  }
  return heights;
}

void draw_ratios(const CurvePanel& panel, const std::vector<analysis::RatioCurve>& ratios, bool all) {
  constexpr double least_range = 2 * analysis::ratio_margin;
  const PlotColors colors = plot_colors(panel.plot.palette());
  Extent extent{1 - least_range, 1 + least_range};
  for (const analysis::RatioCurve& ratio : ratios) {
    const Curve& curve = panel.set.curves[ratio.curve];
    for (const auto& point : ratio.points) extent.include(point.ratio);
    if (!all && !is_in_panel(curve, panel.place)) continue;
    const QColor color = curve_color(curve, colors);
    QCPGraph* graph = add_line(panel.rect, series_pen(color, curve.provenance, false));
    graph->setName(to_qstring(curve.label));
    graph->setScatterStyle(scatter_of(sample_of(curve), color, colors.background));
    for (const auto& point : ratio.points) graph->addData(point.n, point.ratio);
  }
  QCPAxis* left = panel.rect.axis(QCPAxis::atLeft);
  const double room = 0.12 * (extent.high - extent.low);
  left->setRange(extent.low - room, extent.high + room);
  std::vector<double> ticks = round_ticks(extent.low - room, extent.high + room, 4, false);
  if (std::ranges::none_of(ticks, [](double tick) { return std::abs(tick - 1) < 1e-9; })) ticks.push_back(1);
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  const QStringList labels = tick_labels(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) ticker->addTick(ticks[i], labels[static_cast<qsizetype>(i)]);
  left->setTicker(ticker);
  add_level(panel.rect, 1, QPen(colors.axis, 1));
}

void draw_margin(const CurvePanel& panel) {
  const QColor color = with_opacity(plot_colors(panel.plot.palette()).muted, 0.16);
  add_band(panel.rect, 1 / (1 + analysis::ratio_margin), 1 + analysis::ratio_margin, color);
}

std::vector<analysis::RatioCurve> residual_curves(const CurveSet& set) {
  std::vector<analysis::RatioCurve> residuals;
  for (std::size_t i = 0; i < set.curves.size(); ++i) {
    const Curve& curve = set.curves[i];
    if (curve.kind != CurveKind::measured || curve.merged) continue;
    analysis::RatioCurve& residual = residuals.emplace_back(analysis::RatioCurve{.curve = i, .points = {}});
    for (const CurvePoint& point : curve.points) {
      if (point.over_modeled) residual.points.push_back({.n = point.n, .ratio = *point.over_modeled});
    }
    if (residual.points.empty()) residuals.pop_back();
  }
  return residuals;
}

namespace {

using analysis::point_at;

/// More panels have one value column, of the panel under the cursor.
constexpr std::size_t most_value_columns = 3;

bool is_series(const Curve& curve) {
  return curve.kind == CurveKind::measured && !curve.merged;
}

QString ratio_text(double ratio) {
  return QString::number(ratio, 'f', 2);
}

QString missing() {
  return QStringLiteral("–");
}

}  // namespace

CurveLegend::CurveLegend(const CurveSet& set) : set_(&set) {
  std::set<double> positions;
  for (const Curve& curve : set_->curves) {
    if (!is_series(curve)) continue;
    const QString key = to_qstring(series_key(curve));
    auto series = std::ranges::find(series_, key, &Series::key);
    if (series == series_.end()) {
      series = series_.insert(series, {key, &curve, std::vector<const Curve*>(set_->panels.size(), nullptr)});
    }
    series->curves[curve.panels.front()] = &curve;
    for (const CurvePoint& point : curve.points) {
      positions.insert(point.n);
      ratios_ = ratios_ || point.over_modeled.has_value();
    }
  }
  for (const FailedPoint& point : set_->failed) positions.insert(point.n);
  positions_.assign(positions.begin(), positions.end());
}

std::optional<double> CurveLegend::last_common() const {
  if (positions_.empty()) return std::nullopt;
  const auto is_common = [this](double n) {
    return std::ranges::all_of(series_, [n](const Series& series) {
      return std::ranges::all_of(
          series.curves, [n](const Curve* curve) { return curve == nullptr || point_at(*curve, n) != nullptr; });
    });
  };
  const auto last = std::find_if(positions_.rbegin(), positions_.rend(), is_common);
  return last == positions_.rend() ? positions_.back() : *last;
}

QString CurveLegend::title_of(const Series& series) const {
  const Curve& curve = *series.first;
  analysis::SeriesName name = curve.name;
  name.device.clear();
  QStringList parts{to_qstring(owner_title(name))};
  const auto differs = [&](const auto& look) {
    return std::ranges::any_of(series_, [&](const Series& other) {
      const Curve& each = *other.first;
      return each.name.algorithm == curve.name.algorithm && each.name.group == curve.name.group &&
             look(each) != look(curve);
    });
  };
  if (differs([](const Curve& each) { return is_simulated(each.provenance); })) parts << to_qstring(curve.provenance);
  if (differs([](const Curve& each) { return each.dashed; })) parts << QString::fromStdString(curve.name.runs);
  parts.removeAll(QString());
  return parts.join(QStringLiteral(" · "));
}

std::vector<std::size_t> CurveLegend::value_panels(std::size_t panel) const {
  if (set_->panels.size() > most_value_columns) return {panel};
  std::vector<std::size_t> panels;
  for (std::size_t i = 0; i < set_->panels.size(); ++i) panels.push_back(i);
  return panels;
}

QString CurveLegend::value_text(const Series& series, std::size_t panel, double n) const {
  const Curve* curve = series.curves[panel];
  const CurvePoint* point = curve == nullptr ? nullptr : point_at(*curve, n);
  if (point != nullptr) return format_quantity(point->value, *curve);
  const auto failed = std::ranges::find_if(set_->failed, [&](const FailedPoint& each) {
    return each.n == n && each.algorithm == series.first->name.algorithm &&
           std::ranges::find(each.panels, panel) != each.panels.end();
  });
  return failed == set_->failed.end() ? missing()
                                      : QStringLiteral("✕ ") + short_label(set_->table().disposition(failed->row));
}

QStringList CurveLegend::cells_of(const Series& series, double n, std::size_t panel) const {
  QStringList cells;
  for (const std::size_t each : value_panels(panel)) cells << value_text(series, each, n);
  const Curve* curve = series.curves[panel] != nullptr ? series.curves[panel] : series.first;
  const CurvePoint* point = point_at(*curve, n);
  if (ratios_) cells << (point != nullptr && point->over_modeled ? ratio_text(*point->over_modeled) : missing());
  if (set_->places.empty()) {
    const auto slope = analysis::slope_at(*curve, n);
    cells << (slope ? ratio_text(*slope) : missing());
  }
  return cells;
}

QStringList CurveLegend::column_titles(std::size_t panel) const {
  const std::vector<std::string> devices = analysis::short_panel_titles(*set_);
  QStringList titles;
  for (const std::size_t each : value_panels(panel)) {
    titles << (devices.size() == 1 && !series_.empty() ? to_qstring(quantity_title(*series_.front().first))
                                                       : to_qstring(devices[each]));
  }
  if (ratios_) titles << qtext(msg::curve_plot::vs_model{});
  if (set_->places.empty()) titles << qtext(msg::curve_plot::slope{});
  return titles;
}

QStringList CurveLegend::notes() const {
  QStringList keys;
  bool model = false;
  bool simulated = false;
  std::size_t points = 0;
  std::vector<Row> clocked;  // rows whose values depend on clocks
  std::size_t extrapolated = 0;
  for (const Curve& curve : set_->curves) {
    model = model || curve.kind == CurveKind::model;
    if (!is_series(curve)) continue;
    simulated = simulated || is_simulated(curve.provenance);
    for (const CurvePoint& point : curve.points) {
      ++points;
      if (point.row && depends_on_clocks(curve)) clocked.push_back(*point.row);
      if (point.provenance == Provenance::extrapolated) ++extrapolated;
    }
  }
  if (model) keys << qtext(msg::curve_plot::key_model{});
  if (simulated) keys << qtext(msg::curve_plot::key_simulated{});
  if (!set_->failed.empty()) keys << qtext(msg::curve_plot::key_failed{});
  if (!set_->boundaries.empty()) keys << qtext(msg::curve_plot::band{});
  QStringList notes;
  if (!keys.isEmpty()) notes << keys.join(QStringLiteral(" · "));
  if (const QString throttling = throttling_note(set_->points.get(), clocked); !throttling.isEmpty())
    notes << throttling;
  if (extrapolated > 0) notes << qtext(msg::curve_plot::extrapolated_points{.all = points, .points = extrapolated});
  const bool by_construction = simulated && ratios_ && set_->ordinate == Ordinate::time && !set_->axis;
  if (by_construction) notes << qtext(msg::curve_plot::times_by_construction{});
  if (set_->undrawn_panels > 0) notes << qtext(msg::curve_plot::panels_undrawn{.panels = set_->undrawn_panels});
  if (set_->undrawn_curves > 0) notes << qtext(msg::curve_plot::curves_undrawn{.curves = set_->undrawn_curves});
  return notes;
}

LegendContent CurveLegend::at(double n, std::size_t panel, const PlotColors& colors) const {
  LegendContent content;
  content.corner = set_->axis
                       ? to_qstring(position_text(*set_, n))
                       : QStringLiteral("%1 %2").arg(QLatin1String(set_->queries ? "n_k" : "N"), format_length(n));
  content.columns = column_titles(panel);
  content.widest = QStringList(content.columns.size(), QString());
  for (const Series& series : series_) {
    const Curve& curve = *series.first;
    content.rows.push_back({.series = series.key,
                            .text = title_of(series),
                            .sample = sample_of(curve),
                            .line = curve_pen(curve, curve_color(curve, colors)),
                            .cells = cells_of(series, n, panel)});
    for (const double each : positions_) {
      const QStringList cells = cells_of(series, each, panel);
      for (qsizetype k = 0; k < cells.size(); ++k) {
        if (cells[k].size() > content.widest[k].size()) content.widest[k] = cells[k];
      }
    }
  }
  for (const Curve& curve : set_->curves) {
    if (curve.kind != CurveKind::compulsory) continue;
    const CurvePoint* point = point_at(curve, n);
    const QString value = point == nullptr ? missing() : format_quantity(point->value, curve);
    content.rows.push_back({.series = {},
                            .text = qtext(msg::curve_plot::compulsory{}),
                            .sample = sample_of(curve),
                            .line = curve_pen(curve, curve_color(curve, colors)),
                            .cells = QStringList(static_cast<qsizetype>(value_panels(panel).size()), value)});
  }
  content.notes = notes();
  if (set_->panels.size() > 1) {
    const std::string device = analysis::short_panel_titles(*set_)[panel];
    content.notes.prepend(qtext(
        msg::curve_plot::columns_of{.columns = content.columns.mid(static_cast<qsizetype>(value_panels(panel).size()))
                                                   .join(QStringLiteral(", "))
                                                   .toStdString(),
                                    .panel = device}));
  }
  return content;
}

namespace {

/// "558 – 598" in the value's unit, or with units if they differ; empty if the ends are equal when formatted.
QString format_range(const CurvePoint& point, const Curve& quantity) {
  QString low = format_quantity(point.low, quantity);
  const QString high = format_quantity(point.high, quantity);
  if (low == high) return {};
  const auto unit = [](const QString& text) { return text.section(QLatin1Char(' '), 1); };
  const QString value_unit = unit(format_quantity(point.value, quantity));
  if (unit(low) != value_unit || unit(high) != value_unit) return low + QStringLiteral(" – ") + high;
  return low.section(QLatin1Char(' '), 0, 0) + QStringLiteral(" – ") + high.section(QLatin1Char(' '), 0, 0);
}

QString position_title(const CurveSet& set, double n) {
  const std::string length = number_text(n, 9);
  if (set.axis) return qtext(msg::curve_plot::at_position{.place = position_text(set, n)});
  if (set.queries) return qtext(msg::curve_plot::at_n_k{.n_k = length, .n_q = *set.queries});
  return qtext(msg::curve_plot::at_n{.n = length});
}

}  // namespace

HoverContent describe_point(const CurveSet& set, const Curve& curve, const CurvePoint& point,
                            const PlotColors& colors) {
  HoverContent content;
  const analysis::PointTable& table = set.table();
  content.title = QStringLiteral("%1 · %2").arg(short_title(curve.name.algorithm), position_title(set, point.n));
  const QColor color = curve_color(curve, colors);
  QString value = format_quantity(point.value, curve);
  QStringList details;
  if (point.repeats > 1) details << qtext(msg::curve_plot::measurements{.measurements = point.repeats});
  if (const QString range = format_range(point, curve); !range.isEmpty()) details << range;
  if (!details.isEmpty()) value += QStringLiteral(" (%1)").arg(details.join(QStringLiteral(", ")));
  content.rows.push_back({color, sample_of(curve), to_qstring(label_of(curve, point)), value});
  if (point.over_modeled) {
    content.rows.push_back({color,
                            {SampleKind::line, curve.identity},
                            qtext(msg::curve_plot::vs_model{}),
                            QString::number(*point.over_modeled, 'f', 3)});
  }
  const Config& tile = table.tile_of(*point.row);
  if (has_tile(tile.tile)) content.notes << qtext(msg::curve_plot::tile{.tile = format_tile(tile).toStdString()});
  if (point.throttled && table.is_throttling_unusual(*point.row)) {
    QString words =
        depends_on_clocks(curve) ? qtext(msg::curve_plot::throttled{}) : qtext(msg::curve_plot::throttled_times{});
    const QString why = qtext(describe_throttle_reasons(table.points().throttle_reasons(*point.row)));
    if (!why.isEmpty()) words += QStringLiteral(" (%1)").arg(why);
    content.notes << words;
  }
  const bool running = curve.quantity == Quantity::dram && !point.settled && curve.provenance == Provenance::measured;
  if (running) content.notes << qtext(msg::curve_plot::no_writeback{});
  return content;
}

HoverContent describe_failure(const CurveSet& set, const FailedPoint& point) {
  HoverContent content;
  content.title = QStringLiteral("✕ %1 · %2").arg(short_title(point.algorithm), position_title(set, point.n));
  content.notes << QStringLiteral("%1 – %2").arg(qtext(title(set.table().disposition(point.row))),
                                                 compiler_error_line(qtext(set.table().reason(point.row))));
  return content;
}

}  // namespace attnscope::ui

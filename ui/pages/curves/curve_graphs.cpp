// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/curve_graphs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "messages/curve_plot.h"
#include "profiler/metrics/metrics.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr double mark_tolerance = 0.02;   ///< Relative distance below which two marks coincide.
constexpr double rim_width = 5;           ///< In pixels: extra size of a covered mark.
constexpr int max_rims = 3;               ///< Maximum number of such steps, so that marks do not hide their neighbors.
constexpr double line_rim_width = 2.5;    ///< In pixels: extra width of a covered line.
constexpr double dash_half_width = 1.07;  ///< Factor of N: half length of the dash that shows theory at a single N.

void add_spread(QCustomPlot& plot, QCPGraph* graph, const Curve& curve, const QColor& color) {
  QVector<double> minus;
  QVector<double> plus;
  bool scattered = false;
  for (const CurvePoint& point : curve.points) {
    minus.append(point.value - point.low);
    plus.append(point.high - point.value);
    scattered = scattered || point.high > point.low;
  }
  if (!scattered) return;
  auto* bars = new QCPErrorBars(plot.xAxis, plot.yAxis);
  bars->setDataPlottable(graph);
  bars->setLayer(graph->layer());
  bars->setData(minus, plus);
  bars->setPen(QPen(color, 1.2));
  bars->setSymbolGap(0);
}

QPainterPath upper_half() {
  QPainterPath half;
  half.moveTo(disc_size / 2, 0);
  half.arcTo(QRectF(-disc_size / 2, -disc_size / 2, disc_size, disc_size), 0, 180);
  half.closeSubpath();
  return half;
}

/// Draws other markers over those of the curve for points that satisfy `applies_to`.
void overlay_marks(QCustomPlot& plot, const Curve& curve, const QString& name, QCPLayer* layer,
                   const QCPScatterStyle& style, const std::function<bool(const CurvePoint&)>& applies_to) {
  if (std::ranges::none_of(curve.points, applies_to)) return;
  QCPGraph* graph = add_marks(*plot.axisRect(), style);
  graph->setName(name);
  graph->setLayer(layer);
  for (const CurvePoint& point : curve.points) {
    if (applies_to(point)) graph->addData(point.n, point.value);
  }
}

bool is_extrapolated(const CurvePoint& point) {
  return point.provenance == Provenance::extrapolated;
}

/// Returns whether marks of the curves coincide at some N.
bool marks_coincide(const Curve& a, const Curve& b) {
  if (a.kind != CurveKind::measured || b.kind != CurveKind::measured || a.quantity != b.quantity) return false;
  return std::ranges::any_of(a.points, [&](const CurvePoint& point) {
    return std::ranges::any_of(b.points, [&](const CurvePoint& other) {
      return other.n == point.n && std::abs(other.value - point.value) <= mark_tolerance * point.value;
    });
  });
}

/// Theory and simulation are drawn below measurements. An older run is drawn below the newest, since byte counts are
/// often equal.
bool is_background_curve(const Curve& curve) {
  return curve.name.age > 0 || curve.kind != CurveKind::measured || curve.provenance == Provenance::simulated;
}

/// Adds the meaning of the curve's color to the legend, if it has its own color.
void add_color_key(const Curve& curve, const QColor& color, PlotLegend& legend) {
  if (curve.hue >= 0) {
    if (!curve.lighter_shade) legend.add_color(to_qstring(curve.hue_owner), color, false, to_qstring(curve.label));
    return;
  }
  if (curve.lighter_shade || curve.name.algorithm.empty()) return;
  // The chip above the plot shows the algorithm's color, but not the shades of its devices.
  legend.add_color(to_qstring(owner_title(curve.name)), color, curve.name.device.empty(), to_qstring(curve.label));
}

/// `covered`: number of curves drawn above this one that coincide with it. Each makes markers and line larger, so that
/// a rim stays visible.
void add_curve(QCustomPlot& plot, const Curve& curve, const PlotColors& colors, PlotLegend& legend, int covered,
               bool hidden) {
  const QColor color = curve_color(curve, colors);
  QCPGraph* graph = add_line(*plot.axisRect(), curve_pen(curve, color));
  graph->setName(to_qstring(curve.label));
  const bool measured = curve.kind == CurveKind::measured;
  if (is_background_curve(curve)) graph->setLayer(curve.name.age > 0 ? older_layer() : theory_layer());
  QVector<double> n;
  QVector<double> values;
  for (const CurvePoint& point : curve.points) {
    n.append(point.n);
    values.append(point.value);
  }
  // Theory has no markers, so a single N is drawn as a dash.
  if (!measured && n.size() == 1) {
    n = {n[0] / dash_half_width, n[0] * dash_half_width};
    values.append(values[0]);
  }
  graph->setData(n, values, true);
  if (measured) {
    QPen pen = graph->pen();
    // Dashes grow with the line width, so dotted lines keep theirs.
    if (covered > 0 && pen.style() == Qt::SolidLine) pen.setWidthF(pen.widthF() + line_rim_width);
    graph->setPen(pen);
    QCPScatterStyle marks = scatter_of(curve, color, colors.background);
    // Background curves need larger markers than the measurements that cover them.
    const int most = max_rims + (is_background_curve(curve) ? 1 : 0);
    marks.setSize(marks.size() + std::min(covered, most) * rim_width);
    graph->setScatterStyle(marks);
    if (!hidden) add_spread(plot, graph, curve, color);
  }
  legend.add(QString::fromStdString(curve.name.algorithm), graph,
             PlotLegend::Style{style_text(curve), curve_pen(curve, color),
                               measured ? scatter_of(curve, color, colors.background) : QCPScatterStyle()},
             to_qstring(curve.label));
  add_color_key(curve, color, legend);
  graph->setVisible(!hidden);
  if (hidden) return;
  if (depends_on_clocks(curve)) {
    // Empties the upper half of the markers.
    overlay_marks(plot, curve, throttled_text(), graph->layer(),
                  {upper_half(), QPen(color, 1.5), colors.background, path_unit_size}, &CurvePoint::throttled);
  }
  // Adds a plus where a simulation is extrapolated.
  const auto part = std::ranges::find_if(curve.points, is_extrapolated);
  if (!measured || part == curve.points.end()) return;
  overlay_marks(plot, curve, extrapolated_text(), graph->layer(),
                scatter_of(mark_of(curve, *part), color, colors.background), is_extrapolated);
}

/// Adds a legend entry for special markers.
void add_sample(QCustomPlot& plot, const QString& words, SampleMark mark, PlotLegend& legend) {
  const PlotColors colors = plot_colors(plot.palette());
  QCPGraph* sample = add_marks(*plot.axisRect(), scatter_of(mark, colors.muted, colors.background));
  sample->setName(words);
  legend.add({}, sample);
}

}  // namespace

void add_legend_notes(QCustomPlot& plot, const CurveSet& set, PlotLegend& legend) {
  const auto add = [&](const QString& group, const QString& words, const QString& short_form_text) {
    QCPGraph* entry = plot.addGraph();
    entry->setName(words);
    entry->setPen(QPen(Qt::NoPen));
    legend.add(group, entry, PlotLegend::Style{short_form_text, QPen(Qt::NoPen)});
  };
  const auto of_time = [](const Curve& curve) { return analysis::metric_of(curve) == metric_key::time_median_ns; };
  const bool simulated = std::ranges::any_of(set.curves, [&](const Curve& curve) {
    return of_time(curve) && curve.kind == CurveKind::measured && curve.provenance == Provenance::simulated;
  });
  const bool theory = std::ranges::any_of(set.curves, [&](const Curve& curve) {
    return of_time(curve) && (curve.kind == CurveKind::model || std::ranges::any_of(curve.points, [](const auto& p) {
                                return p.over_modeled.has_value();
                              }));
  });
  if (simulated && theory) {
    add({}, qtext(msg::curve_plot::times_by_construction{}), qtext(msg::curve_plot::times_by_construction{}));
  }
  if (set.boundaries.size() > max_bands) {
    const QString words = qtext(msg::curve_plot::hidden_bands{.bands = set.boundaries.size()});
    add({}, words, words);
  } else if (!set.boundaries.empty()) {
    add({}, qtext(msg::curve_plot::band{}), qtext(msg::curve_plot::band{}));
  }
  if (set.undrawn_curves > 0) {
    const QString words = qtext(msg::curve_plot::curves_undrawn{.curves = set.undrawn_curves});
    add({}, words, words);
  }
  constexpr std::size_t colors = style::plot_slots * style::slot_variants;
  if (set.hues > colors) {
    const QString words = qtext(msg::curve_plot::colors_repeat{.colors = colors});
    add({}, words, words);
  }
}

QString theory_layer() {
  return QStringLiteral("theory");
}

QString older_layer() {
  return QStringLiteral("older");
}

void add_curve_graphs(QCustomPlot& plot, const std::vector<Curve>& curves, PlotLegend& legend,
                      const IsHidden& is_hidden) {
  const PlotColors colors = plot_colors(plot.palette());
  for (const Curve& curve : curves) {
    // A measured curve is above every coinciding simulated curve, because layers take precedence over order.
    const auto lies_above = [&](const Curve& other) {
      const bool below = is_background_curve(curve);
      return is_background_curve(other) == below ? &other > &curve : below;
    };
    const auto covered = std::ranges::count_if(curves, [&](const Curve& other) {
      return &other != &curve && other.name.age == curve.name.age && lies_above(other) && !is_hidden(other) &&
             marks_coincide(curve, other);
    });
    add_curve(plot, curve, colors, legend, static_cast<int>(covered), is_hidden(curve));
  }
  const auto any = [&](const auto& shows, const auto& applies_to) {
    return std::ranges::any_of(
        curves, [&](const Curve& curve) { return shows(curve) && std::ranges::any_of(curve.points, applies_to); });
  };
  const auto is_measured = [](const Curve& curve) { return curve.kind == CurveKind::measured; };
  if (any(depends_on_clocks, &CurvePoint::throttled)) add_sample(plot, throttled_text(), SampleMark::half_disc, legend);
  if (any(is_measured, is_extrapolated)) add_sample(plot, extrapolated_text(), SampleMark::plus_disc, legend);
}

namespace {

constexpr double label_top = 0.08;  ///< This and the next constants are fractions of the axes' height.
constexpr double tick_bottom = 1;
constexpr double tick_top = 0.955;
constexpr double band_opacity = 34 / 255.0;
constexpr double bar_opacity = 90 / 255.0;
constexpr double band_gap = 3;               ///< In pixels.
constexpr std::size_t max_filled_bands = 3;  ///< With more bands, fills would hide each other.
constexpr double edge_opacity = 130 / 255.0;
constexpr double label_background_opacity = 190 / 255.0;
constexpr double min_label_distance = 1.25;  ///< Minimum ratio of N between two labels.

/// Places an item at an N and a fraction of the axes' height.
void place(QCPItemPosition* position, double n, double share) {
  position->setTypeX(QCPItemPosition::ptPlotCoords);
  position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  position->setCoords(n, share);
}

/// Filled only if no other band overlaps: mixed fills would have a meaningless color.
void add_band(QCustomPlot& plot, const analysis::L2Boundary& at, const QColor& color, bool filled) {
  auto* band = new QCPItemRect(&plot);
  band->setLayer(QStringLiteral("grid"));  // Below all data.
  place(band->topLeft, at.n_low, 0);
  place(band->bottomRight, at.n_high, 1);
  band->setPen(QPen(with_opacity(color, edge_opacity), filled ? 1 : 1.6, filled ? Qt::DotLine : Qt::DashLine));
  if (filled) band->setBrush(with_opacity(color, band_opacity));
}

void add_tick(QCustomPlot& plot, double n, const QColor& color) {
  auto* tick = new QCPItemLine(&plot);
  place(tick->start, n, tick_bottom);
  place(tick->end, n, tick_top);
  tick->setPen(QPen(color, 2.4));
}

QString label_text(const Boundary& boundary) {
  const std::string algorithm = short_title(boundary.algorithm).toStdString();
  const std::string size = text(Capacity(boundary.at.l2_bytes));
  if (boundary.device.empty()) return qtext(msg::curve_plot::exceeds_l2{.algorithm = algorithm, .size = size});
  return qtext(msg::curve_plot::exceeds_device_l2{.algorithm = algorithm, .device = boundary.device, .size = size});
}

/// `left`: the label is left of the vertical line at `n`.
void add_label(QCustomPlot& plot, const Boundary& boundary, double n, bool left, const QColor& color) {
  auto* label = new QCPItemText(&plot);
  label->setText(label_text(boundary));
  label->setFont(plot.font());
  label->setColor(color);
  label->setRotation(-90);
  label->setBrush(with_opacity(plot_colors(plot.palette()).background,
                               label_background_opacity));  // A translucent background keeps crossing curves visible.
  label->setPositionAlignment(Qt::AlignRight | (left ? Qt::AlignBottom : Qt::AlignTop));
  place(label->position, n, label_top);
}

/// Draws overlapping bands as bars, one below another, each with its label on the side with more room.
void add_bars(QCustomPlot& plot, const std::vector<Boundary>& boundaries, const QCPRange& n,
              const BandColor& color_of) {
  const PlotColors colors = plot_colors(plot.palette());
  const QFont font = small_font(plot.font());
  const double height = QFontMetricsF(font).height() - 2;
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    const Boundary& boundary = boundaries[i];
    const QColor color = color_of(boundary);
    const double top = band_gap + (height + band_gap) * static_cast<double>(i);
    auto* tick = new QCPItemLine(&plot);
    place_with_offset(plot, tick->start, {boundary.at.n_nominal, 0}, {0, top}, true);
    place_with_offset(plot, tick->end, {boundary.at.n_nominal, 0}, {0, top + height}, true);
    tick->setPen(QPen(color, 2.4));
    auto* label = new QCPItemText(&plot);
    label->setText(label_text(boundary));
    label->setFont(font);
    label->setColor(colors.text);
    label->setPadding({5, 0, 5, 0});
    const double last = std::max(boundary.at.n_high, boundary.at.n_nominal);
    const bool before = boundary.at.n_low / n.lower > n.upper / last;
    label->setPositionAlignment((before ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    place_with_offset(plot, label->position, {before ? boundary.at.n_low : last, 0}, {0, top + height / 2}, true);
    auto* bar = new QCPItemRect(&plot);
    place_with_offset(plot, bar->topLeft, {boundary.at.n_low, 0}, {0, top}, true);
    place_with_offset(plot, bar->bottomRight, {boundary.at.n_high, 0}, {0, top + height}, true);
    bar->setPen(Qt::NoPen);
    bar->setBrush(with_opacity(color, bar_opacity));
    for (QCPAbstractItem* item : {static_cast<QCPAbstractItem*>(tick), static_cast<QCPAbstractItem*>(label),
                                  static_cast<QCPAbstractItem*>(bar)}) {
      item->setLayer(QStringLiteral("grid"));  // Below all data.
    }
  }
}

}  // namespace

void add_boundary_bands(QCustomPlot& plot, const std::vector<Boundary>& boundaries, const QCPRange& n,
                        const BandColor& color_of) {
  if (boundaries.size() > max_filled_bands) return add_bars(plot, boundaries, n, color_of);
  for (const Boundary& boundary : boundaries) {
    const bool alone = std::ranges::none_of(boundaries, [&](const Boundary& other) {
      return &other != &boundary && other.at.n_low < boundary.at.n_high && boundary.at.n_low < other.at.n_high;
    });
    add_band(plot, boundary.at, color_of(boundary), alone);
    add_tick(plot, boundary.at.n_nominal, color_of(boundary));
  }
  // Labels run along the upper end of their band: inside, or outside if another label is too close.
  std::vector<const Boundary*> order;
  order.reserve(boundaries.size());
  for (const Boundary& boundary : boundaries) order.push_back(&boundary);
  std::ranges::sort(order, {}, [](const Boundary* boundary) { return boundary->at.n_high; });
  double taken = n.lower;
  for (const Boundary* boundary : order) {
    const double end = std::min(boundary->at.n_high, n.upper);
    const bool left = end / taken >= min_label_distance || end * min_label_distance > n.upper;
    add_label(plot, *boundary, end, left, color_of(*boundary));
    taken = left ? end : end * min_label_distance;
  }
}

namespace {

double shortest_length(const CurveSet& set) {
  Extent lengths;
  for (const Curve& curve : set.curves) {
    if (!curve.points.empty()) lengths.include(curve.points.front().n);
  }
  for (const FailedPoint& point : set.failed) lengths.include(point.n);
  return lengths.low;
}

QCPItemText* add_text(QCustomPlot& plot, const QString& text, const QColor& color, double n, double height) {
  auto* item = new QCPItemText(&plot);
  item->setText(text);
  item->setColor(color);
  item->setClipToAxisRect(true);
  item->position->setTypeX(QCPItemPosition::ptPlotCoords);
  item->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  item->position->setCoords(n, height);
  return item;
}

}  // namespace

std::vector<double> add_failed_marks(QCustomPlot& plot, const CurveSet& set, PlotLegend& legend) {
  const PlotColors colors = plot_colors(plot.palette());
  std::map<double, int> stacked;
  std::map<QString, double> named;  ///< Last N with a label, by label text.
  std::vector<double> heights;
  const double shortest = shortest_length(set);
  for (const FailedPoint& point : set.failed) {
    heights.push_back(0.03 + 0.05 * stacked[point.n]++);
    const QColor color = algorithm_color(point.algorithm, colors.dark);
    QCPItemText* cross = add_text(plot, QStringLiteral("✕"), color, point.n, heights.back());
    cross->setFont(bold(plot.font()));
    cross->setPositionAlignment(Qt::AlignCenter);
    const Disposition disposition = set.table().disposition(point.row);
    const QString why = qtext(title(disposition));
    const QString label = QStringLiteral("%1 · %2").arg(short_title(point.algorithm), why);
    const auto [known, fresh] = named.try_emplace(label, point.n);
    // The points of a family are in ascending N. The first one is labeled if there is room, and then each that is at
    // least twice as far.
    if (point.n > shortest && (fresh || point.n >= 2 * known->second)) {
      known->second = point.n;
      QCPItemText* words = add_text(plot, why, color, point.n, heights.back());
      words->setFont(small_font(plot.font()));
      words->setPositionAlignment(Qt::AlignRight | Qt::AlignVCenter);
      words->setPadding({0, 0, 9, 0});
    }
    if (!fresh) continue;
    QCPGraph* sample = add_marks(*plot.axisRect(), {QCPScatterStyle::ssCross, QPen(color, 1.8), Qt::NoBrush, 7});
    sample->setName(label);
    legend.add(QString::fromStdString(point.algorithm), sample,
               PlotLegend::Style{why, QPen(Qt::NoPen), sample->scatterStyle()});
  }
  return heights;
}

}  // namespace attnscope::ui

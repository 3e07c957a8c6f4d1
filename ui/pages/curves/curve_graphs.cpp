// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/curve_graphs.h"

#include <algorithm>
#include <cmath>

#include "messages/curve_plot.h"
#include "profiler/metrics/metrics.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr double alike_marks = 0.02;  ///< relative: on these axes such marks are one
constexpr double rim = 5;             ///< pixels that a covered mark is larger
constexpr int most_rims = 3;          ///< beyond, marks would hide their neighbours
constexpr double line_rim = 2.5;      ///< pixels that a covered line is wider
constexpr double lone_dash = 1.07;    ///< half the length of a dash that stands for theory at one N, as a factor of N

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

/// A disc's upper half.
QPainterPath upper_half() {
  QPainterPath half;
  half.moveTo(disc_size / 2, 0);
  half.arcTo(QRectF(-disc_size / 2, -disc_size / 2, disc_size, disc_size), 0, 180);
  half.closeSubpath();
  return half;
}

/// Over the curve's marks, where points are marked otherwise.
void add_marks_over(QCustomPlot& plot, const Curve& curve, const QString& name, QCPLayer* layer,
                    const QCPScatterStyle& style, const std::function<bool(const CurvePoint&)>& is_so) {
  if (std::ranges::none_of(curve.points, is_so)) return;
  QCPGraph* graph = add_marks(*plot.axisRect(), style);
  graph->setName(name);
  graph->setLayer(layer);
  for (const CurvePoint& point : curve.points) {
    if (is_so(point)) graph->addData(point.n, point.value);
  }
}

bool is_extrapolated(const CurvePoint& point) {
  return point.provenance == Provenance::extrapolated;
}

/// Whether the marks of two curves fall on one another at some N.
bool coincide(const Curve& a, const Curve& b) {
  if (a.kind != CurveKind::measured || b.kind != CurveKind::measured || a.quantity != b.quantity) return false;
  return std::ranges::any_of(a.points, [&](const CurvePoint& point) {
    return std::ranges::any_of(b.points, [&](const CurvePoint& other) {
      return other.n == point.n && std::abs(other.value - point.value) <= alike_marks * point.value;
    });
  });
}

/// Theory and simulation lie below measurements. An older run lies below the newest, whose bytes may be the very same,
/// whatever both are.
bool is_below_measurements(const Curve& curve) {
  return curve.name.age > 0 || curve.kind != CurveKind::measured || curve.provenance == Provenance::simulated;
}

/// Whose the colour is, for the legend; nothing where the curve has none of its own.
void add_color_key(const Curve& curve, const QColor& color, PlotLegend& legend) {
  if (curve.hue >= 0) {
    if (!curve.paler) legend.add_color(curve.hue_words, color, false, curve.label);
    return;
  }
  if (curve.hue == no_hue || curve.paler || curve.beside || curve.name.algorithm.empty()) return;
  // A chip above the plot has an algorithm's colour, but no device's shade of it.
  legend.add_color(owner_words(curve.name), color, curve.name.device.empty(), curve.label);
}

/// `covered`: how many curves drawn above this one lie upon it; each makes its marks and line larger, so that a rim of
/// them is seen.
void add_curve(QCustomPlot& plot, const Curve& curve, const PlotColors& colors, PlotLegend& legend, int covered,
               bool hidden) {
  const QColor color = curve_color(curve, colors);
  QCPGraph* graph = add_line(*plot.axisRect(), curve_pen(curve, color));
  graph->setName(curve.label);
  const bool measured = curve.kind == CurveKind::measured;
  if (is_below_measurements(curve)) graph->setLayer(curve.name.age > 0 ? older_layer() : theory_layer());
  QVector<double> n;
  QVector<double> values;
  for (const CurvePoint& point : curve.points) {
    n.append(point.n);
    values.append(point.value);
  }
  // Theory has no marks: at a single N it would be a line without length.
  if (!measured && n.size() == 1) {
    n = {n[0] / lone_dash, n[0] * lone_dash};
    values.append(values[0]);
  }
  graph->setData(n, values, true);
  if (measured) {
    QPen pen = graph->pen();
    // A dash grows with its line: of dotted ones the marks alone tell.
    if (covered > 0 && pen.style() == Qt::SolidLine) pen.setWidthF(pen.widthF() + line_rim);
    graph->setPen(pen);
    QCPScatterStyle marks = scatter_of(curve, color, colors.background);
    // What lies below all measurements is larger than the largest of them.
    const int most = most_rims + (is_below_measurements(curve) ? 1 : 0);
    marks.setSize(marks.size() + std::min(covered, most) * rim);
    graph->setScatterStyle(marks);
    if (!hidden) add_spread(plot, graph, curve, color);
  }
  legend.add(QString::fromStdString(curve.name.algorithm), graph,
             PlotLegend::Style{style_words(curve), curve_pen(curve, color),
                               measured ? scatter_of(curve, color, colors.background) : QCPScatterStyle()},
             curve.label);
  add_color_key(curve, color, legend);
  graph->setVisible(!hidden);
  if (hidden) return;
  if (slowed_by_clocks(curve)) {
    // The upper half of the marks, emptied.
    add_marks_over(plot, curve, throttled_words(), graph->layer(),
                   {upper_half(), QPen(color, 1.5), colors.background, path_unit_size}, &CurvePoint::throttled);
  }
  // With a plus where a simulation was continued from a part.
  const auto part = std::ranges::find_if(curve.points, is_extrapolated);
  if (!measured || part == curve.points.end()) return;
  add_marks_over(plot, curve, extrapolated_words(), graph->layer(),
                 scatter_of(mark_of(curve, *part), color, colors.background), is_extrapolated);
}

/// What marks mean that are unlike their curve's, in the legend.
void add_sample(QCustomPlot& plot, const QString& words, SampleMark mark, PlotLegend& legend) {
  const PlotColors colors = plot_colors(plot.palette());
  QCPGraph* sample = add_marks(*plot.axisRect(), scatter_of(mark, colors.muted, colors.background));
  sample->setName(words);
  legend.add({}, sample);
}

}  // namespace

void add_omissions(QCustomPlot& plot, const CurveSet& set, PlotLegend& legend) {
  const auto add = [&](const QString& group, const QString& words, const QString& in_short) {
    QCPGraph* entry = plot.addGraph();
    entry->setName(words);
    entry->setPen(QPen(Qt::NoPen));
    legend.add(group, entry, PlotLegend::Style{in_short, QPen(Qt::NoPen)});
  };
  for (const WithheldNote& note : set.withheld) {
    add(QString::fromStdString(note.algorithm), note.text, qtext(say::curve_plot::fits_withheld{}));
  }
  const auto of_time = [](const Curve& curve) { return analysis::metric_of(curve) == metric_key::time_median_ns; };
  const bool simulated = std::ranges::any_of(set.curves, [&](const Curve& curve) {
    return of_time(curve) && curve.kind == CurveKind::measured && curve.provenance == Provenance::simulated;
  });
  const bool theory = std::ranges::any_of(set.curves, [&](const Curve& curve) {
    return of_time(curve) && (curve.kind == CurveKind::model || std::ranges::any_of(curve.points, [](const auto& p) {
                                return p.over_theory.has_value();
                              }));
  });
  if (simulated && theory) {
    add({}, qtext(say::curve_plot::times_by_construction{}), qtext(say::curve_plot::times_by_construction{}));
  }
  if (set.boundaries.size() > most_bands) {
    const QString words = qtext(say::curve_plot::bands_left_out{.bands = set.boundaries.size()});
    add({}, words, words);
  } else if (!set.boundaries.empty()) {
    add({}, qtext(say::curve_plot::band{}), qtext(say::curve_plot::band{}));
  }
  if (set.hues > category_colors) {
    const QString words = qtext(say::curve_plot::colors_repeat{.colors = category_colors});
    add({}, words, words);
  }
  if (!set.hidden.isEmpty()) add({}, set.hidden, QString(set.hidden).replace(QLatin1Char('\n'), QLatin1Char(' ')));
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
    // A layer comes before the order within one: what is simulated is covered by every measured curve that lies on it.
    const auto lies_above = [&](const Curve& other) {
      const bool below = is_below_measurements(curve);
      return is_below_measurements(other) == below ? &other > &curve : below;
    };
    const auto covered = std::ranges::count_if(curves, [&](const Curve& other) {
      return &other != &curve && other.name.age == curve.name.age && lies_above(other) && !is_hidden(other) &&
             coincide(curve, other);
    });
    add_curve(plot, curve, colors, legend, static_cast<int>(covered), is_hidden(curve));
  }
  const auto any = [&](const auto& shows, const auto& is_so) {
    return std::ranges::any_of(
        curves, [&](const Curve& curve) { return shows(curve) && std::ranges::any_of(curve.points, is_so); });
  };
  const auto is_measured = [](const Curve& curve) { return curve.kind == CurveKind::measured; };
  if (any(slowed_by_clocks, &CurvePoint::throttled)) add_sample(plot, throttled_words(), SampleMark::half_disc, legend);
  if (any(is_measured, is_extrapolated)) add_sample(plot, extrapolated_words(), SampleMark::plus_disc, legend);
}

}  // namespace attnscope::ui

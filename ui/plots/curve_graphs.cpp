// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/curve_graphs.h"

#include <algorithm>
#include <cmath>

#include "messages/curve_plot.h"
#include "ui/plots/curve_style.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr double alike_marks = 0.02;  ///< relative: on these axes such marks are one
constexpr double rim = 5;             ///< pixels that a covered mark is larger
constexpr int most_rims = 3;          ///< beyond, marks would hide their neighbours
constexpr double line_rim = 2.5;      ///< likewise, that a covered line is wider
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

void add_throttled(QCustomPlot& plot, const Curve& curve, const PlotColors& colors, QCPLayer* layer) {
  if (!slowed_by_clocks(curve)) return;
  QVector<double> n;
  QVector<double> values;
  for (const CurvePoint& point : curve.points) {
    if (!point.throttled) continue;
    n.append(point.n);
    values.append(point.value);
  }
  if (n.isEmpty()) return;
  // The upper half of the marks, emptied.
  QPainterPath half;
  half.moveTo(disc_size / 2, 0);
  half.arcTo(QRectF(-disc_size / 2, -disc_size / 2, disc_size, disc_size), 0, 180);
  half.closeSubpath();
  QCPGraph* graph = plot.addGraph();
  graph->setName(throttled_words());
  graph->setLayer(layer);
  graph->setLineStyle(QCPGraph::lsNone);
  graph->setScatterStyle(
      QCPScatterStyle(half, QPen(curve_color(curve, colors), 1.5), colors.background, path_unit_size));
  graph->setData(n, values, true);
}

/// The curve's marks again, with a plus, where a simulation was continued from a part.
void add_extrapolated(QCustomPlot& plot, const Curve& curve, const PlotColors& colors, const QString& layer) {
  if (curve.kind != CurveKind::measured) return;
  QVector<double> n;
  QVector<double> values;
  SampleMark mark = SampleMark::none;
  for (const CurvePoint& point : curve.points) {
    if (point.provenance != Provenance::extrapolated) continue;
    n.append(point.n);
    values.append(point.value);
    mark = mark_of(curve, point);
  }
  if (n.isEmpty()) return;
  QCPGraph* graph = plot.addGraph();
  graph->setName(extrapolated_words());
  graph->setLayer(layer);
  graph->setLineStyle(QCPGraph::lsNone);
  graph->setScatterStyle(scatter_of(mark, curve_color(curve, colors), colors.background));
  graph->setData(n, values, true);
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
  if (curve.hue == no_hue || curve.paler || curve.name.algorithm.empty()) return;
  // A chip above the plot has an algorithm's colour, but no device's shade of it.
  legend.add_color(owner_words(curve.name), color, curve.name.device.empty(), curve.label);
}

/// `covered`: how many curves drawn above this one lie upon it; each makes its marks and line larger, so that a rim of
/// them is seen.
void add_curve(QCustomPlot& plot, const Curve& curve, const PlotColors& colors, PlotLegend& legend, int covered,
               bool hidden) {
  const QColor color = curve_color(curve, colors);
  QCPGraph* graph = plot.addGraph();
  graph->setName(curve.label);
  graph->setPen(curve_pen(curve, color));
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
  add_throttled(plot, curve, colors, graph->layer());
  add_extrapolated(plot, curve, colors, graph->layer()->name());
}

/// What the half-filled marks mean, in the legend.
void add_throttled_sample(QCustomPlot& plot, const PlotColors& colors, PlotLegend& legend) {
  QCPGraph* sample = plot.addGraph();
  sample->setName(throttled_words());
  sample->setLineStyle(QCPGraph::lsNone);
  sample->setScatterStyle(scatter_of(SampleMark::half_disc, colors.muted, colors.background));
  legend.add({}, sample);
}

/// What the pluses mean.
void add_extrapolated_sample(QCustomPlot& plot, const PlotColors& colors, PlotLegend& legend) {
  QCPGraph* sample = plot.addGraph();
  sample->setName(extrapolated_words());
  sample->setLineStyle(QCPGraph::lsNone);
  sample->setScatterStyle(scatter_of(SampleMark::plus_disc, colors.muted, colors.background));
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
  for (auto curve = curves.begin(); curve != curves.end(); ++curve) {
    // A layer comes before the order within one: what is simulated is covered by every measured curve that lies on it.
    const auto lies_above = [&](const Curve& other) {
      const bool below = is_below_measurements(*curve);
      return is_below_measurements(other) == below ? &other > &*curve : below;
    };
    const auto covered = std::count_if(curves.begin(), curves.end(), [&](const Curve& other) {
      return &other != &*curve && other.name.age == curve->name.age && lies_above(other) && !is_hidden(other) &&
             coincide(*curve, other);
    });
    add_curve(plot, *curve, colors, legend, static_cast<int>(covered), is_hidden(*curve));
  }
  const bool any_throttled = std::any_of(curves.begin(), curves.end(), [](const Curve& curve) {
    return slowed_by_clocks(curve) && std::any_of(curve.points.begin(), curve.points.end(),
                                                  [](const CurvePoint& point) { return point.throttled; });
  });
  if (any_throttled) add_throttled_sample(plot, colors, legend);
  const bool any_extrapolated = std::any_of(curves.begin(), curves.end(), [](const Curve& curve) {
    return curve.kind == CurveKind::measured &&
           std::any_of(curve.points.begin(), curve.points.end(),
                       [](const CurvePoint& point) { return point.provenance == Provenance::extrapolated; });
  });
  if (any_extrapolated) add_extrapolated_sample(plot, colors, legend);
}

}  // namespace attnscope::ui

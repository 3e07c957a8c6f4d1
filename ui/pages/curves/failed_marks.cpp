// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/failed_marks.h"

#include <algorithm>
#include <map>

#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

double shortest_length(const CurveSet& set) {
  Extent lengths;
  for (const Curve& curve : set.curves) {
    if (!curve.points.empty()) lengths.take(curve.points.front().n);
  }
  for (const FailedPoint& point : set.failed) lengths.take(point.n);
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
  std::map<QString, double> named;  ///< by words, the last N beside which they stand
  std::vector<double> heights;
  const double shortest = shortest_length(set);
  for (const FailedPoint& point : set.failed) {
    heights.push_back(0.03 + 0.05 * stacked[point.n]++);
    const QColor color = algorithm_color(point.algorithm, colors.dark);
    QCPItemText* cross = add_text(plot, QStringLiteral("✕"), color, point.n, heights.back());
    cross->setFont(bold(plot.font()));
    cross->setPositionAlignment(Qt::AlignCenter);
    const Disposition disposition = set.table().disposition(point.row);
    const QString why = qtext(analysis::failure_words(set.table(), point));
    const QString label = QStringLiteral("%1 · %2").arg(
        short_title(point.algorithm), QString(why).replace(QStringLiteral(": "), QStringLiteral(":\n")));
    const auto [known, fresh] = named.try_emplace(label, point.n);
    // The points of a family come in the order of their N: beside the first of its kind there is room, unless nothing
    // ran at all, and beside each that lies an octave further.
    if (point.n > shortest && (fresh || point.n >= 2 * known->second)) {
      known->second = point.n;
      QCPItemText* words = add_text(plot, qtext(title(disposition)), color, point.n, heights.back());
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

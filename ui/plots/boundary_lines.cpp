// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/boundary_lines.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/format.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr double label_room = 1.6;  ///< the ratio of two N from which both labels find room left of their lines

struct Label {
  QCPItemText* text;
  double n;
};

void add_line(QCustomPlot& plot, double n, QColor color) {
  auto* line = new QCPItemStraightLine(&plot);
  line->point1->setTypeY(QCPItemPosition::ptAxisRectRatio);
  line->point2->setTypeY(QCPItemPosition::ptAxisRectRatio);
  line->point1->setCoords(n, 0);
  line->point2->setCoords(n, 1);
  color.setAlpha(150);
  line->setPen(QPen(color, 1.2, Qt::DashDotDotLine));
}

QCPItemText* add_label(QCustomPlot& plot, const L2Boundary& boundary, const QColor& color) {
  auto* label = new QCPItemText(&plot);
  const QString owner = boundary.device.isEmpty() ? QString() : boundary.device + QLatin1Char(' ');
  label->setText(QCoreApplication::translate("IoPlot", "%1 > %2L2 %3")
                     .arg(short_title(boundary.algorithm), owner, format_capacity(boundary.l2_bytes)));
  label->setFont(plot.font());
  label->setColor(color);
  label->setRotation(-90);
  label->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
  label->setPadding({2, 2, 2, 3});
  label->position->setTypeX(QCPItemPosition::ptPlotCoords);
  label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  label->position->setCoords(boundary.n, 0.08);
  return label;
}

}  // namespace

void add_boundary_lines(QCustomPlot& plot, const std::vector<L2Boundary>& boundaries) {
  const PlotColors colors = plot_colors(plot.palette());
  std::vector<Label> labels;
  for (const L2Boundary& boundary : boundaries) {
    const QColor color = algorithm_color(boundary.algorithm, colors.dark);
    add_line(plot, boundary.n, color);
    labels.push_back({add_label(plot, boundary, color), boundary.n});
  }
  // Labels stand left of their lines; where two lines are close, the right one's label goes to its right side.
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.n < b.n; });
  for (std::size_t i = 1; i < labels.size(); ++i) {
    if (labels[i].n / labels[i - 1].n < label_room) {
      labels[i].text->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
    }
  }
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_parts.h"

namespace attnscope::ui {

void style_axis(QCPAxis& axis, const PlotColors& colors, const QFont& font) {
  axis.setBasePen(QPen(colors.axis));
  axis.setTickPen(QPen(colors.axis));
  axis.setSubTickPen(QPen(colors.axis));
  axis.setTickLabelColor(colors.text);
  axis.setLabelColor(colors.text);
  axis.setTickLabelFont(font);
  axis.setLabelFont(font);
  axis.grid()->setPen(QPen(colors.grid, 1));
  axis.grid()->setZeroLinePen(Qt::NoPen);
  axis.grid()->setSubGridVisible(false);
}

QFont bold(QFont font) {
  font.setBold(true);
  return font;
}

QPointF to_pixels(const QCPAxisRect& panel, const QPointF& point) {
  return {panel.axis(QCPAxis::atBottom)->coordToPixel(point.x()), panel.axis(QCPAxis::atLeft)->coordToPixel(point.y())};
}

QCPGraph* add_line(const QCPAxisRect& panel, const QPen& pen) {
  QCPGraph* line = panel.parentPlot()->addGraph(panel.axis(QCPAxis::atBottom), panel.axis(QCPAxis::atLeft));
  line->setPen(pen);
  return line;
}

QCPGraph* add_marks(const QCPAxisRect& panel, const QCPScatterStyle& style) {
  QCPGraph* marks = add_line(panel, style.pen());
  marks->setLineStyle(QCPGraph::lsNone);
  marks->setScatterStyle(style);
  return marks;
}

QCPItemStraightLine* add_level(QCPAxisRect& panel, double value, const QPen& pen) {
  auto* level = new QCPItemStraightLine(panel.parentPlot());
  level->setClipAxisRect(&panel);
  for (QCPItemPosition* position : {level->point1, level->point2}) {
    position->setAxes(panel.axis(QCPAxis::atBottom), panel.axis(QCPAxis::atLeft));
    position->setAxisRect(&panel);
  }
  level->point1->setCoords(1, value);
  level->point2->setCoords(2, value);
  level->setPen(pen);
  return level;
}

void add_band(QCPAxisRect& panel, double low, double high, const QColor& color) {
  auto* band = new QCPItemRect(panel.parentPlot());
  for (QCPItemPosition* corner : {band->topLeft, band->bottomRight}) {
    corner->setAxisRect(&panel);
    corner->setAxes(panel.axis(QCPAxis::atBottom), panel.axis(QCPAxis::atLeft));
    corner->setTypeX(QCPItemPosition::ptAxisRectRatio);
    corner->setTypeY(QCPItemPosition::ptPlotCoords);
  }
  band->setClipAxisRect(&panel);
  band->topLeft->setCoords(0, high);
  band->bottomRight->setCoords(1, low);
  band->setPen(Qt::NoPen);
  band->setBrush(color);
  band->setLayer(QStringLiteral("grid"));
}

}  // namespace attnscope::ui

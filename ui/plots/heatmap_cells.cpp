// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_cells.h"

#include <algorithm>
#include <cmath>

#include "ui/plots/heatmap_words.h"

namespace attnscope::ui {
namespace {

/// Diagonal lines over a rectangle; drawn one by one, since SVG files lose a brush's pattern.
void draw_hatching(QPainter& painter, const QRectF& rect) {
  constexpr double step = 7;
  QVector<QLineF> lines;
  for (double sum = step; sum < rect.width() + rect.height(); sum += step) {
    const double x_start = std::max(0.0, sum - rect.height());
    const double x_end = std::min(rect.width(), sum);
    lines.append({rect.left() + x_start, rect.top() + sum - x_start, rect.left() + x_end, rect.top() + sum - x_end});
  }
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawLines(lines);
  painter.restore();
}

/// The frame inside a cell that is not to look like one that was measured here.
Qt::PenStyle frame_of(Provenance provenance) {
  switch (provenance) {
    case Provenance::simulated:
    case Provenance::extrapolated:  // with a second one inside
      return Qt::DotLine;
    case Provenance::imported:
      return Qt::DashDotLine;
    case Provenance::measured:
    case Provenance::derived:
    case Provenance::modelled:
      return Qt::NoPen;
  }
  return Qt::NoPen;
}

/// 0..1 on the colour scale.
double share_of(const HeatmapDrawing& drawing, double value) {
  const double low = *drawing.grid.minimum;
  const double high = *drawing.grid.maximum;
  if (high <= low || drawing.grid.flat) return 0.5;
  if (drawing.log_colors) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

/// In the lower left corner, which neither outlines nor figures reach: which of several kernels ran the tile.
void draw_kernel_mark(QPainter& painter, int kernel, const QRectF& rect, const QColor& ink) {
  if (kernel < 1) return;
  constexpr double size = 6;
  const QRectF mark(rect.left() + 4, rect.bottom() - 4 - size, size, size);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ink);
  switch (kernel) {
    case 1:
      painter.drawPolygon(QPolygonF{mark.topLeft(), mark.bottomLeft(), mark.bottomRight()});
      break;
    case 2:
      painter.drawRect(mark.adjusted(0.5, 0.5, -0.5, -0.5));
      break;
    case 3:
      painter.drawEllipse(mark);
      break;
    case 4:
      painter.drawRect(QRectF(mark.left(), mark.center().y(), size + 3, size / 2));
      break;
    default:
      painter.drawPolygon(QPolygonF{mark.bottomLeft(), mark.bottomRight(), {mark.center().x(), mark.top()}});
      break;
  }
  painter.restore();
}

void draw_value(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout, const HeatmapCell& cell,
                const QRectF& rect) {
  const QColor fill = viridis(share_of(drawing, *cell.value));
  painter.fillRect(rect, fill);
  if (const Qt::PenStyle frame = frame_of(cell.provenance); frame != Qt::NoPen) {
    painter.setPen(QPen(ink_on(fill), 1, frame));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(2, 2, -2, -2));
    if (cell.provenance == Provenance::extrapolated) painter.drawRect(rect.adjusted(5, 5, -5, -5));
  }
  if (cell.throttled) {
    constexpr double corner = 6;
    const QPointF at = rect.topRight() + QPointF(-3, 4);  // within an outline
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink_on(fill));
    painter.drawPolygon(QPolygonF{at, at - QPointF(corner, 0), at + QPointF(0, corner)});
  }
  draw_kernel_mark(painter, cell.kernel, rect, ink_on(fill));
  if (!layout.figures.shown) return;
  painter.setPen(ink_on(fill));
  painter.drawText(rect, Qt::AlignCenter, format_number(*cell.value * drawing.unit.factor, layout.figures.digits));
}

void draw_without_value(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                        const HeatmapCell& cell, const QRectF& rect) {
  painter.setPen(QPen(drawing.colors.grid, layout.seam));
  painter.setBrush(Qt::NoBrush);
  const double half = layout.seam / 2;
  painter.drawRect(rect.adjusted(half, half, -half, -half));
  if (!cell.disposition) return;
  if (*cell.disposition == Disposition::infeasible) {
    painter.setPen(QPen(drawing.colors.hatch, 1));
    draw_hatching(painter, rect);
    return;
  }
  painter.setPen(disposition_color(*cell.disposition, drawing.colors.dark));
  const QString word = *cell.disposition == Disposition::ok ? QStringLiteral("–") : short_word(*cell.disposition);
  const bool fits = layout.figures.shown && QFontMetricsF(painter.font()).horizontalAdvance(word) <= rect.width() - 2;
  painter.drawText(rect, Qt::AlignCenter, fits ? word : QStringLiteral("✕"));
  draw_kernel_mark(painter, cell.kernel, rect, drawing.colors.text);
}

void draw_outline(QPainter& painter, const HeatmapDrawing& drawing, const QRectF& cell, Qt::PenStyle style) {
  const QRectF rect = cell.adjusted(1, 1, -1, -1);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(drawing.colors.background, 4.5));
  painter.drawRect(rect);
  QPen pen(drawing.colors.dark ? QColor(0xffff9e64) : QColor(0xffd55e00), 2.5);
  if (style == Qt::DashLine) pen.setDashPattern({2, 1.6});
  painter.setPen(pen);
  painter.drawRect(rect);
}

}  // namespace

void draw_heatmap_cells(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  const HeatmapGrid& grid = drawing.grid;
  painter.setFont(layout.figures.font);
  for (int row = 0; row < static_cast<int>(grid.br.size()); ++row) {
    for (int column = 0; column < static_cast<int>(grid.bc.size()); ++column) {
      const HeatmapCell& cell = grid.at({row, column});
      const QRectF rect = layout.cell(grid, {row, column}).adjusted(0, 0, -layout.seam, -layout.seam);
      if (cell.value) {
        draw_value(painter, drawing, layout, cell, rect);
      } else {
        draw_without_value(painter, drawing, layout, cell, rect);
      }
    }
  }
  for (const HeatmapGrid::Place place : grid.fastest) {
    if (std::ranges::find(grid.best, place) != grid.best.end()) continue;
    draw_outline(painter, drawing, layout.cell(grid, place), Qt::DashLine);
  }
  for (const HeatmapGrid::Place place : grid.best) {
    draw_outline(painter, drawing, layout.cell(grid, place), Qt::SolidLine);
  }
  painter.setFont(drawing.font);
}

}  // namespace attnscope::ui

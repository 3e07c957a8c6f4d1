// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_cells.h"

#include <algorithm>
#include <utility>

#include "ui/plots/heatmap_words.h"
#include "ui/plots/plot_parts.h"

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

void draw_value(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                const HeatmapColors& colors, HeatmapGrid::Place place, const QRectF& rect) {
  const HeatmapCell& cell = drawing.grid.at(place);
  const QColor fill = colors.at(*cell.value);
  painter.fillRect(rect, fill);
  if (drawing.grid.extra(place).hatched) {
    painter.setPen(QPen(faded(ink_on(fill), 0.45), 1));  // figures are to be read over it
    draw_hatching(painter, rect);
  }
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
  if (cell.again) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink_on(fill));
    painter.drawEllipse(rect.topLeft() + QPointF(7, 7), 2.2, 2.2);
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

QColor outline_color(const HeatmapDrawing& drawing) {
  // On blue and orange cells neither of these: on the diverging scale outlines are ink.
  if (drawing.grid.shown.around_one()) return {0x10, 0x10, 0x10};
  return drawing.colors.dark ? QColor(0xffff9e64) : QColor(0xffd55e00);
}

/// One line around all places together, wherever they have no neighbour among them.
void draw_outer_edges(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                      const std::vector<HeatmapGrid::Place>& places) {
  QVector<QLineF> edges;
  for (const HeatmapGrid::Place place : places) {
    const auto alone = [&](int rows, int columns) {
      return std::ranges::find(places, HeatmapGrid::Place{place.row + rows, place.column + columns}) == places.end();
    };
    const QRectF rect = layout.cell(drawing.grid, place).adjusted(0, 0, -layout.seam, -layout.seam);
    if (alone(1, 0)) edges.append({rect.topLeft(), rect.topRight()});
    if (alone(-1, 0)) edges.append({rect.bottomLeft(), rect.bottomRight()});
    if (alone(0, -1)) edges.append({rect.topLeft(), rect.bottomLeft()});
    if (alone(0, 1)) edges.append({rect.topRight(), rect.bottomRight()});
  }
  // Dots of another colour than the frames', which it may run beside.
  QPen dots(drawing.colors.text, 2.2, Qt::CustomDashLine, Qt::FlatCap);
  dots.setDashPattern({1, 1.2});
  for (const QPen& pen : {QPen(drawing.colors.background, 4, Qt::SolidLine, Qt::SquareCap), dots}) {
    painter.setPen(pen);
    painter.drawLines(edges);
  }
}

void draw_outline(QPainter& painter, const HeatmapDrawing& drawing, const QRectF& cell, Qt::PenStyle style) {
  const QRectF rect = cell.adjusted(1, 1, -1, -1);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(drawing.colors.background, 4.5));
  painter.drawRect(rect);
  QPen pen(outline_color(drawing), 2.5);
  if (style == Qt::DashLine) pen.setDashPattern({2, 1.6});
  painter.setPen(pen);
  painter.drawRect(rect);
}

}  // namespace

void draw_heatmap_cells(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  const HeatmapGrid& grid = drawing.grid;
  const HeatmapColors colors(grid, drawing.log_colors);
  painter.setFont(layout.figures.font);
  for (int row = 0; row < static_cast<int>(grid.y.size()); ++row) {
    for (int column = 0; column < static_cast<int>(grid.x.size()); ++column) {
      const HeatmapCell& cell = grid.at({row, column});
      const QRectF rect = layout.cell(grid, {row, column}).adjusted(0, 0, -layout.seam, -layout.seam);
      if (cell.value) {
        draw_value(painter, drawing, layout, colors, {row, column}, rect);
      } else {
        draw_without_value(painter, drawing, layout, cell, rect);
      }
    }
  }
  // A plateau of the best alone is the best's own outline.
  if (grid.plateau.size() > 1) draw_outer_edges(painter, drawing, layout, grid.plateau);
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_axes.h"

#include <algorithm>
#include <cmath>

#include "messages/tile_map.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/heatmap_words.h"
#include "ui/said.h"

namespace attnscope::ui {
namespace {

constexpr double mark_radius = 4.5;
constexpr double label_gap = 3;  ///< between cells, or the paper's marks, and the axis labels

/// On an axis of `count` cells: a diamond where the paper's tile falls, an arrow at the end that it lies beyond.
QPolygonF mark_shape(const QPointF& at, double place, double count, const QPointF& along, const QPointF& across) {
  if (place > -0.5 && place < count - 0.5) {
    return {{at - along * mark_radius, at + across * mark_radius, at + along * mark_radius, at - across * mark_radius}};
  }
  const double way = place < 0 ? -1 : 1;
  const QPointF tip = at + along * (way * mark_radius * 1.6);
  return {{tip, at + across * mark_radius, at - across * mark_radius}};
}

/// The marks stand outside the cells, so that they hide no value.
void draw_paper_marks(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  if (!drawing.grid.paper) return;
  const auto columns = static_cast<double>(drawing.grid.bc.size());
  const auto rows = static_cast<double>(drawing.grid.br.size());
  const double column = drawing.grid.paper->column;
  const double row = drawing.grid.paper->row;
  const double x = (std::clamp(column, -0.5, columns - 0.5) + 0.5) * layout.cell_width;
  const double y = (std::clamp(row, -0.5, rows - 0.5) + 0.5) * layout.cell_height;
  const double away = 1 + mark_radius;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(drawing.colors.dark ? QColor(0xffff8fd0) : QColor(0xffc2187f));
  painter.drawPolygon(
      mark_shape(QPointF(layout.cells.left() + x, layout.cells.bottom() + away), column, columns, {1, 0}, {0, 1}));
  painter.drawPolygon(
      mark_shape(QPointF(layout.cells.left() - away, layout.cells.bottom() - y), row, rows, {0, -1}, {1, 0}));
  painter.restore();
}

}  // namespace

void draw_heatmap_title(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                        const QRectF& area) {
  QFont bold = drawing.font;
  bold.setBold(true);
  const double width = area.right() - layout.cells.left() - heatmap_right_margin;
  const double line = QFontMetricsF(bold).height() + 2;
  const auto write = [&](const QFont& font, const QColor& color, double top, const QString& text) {
    painter.setFont(font);
    painter.setPen(color);
    painter.drawText(QRectF(layout.cells.left(), top, width, line), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(font).elidedText(text, Qt::ElideRight, width));
  };
  write(bold, drawing.colors.text, area.top() + 5, drawing.title.what);
  write(drawing.font, drawing.colors.muted, area.top() + 5 + line, drawing.title.of);
}

void draw_heatmap_axes(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  const HeatmapGrid& grid = drawing.grid;
  const QFontMetricsF metrics(drawing.font);
  painter.setFont(drawing.font);
  painter.setPen(drawing.colors.text);
  const double widest = metrics.horizontalAdvance(QStringLiteral("0000")) + 4;
  const int column_step = std::max(1, static_cast<int>(std::ceil(widest / layout.cell_width)));
  const int row_step = std::max(1, static_cast<int>(std::ceil(metrics.height() / layout.cell_height)));
  const double gap = label_gap + layout.mark_room;
  for (std::size_t i = 0; i < grid.bc.size(); i += static_cast<std::size_t>(column_step)) {
    const QRectF rect = layout.cell(grid, {0, static_cast<int>(i)});
    painter.drawText(QRectF(rect.center().x() - 30, layout.cells.bottom() + gap, 60, metrics.height()),
                     Qt::AlignHCenter | Qt::AlignTop, QString::number(grid.bc[i]));
  }
  for (std::size_t i = 0; i < grid.br.size(); i += static_cast<std::size_t>(row_step)) {
    const QRectF rect = layout.cell(grid, {static_cast<int>(i), 0});
    painter.drawText(
        QRectF(layout.cells.left() - gap - 41, rect.center().y() - metrics.height() / 2, 38, metrics.height()),
        Qt::AlignRight | Qt::AlignVCenter, QString::number(grid.br[i]));
  }
  const double left = heatmap_left_margin + layout.mark_room;
  painter.drawText(QRectF(layout.cells.left() - left, layout.cells.bottom() + gap + metrics.height() + 2,
                          layout.cells.width() + left + heatmap_bar_labels, metrics.height()),
                   Qt::AlignHCenter, said(say::tile_map::bc_axis{}));
  painter.save();
  painter.translate(layout.cells.left() - left + 4, layout.cells.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-layout.cells.height() / 2 - 30, 0, layout.cells.height() + 60, metrics.height()),
                   Qt::AlignCenter, said(say::tile_map::br_axis{}));
  painter.restore();
  draw_paper_marks(painter, drawing, layout);
}

void draw_heatmap_bar(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  if (!drawing.grid.minimum) return;
  QLinearGradient gradient(layout.bar.bottomLeft(), layout.bar.topLeft());
  const bool flat = drawing.grid.flat;
  for (int i = 0; i <= 16; ++i) gradient.setColorAt(i / 16.0, viridis(flat ? 0.5 : i / 16.0));
  painter.setPen(QPen(drawing.colors.axis, 1));
  painter.setBrush(gradient);
  painter.drawRect(layout.bar);
  const double low = *drawing.grid.minimum;
  const double high = *drawing.grid.maximum;
  const QFontMetricsF metrics(drawing.font);
  const int ticks = high > low && !flat ? std::clamp(static_cast<int>(layout.bar.height() / 60), 2, 6) : 1;
  painter.setFont(drawing.font);
  painter.setPen(drawing.colors.text);
  for (int i = 0; i < ticks; ++i) {
    const double share = ticks == 1 ? 0.5 : static_cast<double>(i) / (ticks - 1);
    const double value = ticks == 1           ? (low + high) / 2
                         : drawing.log_colors ? low * std::pow(high / low, share)
                                              : low + (high - low) * share;
    const double y = layout.bar.bottom() - share * layout.bar.height();
    painter.drawLine(QPointF(layout.bar.right(), y), QPointF(layout.bar.right() + 4, y));
    painter.drawText(QRectF(layout.bar.right() + 7, y - metrics.height() / 2, heatmap_bar_labels, metrics.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, format_number(value * drawing.unit.factor));
  }
  const QString& unit = drawing.unit.suffix;
  const bool log = drawing.log_colors && !flat;
  if (unit.isEmpty() && !log) return;
  const double below = layout.bar.bottom() + 0.5 * metrics.height() + 1;  // the lowest label
  painter.drawText(QRectF(layout.bar.left() - 8, below, heatmap_bar_width + heatmap_bar_labels, metrics.height()),
                   Qt::AlignLeft, log ? said(say::tile_map::log_scale{.unit = unit.toStdString()}) : unit);
}

void draw_heatmap_caption(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                          const QRectF& area) {
  painter.setPen(drawing.colors.muted);
  painter.setFont(small_font(drawing.font));
  const double left = area.left() + heatmap_caption_left;
  const QRectF room(left, layout.caption_top, area.right() - left - heatmap_right_margin,
                    area.bottom() - layout.caption_top);
  painter.drawText(room, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                   heatmap_caption(drawing.grid, layout.figures.shown, drawing.medium));
  if (!drawing.source.isEmpty()) {
    painter.drawText(room.adjusted(0, 0, 0, -4), Qt::AlignRight | Qt::AlignBottom, drawing.source);
  }
  painter.setFont(drawing.font);
}

}  // namespace attnscope::ui

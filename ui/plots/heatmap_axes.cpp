// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_axes.h"

#include <algorithm>
#include <cmath>

#include "messages/tile_map.h"
#include "ui/models/facet_words.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/heatmap_words.h"
#include "ui/plots/plot_parts.h"
#include "ui/plots/round_ticks.h"
#include "ui/text/qtext.h"

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
  const auto columns = static_cast<double>(drawing.grid.x.size());
  const auto rows = static_cast<double>(drawing.grid.y.size());
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
  const QFont bold_font = bold(drawing.font);
  const double width = area.right() - layout.cells.left() - heatmap_right_margin;
  const double line = QFontMetricsF(bold_font).height() + 2;
  const auto write = [&](const QFont& font, const QColor& color, double top, const QString& text) {
    painter.setFont(font);
    painter.setPen(color);
    painter.drawText(QRectF(layout.cells.left(), top, width, line), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(font).elidedText(text, Qt::ElideRight, width));
  };
  write(bold_font, drawing.colors.text, area.top() + 5, drawing.title.what);
  write(drawing.font, drawing.colors.muted, area.top() + 5 + line, drawing.title.of);
}

void draw_heatmap_axes(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  const HeatmapGrid& grid = drawing.grid;
  const QFontMetricsF metrics(drawing.font);
  painter.setFont(drawing.font);
  painter.setPen(drawing.colors.text);
  double widest = 0;
  for (const analysis::FacetValue& value : grid.x.values) {
    widest = std::max(widest, metrics.horizontalAdvance(QString::fromStdString(value.text)) + 8);
  }
  const double longest = std::max(layout.cell_width, 120.0);  // a list may hold one very long value
  widest = std::min(widest, longest);
  const int column_step = std::max(1, static_cast<int>(std::ceil(widest / layout.cell_width)));
  const int row_step = std::max(1, static_cast<int>(std::ceil(metrics.height() / layout.cell_height)));
  const double gap = label_gap + layout.mark_room;
  for (std::size_t i = 0; i < grid.x.size(); i += static_cast<std::size_t>(column_step)) {
    const QRectF rect = layout.cell(grid, {0, static_cast<int>(i)});
    painter.drawText(
        QRectF(rect.center().x() - longest / 2, layout.cells.bottom() + gap, longest, metrics.height()),
        Qt::AlignHCenter | Qt::AlignTop,
        metrics.elidedText(value_words(*grid.x.axis.facet, grid.x.values[i]), Qt::ElideMiddle, longest - 4));
  }
  for (std::size_t i = 0; i < grid.y.size(); i += static_cast<std::size_t>(row_step)) {
    const QRectF rect = layout.cell(grid, {static_cast<int>(i), 0});
    painter.drawText(
        QRectF(layout.cells.left() - gap - 3 - layout.label_width, rect.center().y() - metrics.height() / 2,
               layout.label_width, metrics.height()),
        Qt::AlignRight | Qt::AlignVCenter,
        metrics.elidedText(value_words(*grid.y.axis.facet, grid.y.values[i]), Qt::ElideMiddle, layout.label_width));
  }
  const double left = heatmap_left_margin(drawing.font) + layout.label_width + layout.mark_room;
  painter.drawText(QRectF(layout.cells.left() - left, layout.cells.bottom() + gap + metrics.height() + 2,
                          layout.cells.width() + left + heatmap_bar_labels(drawing.font), metrics.height()),
                   Qt::AlignHCenter, axis_title(grid.x));
  painter.save();
  painter.translate(layout.cells.left() - left + 4, layout.cells.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-layout.cells.height() / 2 - 30, 0, layout.cells.height() + 60, metrics.height()),
                   Qt::AlignCenter, axis_title(grid.y));
  painter.restore();
  draw_paper_marks(painter, drawing, layout);
}

std::vector<double> heatmap_ticks(const HeatmapDrawing& drawing, const HeatmapColors& colors, int most) {
  if (colors.one()) return {colors.value_at(0.5)};
  const double factor = drawing.unit.factor;
  std::vector<double> ticks = round_ticks(colors.low() * factor, colors.high() * factor, most, colors.logarithmic());
  for (double& tick : ticks) tick /= factor;
  return ticks;
}

void draw_heatmap_bar(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  if (!drawing.grid.colors || !drawing.with_bar) return;
  const HeatmapColors colors(drawing.grid, drawing.log_colors);
  QLinearGradient gradient(layout.bar.bottomLeft(), layout.bar.topLeft());
  constexpr double stops = 32;
  for (int i = 0; i <= static_cast<int>(stops); ++i) {
    gradient.setColorAt(i / stops, colors.at(colors.value_at(i / stops)));
  }
  painter.setPen(QPen(drawing.colors.axis, 1));
  painter.setBrush(gradient);
  painter.drawRect(layout.bar);
  const QFontMetricsF metrics(drawing.font);
  painter.setFont(drawing.font);
  painter.setPen(drawing.colors.text);
  const int most = std::clamp(static_cast<int>(layout.bar.height() / (1.6 * metrics.height())), 2, 8);
  const std::vector<double> ticks = heatmap_ticks(drawing, colors, most);
  std::vector<double> shown;
  shown.reserve(ticks.size());
  for (const double value : ticks) shown.push_back(value * drawing.unit.factor);
  const QStringList labels = colors.one() ? QStringList{format_number(shown.front())} : tick_labels(shown);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double share = colors.one() ? 0.5 : colors.share_of(ticks[i]);
    const double y = layout.bar.bottom() - share * layout.bar.height();
    painter.drawLine(QPointF(layout.bar.right(), y), QPointF(layout.bar.right() + 4, y));
    painter.drawText(
        QRectF(layout.bar.right() + 7, y - metrics.height() / 2, heatmap_bar_labels(drawing.font), metrics.height()),
        Qt::AlignLeft | Qt::AlignVCenter, labels[static_cast<qsizetype>(i)]);
  }
  const QString unit = to_qstring(drawing.unit.suffix);
  const bool log = colors.logarithmic() && !colors.one();
  if (unit.isEmpty() && !log) return;
  const double below = layout.bar.bottom() + 0.5 * metrics.height() + 1;  // the lowest label
  painter.drawText(
      QRectF(layout.bar.left() - 8, below, heatmap_bar_width + heatmap_bar_labels(drawing.font), metrics.height()),
      Qt::AlignLeft,
      !log             ? unit
      : unit.isEmpty() ? qtext(say::tile_map::log_alone{})
                       : qtext(say::tile_map::log_scale{.unit = unit.toStdString()}));
}

void draw_heatmap_caption(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                          const QRectF& area) {
  painter.setPen(drawing.colors.muted);
  painter.setFont(small_font(drawing.font));
  const double left = area.left() + heatmap_caption_left;
  const QRectF room(left, layout.caption_top, area.right() - left - heatmap_right_margin,
                    area.bottom() - layout.caption_top);
  painter.drawText(room, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                   heatmap_caption(drawing.grid, layout.figures.shown, drawing.target));
  if (!drawing.source.isEmpty()) {
    painter.drawText(room.adjusted(0, 0, 0, -4), Qt::AlignRight | Qt::AlignBottom, drawing.source);
  }
  painter.setFont(drawing.font);
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_layout.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/plots/curve_style.h"
#include "ui/plots/heatmap_words.h"
#include "ui/plots/plot_parts.h"

namespace attnscope::ui {
namespace {

constexpr double title_room = 46;
constexpr double untitled_room = 10;
constexpr double bar_gap = 18;
constexpr double bottom_axis = 44;
constexpr double largest_cell = 96;
constexpr double smallest_cell = 4;
constexpr double figure_gap = 6;        ///< pixels between the figures of neighbouring cells, at least
constexpr double legible_figures = 7;   ///< points; rather than smaller ones, figures of two digits
constexpr double smallest_figures = 6;  ///< points; below that they cannot be read and are left out
constexpr double paper_mark_room = 9;
constexpr int least_width = 480;  ///< of a picture: a legend of a word a line is none

/// The largest font, up to the drawing's own, in which every value stands clear of its neighbours: with three digits,
/// or two where three would be too small to read.
HeatmapLayout::Figures figures_in(const HeatmapDrawing& drawing, double cell_width, double cell_height) {
  const QFontMetricsF metrics(drawing.font);
  const double by_height = (cell_height - 2) / metrics.height();
  const double full_size = drawing.font.pointSizeF();
  for (const int digits : {3, 2}) {
    double widest = 0;  // at the drawing's font
    for (const auto& row : drawing.grid.cells) {
      for (const HeatmapCell& cell : row) {
        if (!cell.value) continue;
        widest = std::max(widest, metrics.horizontalAdvance(format_number(*cell.value * drawing.unit.factor, digits)));
      }
    }
    const double by_width = widest > 0 ? (cell_width - figure_gap) / widest : 1;
    const double size = full_size * std::min({1.0, by_width, by_height});
    if (size < (digits > 2 ? legible_figures : smallest_figures)) continue;
    QFont small = drawing.font;
    small.setPointSizeF(size);
    return {small, digits, true};
  }
  QFont small = drawing.font;
  small.setPointSizeF(std::min(full_size, smallest_figures));
  return {small, 2, false};
}

/// What the rows are called, up to a width that leaves the cells theirs.
double row_label_width(const HeatmapDrawing& drawing) {
  constexpr double least = 38;
  const double most = 120 * enlargement(drawing.font);
  const QFontMetricsF metrics(drawing.font);
  double widest = 0;
  for (const analysis::FacetValue& value : drawing.grid.y.values) {
    widest = std::max(widest, metrics.horizontalAdvance(QString::fromStdString(value.text)) + 4);
  }
  return std::clamp(widest, least, most);
}

/// The extent of a cell in whole pixels, so that all seams are alike.
double cell_extent(double room, double largest, double pixel) {
  const double wanted = std::clamp(room, smallest_cell, largest);
  return std::max(smallest_cell, std::floor(wanted / pixel) * pixel);
}

}  // namespace

double heatmap_left_margin(const QFont& font) {
  return 28 * enlargement(font);
}

double heatmap_bar_labels(const QFont& font) {
  return 76 * enlargement(font);
}

QRectF HeatmapLayout::cell(const HeatmapGrid& grid, HeatmapGrid::Place place) const {
  // Br grows upwards, as an axis does.
  const auto from_top = static_cast<double>(grid.y.size()) - 1 - place.row;
  return {cells.left() + place.column * cell_width, cells.top() + from_top * cell_height, cell_width, cell_height};
}

std::optional<HeatmapGrid::Place> HeatmapLayout::cell_at(const HeatmapGrid& grid, const QPointF& position) const {
  if (!cells.contains(position)) return {};
  const int rows = static_cast<int>(grid.y.size());
  const int columns = static_cast<int>(grid.x.size());
  const int column = std::min(columns - 1, static_cast<int>((position.x() - cells.left()) / cell_width));
  const int from_top = std::min(rows - 1, static_cast<int>((position.y() - cells.top()) / cell_height));
  return HeatmapGrid::Place{rows - 1 - from_top, column};
}

HeatmapLayout lay_out_heatmap(const HeatmapDrawing& drawing, const QRectF& area) {
  HeatmapLayout layout;
  const QFontMetricsF small(small_font(drawing.font));
  const double larger = enlargement(drawing.font);
  const double title_height = drawing.title.what.isEmpty() ? untitled_room : title_room * larger;
  layout.mark_room = drawing.grid.paper ? paper_mark_room : 0;
  layout.label_width = row_label_width(drawing);
  const double left = heatmap_left_margin(drawing.font) + layout.label_width + layout.mark_room;
  const double bar = drawing.with_bar ? bar_gap + heatmap_bar_width + heatmap_bar_labels(drawing.font) : 0;
  const double width = area.width() - left - bar - heatmap_right_margin;
  const auto columns = static_cast<double>(std::max<std::size_t>(1, drawing.grid.x.size()));
  const auto rows = static_cast<double>(std::max<std::size_t>(1, drawing.grid.y.size()));
  layout.cell_width = cell_extent(width / columns, largest_cell * 1.4, drawing.pixel);
  layout.seam = std::max(1.0, std::round(1 / drawing.pixel)) * drawing.pixel;
  const double axis = bottom_axis * larger + layout.mark_room;
  const double source = drawing.source.isEmpty() ? 0 : small.height() + 4;
  // Figures that find no room are a line more of caption, which takes room itself.
  for (const bool shown : {true, false}) {
    const QRectF room(0, 0, std::max(1.0, area.width() - heatmap_caption_left - heatmap_right_margin), 1000);
    const QString words = heatmap_caption(drawing.grid, shown, drawing.target);
    const double caption = small.boundingRect(room, Qt::TextWordWrap, words).height() + 10;
    const double height = area.height() - title_height - axis - caption - source;
    layout.cell_height = cell_extent(height / rows, largest_cell, drawing.pixel);
    layout.figures = figures_in(drawing, layout.cell_width, layout.cell_height);
    if (layout.figures.shown) break;
  }
  layout.cells =
      QRectF(area.left() + left, area.top() + title_height, layout.cell_width * columns, layout.cell_height * rows);
  layout.bar = QRectF(layout.cells.right() + bar_gap, layout.cells.top(), heatmap_bar_width, layout.cells.height());
  layout.caption_top = layout.cells.bottom() + axis;
  return layout;
}

QSize heatmap_extent(const HeatmapDrawing& drawing, const QSize& most) {
  const HeatmapLayout layout = lay_out_heatmap(drawing, QRectF(QPointF(0, 0), QSizeF(most)));
  const QFont bold_font = bold(drawing.font);
  const QFontMetricsF small(small_font(drawing.font));
  const double titles = std::max(QFontMetricsF(bold_font).horizontalAdvance(drawing.title.what),
                                 QFontMetricsF(drawing.font).horizontalAdvance(drawing.title.of));
  const double bar = drawing.with_bar ? layout.bar.right() + heatmap_bar_labels(drawing.font) : layout.cells.right();
  const double right = std::max(layout.cells.left() + titles, bar);
  const double source = small.horizontalAdvance(drawing.source) + heatmap_caption_left;
  const int width = static_cast<int>(std::ceil(std::max(right, source) + heatmap_right_margin)) + 1;
  const int kept_width = std::clamp(width, std::min(least_width, most.width()), most.width());
  // A narrower caption has more lines.
  const QRectF room(0, 0, kept_width - heatmap_caption_left - heatmap_right_margin, 1000);
  const QString words = heatmap_caption(drawing.grid, layout.figures.shown, drawing.target);
  const double caption = small.boundingRect(room, Qt::TextWordWrap, words).height() + 10;
  const double line = drawing.source.isEmpty() ? 0 : small.height() + 4;
  const int height = static_cast<int>(std::ceil(layout.caption_top + caption + line));
  return {kept_width, std::min(height, most.height())};
}

}  // namespace attnscope::ui

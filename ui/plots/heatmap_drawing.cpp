// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_drawing.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <utility>

#include "messages/tile_map.h"
#include "ui/models/curve_series.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/heatmap_text.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// Keeps ratios close to 1 pale if a map has no others.
constexpr double min_log_range = 0.02;
constexpr double heatmap_right_margin = 8;
constexpr double heatmap_bar_width = 16;
constexpr double heatmap_caption_left = 12;
constexpr double title_room = 46;
constexpr double headline_room = 8;  ///< Additional height of a headline.
constexpr double untitled_height = 10;
constexpr double scale_gap = 18;
constexpr double bin_height = 20;
constexpr double bin_gap = 8;
constexpr double bottom_axis = 44;
constexpr double max_cell_size = 96;
constexpr double min_cell_size = 4;
constexpr double figure_gap = 6;            ///< Minimum gap between the values of neighboring cells, in pixels.
constexpr double min_long_figure_size = 7;  ///< In points; below this size, values have two digits instead.
constexpr double min_figure_size = 6;       ///< In points; below this size, values are not shown.
constexpr int min_picture_width = 480;      ///< Minimum width of a picture, so that the legend does not wrap each word.

QString figure_of(const HeatmapDrawing& drawing, double value, int digits) {
  return cell_figure(drawing.map, value, drawing.unit.factor, digits, drawing.relative);
}

/// Returns the largest font, up to the drawing's own, in which all values fit: with three digits, or two if three would
/// be too small.
HeatmapLayout::Figures fit_figures(const HeatmapDrawing& drawing, double cell_width, double cell_height) {
  const QFontMetricsF metrics(drawing.font);
  const double by_height = (cell_height - 2) / metrics.height();
  const double full_size = drawing.font.pointSizeF();
  for (const int digits : {3, 2}) {
    double widest = 0;
    for (const auto& row : drawing.map.cells) {
      for (const TileCell& cell : row) {
        if (!cell.value) continue;
        widest = std::max(widest, metrics.horizontalAdvance(figure_of(drawing, *cell.value, digits)));
      }
    }
    const double by_width = widest > 0 ? (cell_width - figure_gap) / widest : 1;
    const double size = full_size * std::min({1.0, by_width, by_height});
    if (size < (digits > 2 ? min_long_figure_size : min_figure_size)) continue;
    QFont small = drawing.font;
    small.setPointSizeF(size);
    return {small, digits, true};
  }
  QFont small = drawing.font;
  small.setPointSizeF(std::min(full_size, min_figure_size));
  return {small, 2, false};
}

/// Height of the caption in a picture of that width.
double caption_height(const HeatmapDrawing& drawing, bool figures_shown, double width) {
  const QRectF room(0, 0, std::max(1.0, width - heatmap_caption_left - heatmap_right_margin), 1000);
  const QString words = heatmap_caption(drawing.points, drawing.map, figures_shown, drawing.target);
  return QFontMetricsF(small_font(drawing.font)).boundingRect(room, Qt::TextWordWrap, words).height() + 10;
}

/// Width of the row labels, limited to leave room for the cells.
double row_label_width(const HeatmapDrawing& drawing) {
  constexpr double least = 38;
  const double most = 120 * font_scale(drawing.font);
  const QFontMetricsF metrics(drawing.font);
  double widest = 0;
  for (const analysis::FacetValue& value : drawing.map.y.values) {
    widest = std::max(widest, metrics.horizontalAdvance(QString::fromStdString(value.text)) + 4);
  }
  return std::clamp(widest, least, most);
}

/// Cell size in whole pixels, so that all gaps are equal.
double cell_extent(double room, double largest, double pixel) {
  const double wanted = std::clamp(room, min_cell_size, largest);
  return std::max(min_cell_size, std::floor(wanted / pixel) * pixel);
}

std::pair<QString, QString> title_lines(const HeatmapTitle& title) {
  if (title.headline.isEmpty()) return {title.what, title.of};
  return {title.headline, title.what + QStringLiteral(" · ") + title.of};
}

/// Height of the wrapped causes in a title of this width; 0 without causes.
double causes_height(const HeatmapDrawing& drawing, double width) {
  if (drawing.title.causes.isEmpty()) return 0;
  const QRectF room(0, 0, std::max(1.0, width), 1000);
  return QFontMetricsF(drawing.font).boundingRect(room, Qt::TextWordWrap, drawing.title.causes).height() + 2;
}

QFont first_line_font(const HeatmapDrawing& drawing) {
  return drawing.title.headline.isEmpty() ? bold(drawing.font) : headline_font(drawing.font);
}

/// Widths of texts, which scale with the font: row labels and axis title, and labels of the color bar.
double heatmap_left_margin(const QFont& font) {
  return 28 * font_scale(font);
}

double heatmap_bar_labels(const QFont& font) {
  return 76 * font_scale(font);
}

}  // namespace

HeatmapColors::HeatmapColors(const TileMap& map, bool log)
    : diverging_(map.shown.is_centered_at_one()),
      binned_(has_slowdowns(map)),
      uniform_(map.flat),
      less_is_better_(map.better == BetterDirection::less),
      more_is_better_(map.better == BetterDirection::more) {
  if (!map.minimum) return;
  low_ = *map.minimum;
  high_ = *map.maximum;
  diverging_ = diverging_ && low_ > 0;
  log_ = (log || diverging_) && low_ > 0;
  if (!diverging_) return;
  low_ = std::min(low_, 1 - min_log_range);
  high_ = std::max(high_, 1 + min_log_range);
  max_log_ratio_ = std::max(-std::log(low_), std::log(high_));
  uniform_ = false;  // A diverging map shows the distance from 1 even if all ratios are equal.
}

QColor HeatmapColors::at(double value, bool dark) const {
  if (binned_) return {style::slowdown_color(style::slowdown_bin(value / low_)).in(dark)};
  if (diverging_) {
    const double away = std::log(std::max(value, low_)) / max_log_ratio_;
    return {style::diverging(0.5 + 0.5 * (more_is_better_ ? -away : away), dark)};
  }
  const double share = is_uniform() ? 0.5 : scale_position(value);
  return {style::viridis(less_is_better_ && !is_uniform() ? 1 - share : share)};
}

double HeatmapColors::scale_position(double value) const {
  if (high_ <= low_) return 0.5;
  const double share =
      log_ ? std::log(std::max(value, low_) / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return std::clamp(share, 0.0, 1.0);
}

double HeatmapColors::value_at(double share) const {
  return log_ ? low_ * std::pow(high_ / low_, share) : low_ + (high_ - low_) * share;
}

QRectF HeatmapLayout::cell(const TileMap& map, TileMap::Place place) const {
  // Br grows upward, as on an axis.
  const auto from_top = static_cast<double>(map.y.size()) - 1 - place.row;
  return {cells.left() + place.column * cell_width, cells.top() + from_top * cell_height, cell_width, cell_height};
}

std::optional<TileMap::Place> HeatmapLayout::cell_at(const TileMap& map, const QPointF& position) const {
  if (!cells.contains(position)) return {};
  const int rows = static_cast<int>(map.y.size());
  const int columns = static_cast<int>(map.x.size());
  const int column = std::min(columns - 1, static_cast<int>((position.x() - cells.left()) / cell_width));
  const int from_top = std::min(rows - 1, static_cast<int>((position.y() - cells.top()) / cell_height));
  return TileMap::Place{rows - 1 - from_top, column};
}

HeatmapLayout lay_out_heatmap(const HeatmapDrawing& drawing, const QRectF& area) {
  HeatmapLayout layout;
  const QFontMetricsF small(small_font(drawing.font));
  const double larger = font_scale(drawing.font);
  const double room_for_headline = drawing.title.headline.isEmpty() ? 0 : headline_room * larger;
  layout.label_width = row_label_width(drawing);
  const double left = heatmap_left_margin(drawing.font) + layout.label_width;
  const double room_for_causes = causes_height(drawing, area.width() - left - heatmap_right_margin);
  const double title_height =
      drawing.title.what.isEmpty() ? untitled_height : title_room * larger + room_for_headline + room_for_causes;
  const bool binned = has_slowdowns(drawing.map);
  const double bar = binned ? 0 : scale_gap + heatmap_bar_width + heatmap_bar_labels(drawing.font);
  const double key = binned ? bin_height * larger + bin_gap : 0;
  const double width = area.width() - left - bar - heatmap_right_margin;
  const auto columns = static_cast<double>(std::max<std::size_t>(1, drawing.map.x.size()));
  const auto rows = static_cast<double>(std::max<std::size_t>(1, drawing.map.y.size()));
  layout.cell_width = cell_extent(width / columns, max_cell_size * 1.4, drawing.pixel);
  layout.cell_gap = std::max(1.0, std::round(1 / drawing.pixel)) * drawing.pixel;
  const double axis = bottom_axis * larger;
  const double source = drawing.source.isEmpty() ? 0 : small.height() + 4;
  // Hidden values add a line to the caption, which takes height.
  for (const bool shown : {true, false}) {
    const double caption = caption_height(drawing, shown, area.width());
    const double height = area.height() - title_height - axis - key - caption - source;
    layout.cell_height = cell_extent(height / rows, max_cell_size, drawing.pixel);
    layout.figures = fit_figures(drawing, layout.cell_width, layout.cell_height);
    if (layout.figures.shown) break;
  }
  layout.cells =
      QRectF(area.left() + left, area.top() + title_height, layout.cell_width * columns, layout.cell_height * rows);
  layout.caption_top = layout.cells.bottom() + axis + key;
  if (binned) {
    const double bin_width = std::min(64 * larger, layout.cells.width() / style::slowdown_bins);
    for (std::size_t bin = 0; bin < style::slowdown_bins; ++bin) {
      layout.bins.emplace_back(layout.cells.left() + static_cast<double>(bin) * bin_width, layout.cells.bottom() + axis,
                               bin_width - 2, bin_height * larger);
    }
  } else {
    layout.bar = QRectF(layout.cells.right() + scale_gap, layout.cells.top(), heatmap_bar_width, layout.cells.height());
  }
  return layout;
}

QSize heatmap_extent(const HeatmapDrawing& drawing, const QSize& most) {
  const HeatmapLayout layout = lay_out_heatmap(drawing, QRectF(QPointF(0, 0), QSizeF(most)));
  const QFontMetricsF small(small_font(drawing.font));
  const auto [first, second] = title_lines(drawing.title);
  const QFontMetricsF normal(drawing.font);
  const double titles = std::max({QFontMetricsF(first_line_font(drawing)).horizontalAdvance(first),
                                  normal.horizontalAdvance(drawing.title.causes), normal.horizontalAdvance(second)});
  const double bar = layout.bar.right() + heatmap_bar_labels(drawing.font);
  const double right = std::max(layout.cells.left() + titles, layout.bar.isEmpty() ? layout.cells.right() : bar);
  const double source = small.horizontalAdvance(drawing.source) + heatmap_caption_left;
  const int width = static_cast<int>(std::ceil(std::max(right, source) + heatmap_right_margin)) + 1;
  const int kept_width = std::clamp(width, std::min(min_picture_width, most.width()), most.width());
  // A narrower caption has more lines.
  const double caption = caption_height(drawing, layout.figures.shown, kept_width);
  const double line = drawing.source.isEmpty() ? 0 : small.height() + 4;
  const int height = static_cast<int>(std::ceil(layout.caption_top + caption + line));
  return {kept_width, std::min(height, most.height())};
}

namespace {

void draw_heatmap_title(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                        const QRectF& area) {
  const QFont first_font = first_line_font(drawing);
  const double width = area.right() - layout.cells.left() - heatmap_right_margin;
  double top = area.top() + 5;
  const auto write = [&](const QFont& font, const QColor& color, const QString& text) {
    if (text.isEmpty()) return;
    const double height = QFontMetricsF(font).height() + 2;
    painter.setFont(font);
    painter.setPen(color);
    painter.drawText(QRectF(layout.cells.left(), top, width, height), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(font).elidedText(text, Qt::ElideRight, width));
    top += height;
  };
  const auto [first, second] = title_lines(drawing.title);
  write(first_font, drawing.colors.text, first);
  if (const double height = causes_height(drawing, width); height > 0) {
    painter.setFont(drawing.font);
    painter.setPen(drawing.colors.text);
    painter.drawText(QRectF(layout.cells.left(), top, width, height), Qt::TextWordWrap, drawing.title.causes);
    top += height;
  }
  write(drawing.font, drawing.colors.muted, second);
}

void draw_heatmap_axes(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  const TileMap& map = drawing.map;
  const QFontMetricsF metrics(drawing.font);
  painter.setFont(drawing.font);
  painter.setPen(drawing.colors.text);
  double widest = 0;
  for (const analysis::FacetValue& value : map.x.values) {
    widest = std::max(widest, metrics.horizontalAdvance(QString::fromStdString(value.text)) + 8);
  }
  const double longest = std::max(layout.cell_width, 120.0);  // A list may contain one very long value.
  widest = std::min(widest, longest);
  const int column_step = std::max(1, static_cast<int>(std::ceil(widest / layout.cell_width)));
  const int row_step = std::max(1, static_cast<int>(std::ceil(metrics.height() / layout.cell_height)));
  constexpr double gap = 3;  // between cells and labels
  for (std::size_t i = 0; i < map.x.size(); i += static_cast<std::size_t>(column_step)) {
    const QRectF rect = layout.cell(map, {0, static_cast<int>(i)});
    painter.drawText(
        QRectF(rect.center().x() - longest / 2, layout.cells.bottom() + gap, longest, metrics.height()),
        Qt::AlignHCenter | Qt::AlignTop,
        metrics.elidedText(facet_value_text(*map.x.axis.facet, map.x.values[i]), Qt::ElideMiddle, longest - 4));
  }
  for (std::size_t i = 0; i < map.y.size(); i += static_cast<std::size_t>(row_step)) {
    const QRectF rect = layout.cell(map, {static_cast<int>(i), 0});
    painter.drawText(
        QRectF(layout.cells.left() - gap - 3 - layout.label_width, rect.center().y() - metrics.height() / 2,
               layout.label_width, metrics.height()),
        Qt::AlignRight | Qt::AlignVCenter,
        metrics.elidedText(facet_value_text(*map.y.axis.facet, map.y.values[i]), Qt::ElideMiddle, layout.label_width));
  }
  const double left = heatmap_left_margin(drawing.font) + layout.label_width;
  painter.drawText(QRectF(layout.cells.left() - left, layout.cells.bottom() + gap + metrics.height() + 2,
                          layout.cells.width() + left + heatmap_bar_labels(drawing.font), metrics.height()),
                   Qt::AlignHCenter, axis_title(map.x));
  painter.save();
  painter.translate(layout.cells.left() - left + 4, layout.cells.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-layout.cells.height() / 2 - 30, 0, layout.cells.height() + 60, metrics.height()),
                   Qt::AlignCenter, axis_title(map.y));
  painter.restore();
}

void draw_bins(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  painter.setFont(small_font(drawing.font));
  for (std::size_t bin = 0; bin < layout.bins.size(); ++bin) {
    const QColor fill(style::slowdown_color(bin).in(drawing.colors.dark));
    const bool on = drawing.highlighted == bin;
    painter.setPen(QPen(on ? drawing.colors.text : drawing.colors.axis, on ? 2 : 1));
    painter.setBrush(fill);
    painter.drawRect(layout.bins[bin]);
    painter.setPen(contrasting_color(fill));
    const std::string limit = style::slowdown_label(bin);
    const QString label = to_qstring(bin == 0 ? "≤" + limit : limit);
    painter.drawText(layout.bins[bin], Qt::AlignCenter, label);
  }
  painter.setPen(drawing.colors.muted);
  const QRectF last = layout.bins.back();
  painter.drawText(QRectF(last.right() + 8, last.top(), layout.cells.right() - last.right(), last.height()),
                   Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, qtext(msg::tile_map::bins{}));
  painter.setFont(drawing.font);
}

void draw_heatmap_key(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  if (!drawing.map.minimum) return;
  const HeatmapColors colors(drawing.map, drawing.log_colors);
  if (colors.is_binned()) return draw_bins(painter, drawing, layout);
  QLinearGradient gradient(layout.bar.bottomLeft(), layout.bar.topLeft());
  constexpr double stops = 32;
  for (int i = 0; i <= static_cast<int>(stops); ++i) {
    gradient.setColorAt(i / stops, colors.at(colors.value_at(i / stops), drawing.colors.dark));
  }
  painter.setPen(QPen(drawing.colors.axis, 1));
  painter.setBrush(gradient);
  painter.drawRect(layout.bar);
  const QFontMetricsF metrics(drawing.font);
  painter.setFont(drawing.font);
  painter.setPen(drawing.colors.text);
  const int most = std::clamp(static_cast<int>(layout.bar.height() / (1.6 * metrics.height())), 2, 8);
  const double factor = drawing.unit.factor;
  std::vector<double> ticks{colors.value_at(0.5) * factor};
  QStringList labels{format_number(ticks.front())};
  if (!colors.is_uniform()) {  // round values in the displayed unit
    ticks = round_ticks(colors.low() * factor, colors.high() * factor, most, colors.is_logarithmic());
    labels = tick_labels(ticks);
  }
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double share = colors.is_uniform() ? 0.5 : colors.scale_position(ticks[i] / factor);
    const double y = layout.bar.bottom() - share * layout.bar.height();
    painter.drawLine(QPointF(layout.bar.right(), y), QPointF(layout.bar.right() + 4, y));
    painter.drawText(
        QRectF(layout.bar.right() + 7, y - metrics.height() / 2, heatmap_bar_labels(drawing.font), metrics.height()),
        Qt::AlignLeft | Qt::AlignVCenter, labels[static_cast<qsizetype>(i)]);
  }
  const QString unit = to_qstring(drawing.unit.suffix);
  const bool log = colors.is_logarithmic() && !colors.is_uniform();
  if (unit.isEmpty() && !log) return;
  const double below = layout.bar.bottom() + 0.5 * metrics.height() + 1;  // Bottom of the lowest tick label.
  painter.drawText(
      QRectF(layout.bar.left() - 8, below, heatmap_bar_width + heatmap_bar_labels(drawing.font), metrics.height()),
      Qt::AlignLeft,
      !log             ? unit
      : unit.isEmpty() ? qtext(msg::tile_map::log_alone{})
                       : qtext(msg::tile_map::log_scale{.unit = unit.toStdString()}));
}

void draw_heatmap_caption(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                          const QRectF& area) {
  painter.setPen(drawing.colors.muted);
  painter.setFont(small_font(drawing.font));
  const double left = area.left() + heatmap_caption_left;
  const QRectF room(left, layout.caption_top, area.right() - left - heatmap_right_margin,
                    area.bottom() - layout.caption_top);
  painter.drawText(room, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                   heatmap_caption(drawing.points, drawing.map, layout.figures.shown, drawing.target));
  if (!drawing.source.isEmpty()) {
    painter.drawText(room.adjusted(0, 0, 0, -4), Qt::AlignRight | Qt::AlignBottom, drawing.source);
  }
  painter.setFont(drawing.font);
}

/// Draws diagonal lines one by one, since SVG export ignores brush patterns.
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

/// Frame inside a cell that was not measured.
Qt::PenStyle frame_style(Provenance provenance) {
  if (is_simulated(provenance)) return Qt::DotLine;
  return provenance == Provenance::imported ? Qt::DashDotLine : Qt::NoPen;
}

void draw_value(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                const HeatmapColors& colors, TileMap::Place place, const QRectF& rect) {
  const TileCell& cell = drawing.map.at(place);
  const QColor fill = colors.at(*cell.value, drawing.colors.dark);
  painter.fillRect(rect, fill);
  if (const Qt::PenStyle frame = frame_style(cell.provenance); frame != Qt::NoPen) {
    painter.setPen(QPen(contrasting_color(fill), 1, frame));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(2, 2, -2, -2));
    if (cell.provenance == Provenance::extrapolated) painter.drawRect(rect.adjusted(5, 5, -5, -5));
  }
  if (cell.unusual_clock) {
    constexpr double corner = 6;
    const QPointF at = rect.topRight() + QPointF(-3, 4);
    painter.setPen(Qt::NoPen);
    painter.setBrush(contrasting_color(fill));
    painter.drawPolygon(QPolygonF{at, at - QPointF(corner, 0), at + QPointF(0, corner)});
  }
  if (cell.again) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(contrasting_color(fill));
    painter.drawEllipse(rect.topLeft() + QPointF(7, 7), 2.2, 2.2);
  }
  if (!layout.figures.shown) return;
  painter.setPen(contrasting_color(fill));
  painter.drawText(rect, Qt::AlignCenter, figure_of(drawing, *cell.value, layout.figures.digits));
}

/// Marks the fastest tiles, in the lower left corner.
void draw_star(QPainter& painter, const QRectF& cell, const QColor& color) {
  const double radius = std::min(5.0, 0.3 * std::min(cell.width(), cell.height()));
  QPainterPath star;
  for (const style::MarkerPoint& tip : style::marker_outline({PlotSlot::star, 0})) {
    const QPointF at = cell.bottomLeft() + QPointF(radius * (tip.x + 1.3), radius * (tip.y - 1.3));
    star.elementCount() == 0 ? star.moveTo(at) : star.lineTo(at);
  }
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillPath(star, color);
  painter.restore();
}

void draw_without_value(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                        const TileCell& cell, const QRectF& rect) {
  painter.setPen(QPen(drawing.colors.grid, layout.cell_gap));
  painter.setBrush(Qt::NoBrush);
  const double half = layout.cell_gap / 2;
  painter.drawRect(rect.adjusted(half, half, -half, -half));
  if (!cell.disposition) return;
  if (*cell.disposition == Disposition::infeasible) {
    painter.setPen(QPen(drawing.colors.hatch, 1));
    draw_hatching(painter, rect);
    return;
  }
  painter.setPen(disposition_color(*cell.disposition, drawing.colors.dark));
  const QString word = *cell.disposition == Disposition::ok ? QStringLiteral("–") : short_label(*cell.disposition);
  const bool fits = layout.figures.shown && QFontMetricsF(painter.font()).horizontalAdvance(word) <= rect.width() - 2;
  painter.drawText(rect, Qt::AlignCenter, fits ? word : QStringLiteral("✕"));
}

/// Draws one outline around all places, along edges without a neighbor among them.
void draw_outer_edges(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                      const std::vector<TileMap::Place>& places) {
  QVector<QLineF> edges;
  for (const TileMap::Place place : places) {
    const auto alone = [&](int rows, int columns) {
      return std::ranges::find(places, TileMap::Place{place.row + rows, place.column + columns}) == places.end();
    };
    const QRectF rect = layout.cell(drawing.map, place).adjusted(0, 0, -layout.cell_gap, -layout.cell_gap);
    if (alone(1, 0)) edges.append({rect.topLeft(), rect.topRight()});
    if (alone(-1, 0)) edges.append({rect.bottomLeft(), rect.bottomRight()});
    if (alone(0, -1)) edges.append({rect.topLeft(), rect.bottomLeft()});
    if (alone(0, 1)) edges.append({rect.topRight(), rect.bottomRight()});
  }
  // Dots differ from the frames, which they may run along.
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
  QPen pen(drawing.colors.text, 2.5);
  if (style == Qt::DashLine) pen.setDashPattern({2, 1.6});
  painter.setPen(pen);
  painter.drawRect(rect);
}

void draw_heatmap_cells(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout) {
  const TileMap& map = drawing.map;
  const HeatmapColors colors(map, drawing.log_colors);
  painter.setFont(layout.figures.font);
  for (int row = 0; row < static_cast<int>(map.y.size()); ++row) {
    for (int column = 0; column < static_cast<int>(map.x.size()); ++column) {
      const TileCell& cell = map.at({row, column});
      const QRectF rect = layout.cell(map, {row, column}).adjusted(0, 0, -layout.cell_gap, -layout.cell_gap);
      if (cell.value) {
        draw_value(painter, drawing, layout, colors, {row, column}, rect);
        const bool faded =
            drawing.highlighted && *drawing.highlighted != style::slowdown_bin(slowdown(map, *cell.value));
        if (faded) painter.fillRect(rect, with_opacity(drawing.colors.background, 0.8));
      } else {
        draw_without_value(painter, drawing, layout, cell, rect);
      }
    }
  }
  if (colors.is_binned()) {
    for (const TileMap::Place place : map.best) {
      draw_star(painter, layout.cell(map, place),
                contrasting_color(colors.at(*map.at(place).value, drawing.colors.dark)));
    }
    painter.setFont(drawing.font);
    return;
  }
  if (map.has_plateau()) draw_outer_edges(painter, drawing, layout, map.plateau);
  for (const TileMap::Place place : map.fastest) {
    if (std::ranges::find(map.best, place) != map.best.end()) continue;
    draw_outline(painter, drawing, layout.cell(map, place), Qt::DashLine);
  }
  for (const TileMap::Place place : map.best) {
    draw_outline(painter, drawing, layout.cell(map, place), Qt::SolidLine);
  }
  painter.setFont(drawing.font);
}

}  // namespace

void draw_heatmap(QPainter& painter, const HeatmapDrawing& drawing, const QRectF& area) {
  painter.fillRect(area, drawing.colors.background);
  if (drawing.map.empty()) return;
  const HeatmapLayout layout = lay_out_heatmap(drawing, area);
  draw_heatmap_title(painter, drawing, layout, area);
  draw_heatmap_cells(painter, drawing, layout);
  draw_heatmap_axes(painter, drawing, layout);
  draw_heatmap_key(painter, drawing, layout);
  draw_heatmap_caption(painter, drawing, layout, area);
}

}  // namespace attnscope::ui

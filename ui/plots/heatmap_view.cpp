// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "profiler/metrics/metrics.h"
#include "ui/models/curve_series.h"
#include "ui/save_file.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr double title_height = 46;
constexpr double bar_width = 16;
constexpr double bar_gap = 18;
constexpr double bar_labels = 76;
constexpr double left_margin = 66;
constexpr double bottom_axis = 44;
constexpr double right_margin = 8;
constexpr double caption_left = 12;
constexpr double largest_cell = 96;
constexpr double figure_gap = 6;        ///< pixels between the figures of neighbouring cells, at least
constexpr double legible_figures = 7;   ///< points; rather than smaller ones, figures of two digits
constexpr double smallest_figures = 6;  ///< points; below that they cannot be read and are left out
constexpr double paper_mark_radius = 7;

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

/// The frame inside a cell that is not to look like one that we measured.
Qt::PenStyle frame_of(Provenance provenance) {
  switch (provenance) {
    case Provenance::simulated:
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

QFont caption_font(QFont font) {
  font.setPointSizeF(font.pointSizeF() * 0.92);
  return font;
}

/// One short word for a cell that has no value.
QString short_word(Disposition disposition) {
  switch (disposition) {
    case Disposition::ok:
    case Disposition::infeasible:  // hatched
      return {};
    case Disposition::out_of_memory:
      return {"OOM"};
    case Disposition::incorrect:
      return {"wrong"};
    case Disposition::compile_error:
      return {"build"};
    case Disposition::timeout:
      return {"timeout"};
    case Disposition::crashed:
      return {"crash"};
    case Disposition::no_counters:
      return {"n/a"};
    case Disposition::cancelled:
      return {"stop"};
  }
  return {};
}

}  // namespace

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent), overlay_(new HoverOverlay(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Tile heatmap: rows Br, columns Bc"));
}

void HeatmapView::set_grid(const HeatmapGrid& grid, const Title& title, bool log_colors) {
  const bool same_shape = grid.br == grid_.br && grid.bc == grid_.bc;
  grid_ = grid;
  title_ = title;
  log_colors_ = log_colors && grid.minimum.value_or(0) > 0;
  unit_ = unit_scale(grid.maximum.value_or(1), grid.unit);
  if (!same_shape) selected_.reset();
  hovered_.reset();
  overlay_->clear();
  invalidate();
}

void HeatmapView::invalidate() {
  cache_ = {};
  update();
}

void HeatmapView::select(std::optional<HeatmapGrid::Place> place) {
  selected_ = place;
  update();
  if (place && grid_.at(*place).disposition) emit cell_selected(grid_.at(*place).source);
}

HeatmapView::Layout HeatmapView::layout_in(const QRectF& area) const {
  Layout layout;
  const QFontMetricsF small(caption_font(font()));
  const double width = area.width() - left_margin - bar_gap - bar_width - bar_labels - right_margin;
  const auto columns = static_cast<double>(std::max<std::size_t>(1, grid_.bc.size()));
  const auto rows = static_cast<double>(std::max<std::size_t>(1, grid_.br.size()));
  layout.cell_width = std::max(4.0, std::min(largest_cell * 1.4, width / columns));
  // Figures that find no room are a line more of caption, which takes room itself.
  for (const bool shown : {true, false}) {
    const QRectF room(0, 0, std::max(1.0, area.width() - caption_left - right_margin), 1000);
    const double caption = small.boundingRect(room, Qt::TextWordWrap, caption_text(shown)).height() + 10;
    const double height = area.height() - title_height - bottom_axis - caption;
    layout.cell_height = std::max(4.0, std::min(largest_cell, height / rows));
    layout.figures = figures_in(layout.cell_width, layout.cell_height);
    if (layout.figures.shown) break;
  }
  layout.cells = QRectF(area.left() + left_margin, area.top() + title_height, layout.cell_width * columns,
                        layout.cell_height * rows);
  layout.bar = QRectF(layout.cells.right() + bar_gap, layout.cells.top(), bar_width, layout.cells.height());
  layout.caption_top = layout.cells.bottom() + bottom_axis;
  return layout;
}

QRectF HeatmapView::cell_rect(const Layout& layout, HeatmapGrid::Place place) const {
  // Br grows upwards, as an axis does.
  const auto from_top = static_cast<double>(grid_.br.size()) - 1 - place.row;
  return {layout.cells.left() + place.column * layout.cell_width, layout.cells.top() + from_top * layout.cell_height,
          layout.cell_width, layout.cell_height};
}

double HeatmapView::share_of(double value) const {
  const double low = *grid_.minimum;
  const double high = *grid_.maximum;
  if (high <= low) return 0.5;
  if (log_colors_) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

void HeatmapView::render_grid(QPainter& painter, const QRectF& area) const {
  const PlotColors colors = plot_colors(palette());
  painter.fillRect(area, colors.background);
  painter.setFont(font());
  if (grid_.empty()) return;
  const Layout layout = layout_in(area);
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  painter.setPen(colors.text);
  const double title_width = area.right() - layout.cells.left() - right_margin;
  const double line = QFontMetricsF(bold).height() + 2;
  painter.drawText(QRectF(layout.cells.left(), area.top() + 5, title_width, line), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(bold).elidedText(title_.what, Qt::ElideRight, title_width));
  painter.setFont(font());
  painter.setPen(colors.muted);
  painter.drawText(QRectF(layout.cells.left(), area.top() + 5 + line, title_width, line),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(font()).elidedText(title_.of, Qt::ElideRight, title_width));
  draw_cells(painter, layout);
  draw_axes(painter, layout);
  draw_bar(painter, layout);
  draw_paper_mark(painter, layout);
  draw_caption(painter, layout, area);
}

HeatmapView::Figures HeatmapView::figures_in(double cell_width, double cell_height) const {
  const QFontMetricsF metrics(font());
  const double by_height = (cell_height - 2) / metrics.height();
  for (const int digits : {3, 2}) {
    double widest = 0;  // at the widget's font
    for (const auto& row : grid_.cells) {
      for (const HeatmapCell& cell : row) {
        if (!cell.value) continue;
        widest = std::max(widest, metrics.horizontalAdvance(format_number(*cell.value * unit_.factor, digits)));
      }
    }
    const double by_width = widest > 0 ? (cell_width - figure_gap) / widest : 1;
    const double size = font().pointSizeF() * std::min({1.0, by_width, by_height});
    if (size < (digits > 2 ? legible_figures : smallest_figures)) continue;
    QFont small = font();
    small.setPointSizeF(size);
    return {small, digits, true};
  }
  QFont small = font();
  small.setPointSizeF(std::min(font().pointSizeF(), smallest_figures));
  return {small, 2, false};
}

void HeatmapView::draw_cells(QPainter& painter, const Layout& layout) const {
  const PlotColors colors = plot_colors(palette());
  painter.setFont(layout.figures.font);
  const QFontMetricsF metrics(layout.figures.font);
  const bool room = layout.figures.shown;
  for (int row = 0; row < static_cast<int>(grid_.br.size()); ++row) {
    for (int column = 0; column < static_cast<int>(grid_.bc.size()); ++column) {
      const HeatmapCell& cell = grid_.at({row, column});
      const QRectF rect = cell_rect(layout, {row, column});
      const QRectF inner = rect.adjusted(0.5, 0.5, -0.5, -0.5);
      if (!cell.disposition) {
        painter.setPen(QPen(colors.grid, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(inner);
        continue;
      }
      if (cell.value) {
        const QColor fill = viridis(share_of(*cell.value));
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill);
        painter.drawRect(inner);
        const Qt::PenStyle frame = frame_of(cell.provenance);
        if (frame != Qt::NoPen) {
          painter.setPen(QPen(ink_on(fill), 1, frame));
          painter.setBrush(Qt::NoBrush);
          painter.drawRect(rect.adjusted(2.5, 2.5, -2.5, -2.5));
        }
        if (cell.throttled) {
          constexpr double corner = 6;
          const QPointF at = rect.topRight() + QPointF(-4, 4);  // within an outline
          painter.setPen(Qt::NoPen);
          painter.setBrush(ink_on(fill));
          painter.drawPolygon(QPolygonF{at, at - QPointF(corner, 0), at + QPointF(0, corner)});
        }
        if (room) {
          painter.setPen(ink_on(fill));
          const QString text = format_number(*cell.value * unit_.factor, layout.figures.digits);
          QRectF place = rect;
          // Where the paper's mark stands in the cell, the figure goes above it, or to the tooltip alone.
          if (grid_.paper && rect.contains(paper_position(layout))) {
            place.setBottom(paper_position(layout).y() - paper_mark_radius - 2);
          }
          if (place.height() >= metrics.ascent()) painter.drawText(place, Qt::AlignCenter, text);
        }
        continue;
      }
      painter.setPen(QPen(colors.grid, 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(inner);
      if (*cell.disposition == Disposition::infeasible) {
        painter.setPen(QPen(colors.hatch, 1));
        draw_hatching(painter, inner);
        continue;
      }
      painter.setPen(disposition_color(*cell.disposition, colors.dark));
      const QString word = *cell.disposition == Disposition::ok ? QStringLiteral("–") : short_word(*cell.disposition);
      const bool fits = room && metrics.horizontalAdvance(word) <= rect.width() - 2;
      painter.drawText(rect, Qt::AlignCenter, fits ? word : QStringLiteral("✕"));
    }
  }
  const auto outline = [&](HeatmapGrid::Place place, Qt::PenStyle style) {
    const QRectF rect = cell_rect(layout, place).adjusted(1, 1, -1, -1);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colors.background, 4.5));
    painter.drawRect(rect);
    QPen pen(colors.dark ? QColor(0xffff9e64) : QColor(0xffd55e00), 2.5);
    if (style == Qt::DashLine) pen.setDashPattern({2, 1.6});
    painter.setPen(pen);
    painter.drawRect(rect);
  };
  if (grid_.fastest && grid_.fastest != grid_.best) outline(*grid_.fastest, Qt::DashLine);
  if (grid_.best) outline(*grid_.best, Qt::SolidLine);
  painter.setFont(font());
}

void HeatmapView::draw_axes(QPainter& painter, const Layout& layout) const {
  const PlotColors colors = plot_colors(palette());
  const QFontMetricsF metrics(font());
  painter.setPen(colors.text);
  const double widest = metrics.horizontalAdvance(QStringLiteral("0000")) + 4;
  const int column_step = std::max(1, static_cast<int>(std::ceil(widest / layout.cell_width)));
  const int row_step = std::max(1, static_cast<int>(std::ceil(metrics.height() / layout.cell_height)));
  for (std::size_t i = 0; i < grid_.bc.size(); i += static_cast<std::size_t>(column_step)) {
    const QRectF rect = cell_rect(layout, {0, static_cast<int>(i)});
    painter.drawText(QRectF(rect.center().x() - 30, layout.cells.bottom() + 3, 60, metrics.height()),
                     Qt::AlignHCenter | Qt::AlignTop, QString::number(grid_.bc[i]));
  }
  for (std::size_t i = 0; i < grid_.br.size(); i += static_cast<std::size_t>(row_step)) {
    const QRectF rect = cell_rect(layout, {static_cast<int>(i), 0});
    painter.drawText(QRectF(layout.cells.left() - 44, rect.center().y() - metrics.height() / 2, 38, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QString::number(grid_.br[i]));
  }
  painter.drawText(QRectF(layout.cells.left() - left_margin, layout.cells.bottom() + 3 + metrics.height() + 2,
                          layout.cells.width() + left_margin + bar_labels, metrics.height()),
                   Qt::AlignHCenter, tr("Bc (key rows of a tile)"));
  painter.save();
  painter.translate(layout.cells.left() - left_margin + 4, layout.cells.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-layout.cells.height() / 2 - 30, 0, layout.cells.height() + 60, metrics.height()),
                   Qt::AlignCenter, tr("Br (query rows of a tile)"));
  painter.restore();
}

void HeatmapView::draw_bar(QPainter& painter, const Layout& layout) const {
  if (!grid_.minimum) return;
  const PlotColors colors = plot_colors(palette());
  QLinearGradient gradient(layout.bar.bottomLeft(), layout.bar.topLeft());
  for (int i = 0; i <= 16; ++i) gradient.setColorAt(i / 16.0, viridis(i / 16.0));
  painter.setPen(QPen(colors.axis, 1));
  painter.setBrush(gradient);
  painter.drawRect(layout.bar);
  const double low = *grid_.minimum;
  const double high = *grid_.maximum;
  const QFontMetricsF metrics(font());
  const int ticks = high > low ? std::clamp(static_cast<int>(layout.bar.height() / 60), 2, 6) : 1;
  painter.setPen(colors.text);
  for (int i = 0; i < ticks; ++i) {
    const double share = ticks == 1 ? 0.5 : static_cast<double>(i) / (ticks - 1);
    const double value = ticks == 1    ? low
                         : log_colors_ ? low * std::pow(high / low, share)
                                       : low + (high - low) * share;
    const double y = layout.bar.bottom() - share * layout.bar.height();
    painter.drawLine(QPointF(layout.bar.right(), y), QPointF(layout.bar.right() + 4, y));
    painter.drawText(QRectF(layout.bar.right() + 7, y - metrics.height() / 2, bar_labels, metrics.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, format_number(value * unit_.factor));
  }
  if (!unit_.suffix.isEmpty() || log_colors_) {
    const QString text = log_colors_ ? tr("%1, log").arg(unit_.suffix) : unit_.suffix;
    const double below = layout.bar.bottom() + 0.5 * metrics.height() + 1;  // the lowest label
    painter.drawText(QRectF(layout.bar.left() - 8, below, bar_width + bar_labels, metrics.height()), Qt::AlignLeft,
                     text);
  }
}

QPointF HeatmapView::paper_position(const Layout& layout) const {
  const double columns = static_cast<double>(grid_.bc.size());
  const double rows = static_cast<double>(grid_.br.size());
  const double column = std::clamp(grid_.paper->column, -0.5, columns - 0.5);
  const double row = std::clamp(grid_.paper->row, -0.5, rows - 0.5);
  return {layout.cells.left() + (column + 0.5) * layout.cell_width,
          layout.cells.top() + (rows - 0.5 - row) * layout.cell_height};
}

void HeatmapView::draw_paper_mark(QPainter& painter, const Layout& layout) const {
  if (!grid_.paper) return;
  const PlotColors colors = plot_colors(palette());
  const QPointF at = paper_position(layout);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  QPolygonF diamond;
  constexpr double radius = paper_mark_radius;
  diamond << at + QPointF(0, -radius) << at + QPointF(radius, 0) << at + QPointF(0, radius) << at + QPointF(-radius, 0);
  painter.setPen(QPen(colors.background, 5));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolygon(diamond);
  painter.setPen(QPen(QColor(0xffcc3f8f), 2.2));
  painter.setBrush(QColor(255, 255, 255, 220));
  painter.drawPolygon(diamond);

  // Small and below the mark, where it hides no cell's figure.
  const QString text = tr("paper");
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.85);
  painter.setFont(small);
  const QFontMetricsF metrics(small);
  const double width = metrics.horizontalAdvance(text) + 6;
  QRectF label(at.x() - width / 2, at.y() + radius + 1, width, metrics.height());
  if (label.bottom() > layout.cells.bottom()) label.moveBottom(at.y() - radius - 1);
  QColor panel = colors.panel;
  panel.setAlpha(225);
  painter.setPen(Qt::NoPen);
  painter.setBrush(panel);
  painter.drawRoundedRect(label, 3, 3);
  painter.setPen(colors.text);
  painter.drawText(label, Qt::AlignCenter, text);
  painter.restore();
}

QString HeatmapView::caption() const {
  return caption_text(grid_.empty() || layout_in(rect()).figures.shown);
}

QString HeatmapView::caption_text(bool figures_shown) const {
  QStringList parts;
  const auto cells = static_cast<int>(grid_.br.size() * grid_.bc.size());
  parts << tr("%1 of %2 tiles ran").arg(grid_.ok).arg(grid_.collected);
  if (grid_.collected < cells) parts << tr("blank: not collected (%1)").arg(cells - grid_.collected);
  bool infeasible = false;
  bool simulated = false;
  bool imported = false;
  bool throttled = false;
  for (const auto& row : grid_.cells) {
    for (const HeatmapCell& cell : row) {
      infeasible = infeasible || cell.disposition == Disposition::infeasible;
      simulated = simulated || (cell.value && cell.provenance == Provenance::simulated);
      throttled = throttled || (cell.value && cell.throttled);
      imported = imported || (cell.value && cell.provenance == Provenance::imported);
    }
  }
  if (simulated) parts << tr("dotted frame: simulated");
  if (imported) parts << tr("dash-dotted frame: imported");
  if (throttled) parts << tr("corner: clocks throttled");
  if (infeasible) parts << tr("hatched: cannot run (hover for why)");
  const auto extents = [&](HeatmapGrid::Place place) {
    return QStringLiteral("%1\u00A0×\u00A0%2")  // on one line
        .arg(grid_.br[static_cast<std::size_t>(place.row)])
        .arg(grid_.bc[static_cast<std::size_t>(place.column)]);
  };
  if (!figures_shown) parts << tr("numbers hidden: enlarge the window, or hover");
  if (grid_.best) {
    QString words = tr("outlined: %1, %2").arg(grid_.best_words(), extents(*grid_.best));
    if (grid_.alike > 1) words += tr(" (%1 tiles alike)").arg(grid_.alike);
    parts << words;
  }
  if (grid_.fastest && grid_.fastest != grid_.best) parts << tr("dashed: fastest, %1").arg(extents(*grid_.fastest));
  QString text = parts.join(QStringLiteral(" · "));
  if (grid_.paper) {
    const PaperTile& tile = grid_.paper->tile;
    text += QLatin1Char('\n') +
            (grid_.paper->inside
                 ? tr("◆ the paper's tile: Bc = ⌈M/4d⌉ = %1, Br = min(Bc, d) = %2").arg(tile.bc).arg(tile.br)
                 : tr("◆ the paper's tile lies beyond this grid: Bc = ⌈M/4d⌉ = %1, Br = min(Bc, d) = %2")
                       .arg(tile.bc)
                       .arg(tile.br));
  }
  return text;
}

void HeatmapView::draw_caption(QPainter& painter, const Layout& layout, const QRectF& area) const {
  painter.setPen(plot_colors(palette()).muted);
  painter.setFont(caption_font(font()));
  const double left = area.left() + caption_left;
  painter.drawText(
      QRectF(left, layout.caption_top, area.right() - left - right_margin, area.bottom() - layout.caption_top),
      Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, caption_text(layout.figures.shown));
  painter.setFont(font());
}

std::optional<HeatmapGrid::Place> HeatmapView::cell_at(const QPointF& position) const {
  if (grid_.empty()) return {};
  const Layout layout = layout_in(rect());
  if (!layout.cells.contains(position)) return {};
  const int rows = static_cast<int>(grid_.br.size());
  const int columns = static_cast<int>(grid_.bc.size());
  const int column = std::min(columns - 1, static_cast<int>((position.x() - layout.cells.left()) / layout.cell_width));
  const int from_top = std::min(rows - 1, static_cast<int>((position.y() - layout.cells.top()) / layout.cell_height));
  return HeatmapGrid::Place{rows - 1 - from_top, column};
}

HoverContent HeatmapView::describe_cell(HeatmapGrid::Place place) const {
  const HeatmapCell& cell = grid_.at(place);
  HoverContent content;
  content.title = tr("Br %1 × Bc %2")
                      .arg(grid_.br[static_cast<std::size_t>(place.row)])
                      .arg(grid_.bc[static_cast<std::size_t>(place.column)]);
  if (!cell.disposition) {
    content.notes << tr("Not collected: no shown run has this tile.");
    return content;
  }
  const PointRecord& record = cell.source.record();
  if (cell.value) {
    content.rows.push_back({{},
                            SampleMark::none,
                            QStringLiteral("%1 · %2").arg(grid_.label, to_qstring(to_string(cell.provenance))),
                            format_metric({grid_.metric, *cell.value, grid_.unit, cell.provenance})});
  }
  const auto add = [&](std::string_view key) {
    if (key == grid_.metric) return;
    const auto value = evaluate(key, record);
    if (!value) return;
    content.rows.push_back({{},
                            SampleMark::none,
                            QStringLiteral("%1 · %2").arg(metric_label(key), to_qstring(to_string(value->provenance))),
                            format_metric(*value)});
  };
  add(metric_key::time_median_ns);
  add(metric_key::tflops);
  add(metric_key::achieved_occupancy_pct);
  if (place == grid_.best) content.notes << tr("Of the tiles shown: %1.").arg(grid_.best_words());
  if (place == grid_.fastest && place != grid_.best) content.notes << tr("The fastest tile shown.");
  if (*cell.disposition != Disposition::ok) {
    content.notes << QStringLiteral("%1: %2").arg(to_qstring(to_string(*cell.disposition)),
                                                  QString::fromStdString(record.reason));
  } else if (!cell.value) {
    content.notes << tr("This point has no value for the metric shown.");
  }
  if (record.clocks && record.clocks->throttled) content.notes << tr("The GPU was throttled at this point.");
  return content;
}

void HeatmapView::hover_at(const QPointF& position) {
  const auto place = cell_at(position);
  if (!place) {
    hovered_.reset();
    overlay_->clear();
    return;
  }
  if (place != hovered_) {
    hovered_ = place;
    hover_ = describe_cell(*place);
  }
  overlay_->show_content(&hover_, position.toPoint());
}

void HeatmapView::paintEvent(QPaintEvent*) {
  const double ratio = devicePixelRatioF();
  if (cache_.isNull() || cache_.deviceIndependentSize().toSize() != size()) {
    cache_ = QPixmap(size() * ratio);
    cache_.setDevicePixelRatio(ratio);
    QPainter painter(&cache_);
    render_grid(painter, rect());
  }
  QPainter painter(this);
  painter.drawPixmap(0, 0, cache_);
  if (selected_ && !grid_.empty()) {
    const PlotColors colors = plot_colors(palette());
    const Layout layout = layout_in(rect());
    // Around the cell's own outline, which says what the cell is.
    const QRectF cell = cell_rect(layout, *selected_).adjusted(-2, -2, 2, 2);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colors.background, 3.5));
    painter.drawRect(cell);
    painter.setPen(QPen(colors.text, 2));
    painter.drawRect(cell);
    // The outline must not run through the paper's mark and its label.
    draw_paper_mark(painter, layout);
  }
}

void HeatmapView::resizeEvent(QResizeEvent*) {
  overlay_->setGeometry(rect());
  overlay_->clear();
  invalidate();
}

void HeatmapView::mouseMoveEvent(QMouseEvent* event) {
  hover_at(event->position());
}

void HeatmapView::mousePressEvent(QMouseEvent* event) {
  if (const auto place = cell_at(event->position())) select(place);
}

void HeatmapView::leaveEvent(QEvent*) {
  hovered_.reset();
  overlay_->clear();
}

HeatmapGrid::Place HeatmapView::landmark() const {
  return grid_.best ? *grid_.best : grid_.fastest.value_or(HeatmapGrid::Place{});
}

void HeatmapView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  if (event->reason() == Qt::TabFocusReason && !selected_ && !grid_.empty()) {
    select(landmark());
  }
}

void HeatmapView::keyPressEvent(QKeyEvent* event) {
  if (grid_.empty()) return QWidget::keyPressEvent(event);
  HeatmapGrid::Place place = selected_.value_or(landmark());
  if (selected_) {
    switch (event->key()) {
      case Qt::Key_Left:
        --place.column;
        break;
      case Qt::Key_Right:
        ++place.column;
        break;
      case Qt::Key_Up:
        ++place.row;
        break;
      case Qt::Key_Down:
        --place.row;
        break;
      case Qt::Key_Home:
        place = landmark();
        break;
      default:
        return QWidget::keyPressEvent(event);
    }
  }
  place.row = std::clamp(place.row, 0, static_cast<int>(grid_.br.size()) - 1);
  place.column = std::clamp(place.column, 0, static_cast<int>(grid_.bc.size()) - 1);
  select(place);
}

void HeatmapView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) invalidate();
}

QString HeatmapView::save_png(const QString& file, const QSize& size, double scale) const {
  QImage image(size * scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  QPainter painter(&image);
  render_grid(painter, QRectF(QPointF(0, 0), QSizeF(size)));
  painter.end();
  return save_image(file, image, "PNG");
}

QString HeatmapView::save_svg(const QString& file, const QSize& size) const {
  return save_file(file, [&](QIODevice& out) {
    QSvgGenerator generator;
    generator.setOutputDevice(&out);
    set_up_page(generator, size, title_.what);
    QPainter painter(&generator);
    render_grid(painter, QRectF(QPointF(0, 0), QSizeF(size)));
    return true;
  });
}

QString HeatmapView::save_pdf(const QString& file, const QSize& size) const {
  return save_file(file, [&](QIODevice& out) {
    QPdfWriter writer(&out);
    set_up_page(writer, size, title_.what);
    QPainter painter(&writer);
    render_grid(painter, QRectF(QPointF(0, 0), QSizeF(size)));
    return true;
  });
}

}  // namespace attnscope::ui

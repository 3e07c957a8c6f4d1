// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_view.h"

#include <QContextMenuEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "messages/tile_map.h"
#include "ui/plots/heatmap_drawing.h"
#include "ui/plots/heatmap_text.h"
#include "ui/plots/plot_parts.h"
#include "ui/runs/point_set.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent), overlay_(new HoverOverlay(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(qtext(msg::tile_map::name{}));
}

void HeatmapView::set_map(std::shared_ptr<const PointSet> points, const TileMap& map, bool log_colors, bool relative) {
  const bool same_axes = map.y.axis.names == map_.y.axis.names && map.x.axis.names == map_.x.axis.names;
  const bool same_shape = same_axes && map.y.values == map_.y.values && map.x.values == map_.x.values;
  points_ = std::move(points);
  map_ = map;
  title_ = map.empty() ? HeatmapTitle() : heatmap_title(*points_, map);
  log_colors_ = log_colors && map.minimum.value_or(0) > 0;
  relative_ = relative;
  if (map.empty() || !has_slowdowns(map)) highlighted_.reset();
  unit_ = unit_scale(map.maximum.value_or(1), map.unit);
  if (!same_shape) selected_.reset();
  cursor_.reset();
  setAccessibleName(map.empty() ? qtext(msg::tile_map::name{})
                    : !title_.headline.isEmpty()
                        ? title_.headline
                        : qtext(msg::tile_map::name_of_axes{.columns = axis_title(map.x).toStdString(),
                                                            .rows = axis_title(map.y).toStdString()}));
  overlay_->clear();
  invalidate();
}

void HeatmapView::set_causes(const QString& sentences) {
  title_.causes = sentences;
  invalidate();
}

void HeatmapView::invalidate() {
  cache_ = {};
  update();
}

void HeatmapView::select(std::optional<TileMap::Place> place) {
  selected_ = place;
  cursor_ = place;
  announce_cursor(*this, *this);
  update();
  if (place && map_.at(*place).disposition) emit cell_selected(point_at(*place));
}

HeatmapDrawing HeatmapView::drawing(PlotTarget target, double pixel) const {
  return {*points_,
          map_,
          title_,
          log_colors_,
          relative_,
          target == PlotTarget::screen ? highlighted_ : std::nullopt,
          unit_,
          font(),
          plot_colors(palette()),
          target,
          target == PlotTarget::file ? source_note(points_->runs_of(map_.rows())) : QString(),
          pixel};
}

HeatmapLayout HeatmapView::screen_layout() const {
  return lay_out_heatmap(drawing(PlotTarget::screen, 1 / devicePixelRatioF()), rect());
}

QSize HeatmapView::picture_size(const QSize& most) const {
  return heatmap_extent(drawing(PlotTarget::file, 1), most);
}

std::optional<std::size_t> HeatmapView::bin_at(const QPointF& position) const {
  if (map_.empty()) return {};
  const std::vector<QRectF> bins = screen_layout().bins;
  const auto found = std::ranges::find_if(bins, [&](const QRectF& bin) { return bin.contains(position); });
  return found == bins.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - bins.begin()));
}

void HeatmapView::highlight_bin(std::size_t bin) {
  highlighted_ = highlighted_ == bin ? std::nullopt : std::optional(bin);
  invalidate();
}

std::optional<TileMap::Place> HeatmapView::cell_at(const QPointF& position) const {
  if (map_.empty()) return {};
  return screen_layout().cell_at(map_, position);
}

QRectF HeatmapView::cell_rect(TileMap::Place place) const {
  return screen_layout().cell(map_, place);
}

HoverContent HeatmapView::describe_cell(TileMap::Place place) const {
  return describe_heatmap_cell(*points_, map_, place);
}

void HeatmapView::hover_at(const QPointF& position) {
  if (const auto place = cell_at(position)) {
    overlay_->show_content(describe_cell(*place), position.toPoint());
  } else {
    overlay_->clear();
  }
}

void HeatmapView::paintEvent(QPaintEvent*) {
  const double ratio = devicePixelRatioF();
  if (cache_.isNull() || cache_.deviceIndependentSize().toSize() != size()) {
    cache_ = QPixmap(size() * ratio);
    cache_.setDevicePixelRatio(ratio);
    QPainter painter(&cache_);
    draw_heatmap(painter, drawing(PlotTarget::screen, 1 / ratio), rect());
  }
  {
    QPainter painter(this);
    painter.drawPixmap(0, 0, cache_);
    if (selected_ && !map_.empty()) {
      const PlotColors colors = plot_colors(palette());
      // Drawn outside the outline of the cell itself.
      const QRectF cell = cell_rect(*selected_).adjusted(-2, -2, 2, 2);
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(colors.background, 5));
      painter.drawRect(cell);
      painter.setPen(QPen(colors.text, 2));
      painter.drawRect(cell);
    }
    if (cursor_ && cursor_ != selected_ && !map_.empty()) {
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(plot_colors(palette()).accent, 2, Qt::DashLine));
      painter.drawRect(cell_rect(*cursor_).adjusted(1, 1, -1, -1));
    }
  }
  draw_focus_frame(*this);
}

void HeatmapView::resizeEvent(QResizeEvent*) {
  overlay_->clear();
  invalidate();
}

void HeatmapView::mouseMoveEvent(QMouseEvent* event) {
  hover_at(event->position());
  setCursor(bin_at(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void HeatmapView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto bin = bin_at(event->position())) return highlight_bin(*bin);
  if (const auto place = cell_at(event->position())) select(place);
}

void HeatmapView::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() == QContextMenuEvent::Mouse) {
    if (const auto place = cell_at(event->pos())) select(place);
  }
  event->ignore();
}

void HeatmapView::leaveEvent(QEvent*) {
  overlay_->clear();
}

TileMap::Place HeatmapView::initial_cell() const {
  if (!map_.best.empty()) return map_.best.front();
  return map_.fastest.empty() ? TileMap::Place{} : map_.fastest.front();
}

void HeatmapView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  if (event->reason() == Qt::TabFocusReason && !selected_ && !map_.empty()) move_cursor(initial_cell());
  update();
}

void HeatmapView::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

void HeatmapView::keyPressEvent(QKeyEvent* event) {
  if (map_.empty()) return QWidget::keyPressEvent(event);
  if (has_slowdowns(map_)) {
    const int bin = event->key() - Qt::Key_1;
    if (bin >= 0 && bin < static_cast<int>(style::slowdown_bins)) return highlight_bin(static_cast<std::size_t>(bin));
    if (event->key() == Qt::Key_Escape && highlighted_) return highlight_bin(*highlighted_);
  }
  const std::optional<TileMap::Place> from = cursor_ ? cursor_ : selected_;
  TileMap::Place place = from.value_or(initial_cell());
  const int step = from ? 1 : 0;
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      place.column += event->key() == Qt::Key_Left ? -step : step;
      break;
    case Qt::Key_Up:
    case Qt::Key_Down:
      place.row += event->key() == Qt::Key_Down ? -step : step;
      break;
    case Qt::Key_Home:
      place = initial_cell();
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      return select_cursor();
    default:
      return QWidget::keyPressEvent(event);
  }
  place.row = std::clamp(place.row, 0, static_cast<int>(map_.y.size()) - 1);
  place.column = std::clamp(place.column, 0, static_cast<int>(map_.x.size()) - 1);
  move_cursor(place);
}

void HeatmapView::move_cursor(TileMap::Place place) {
  cursor_ = place;
  overlay_->show_content(describe_cell(place), cell_rect(place).center().toPoint());
  announce_cursor(*this, *this);
  update();
}

QString HeatmapView::cursor_text() const {
  const std::optional<TileMap::Place> place = cursor_ ? cursor_ : selected_;
  return place && !map_.empty() ? display_text(describe_cell(*place)) : QString();
}

void HeatmapView::select_cursor() {
  if (cursor_) select(cursor_);
}

void HeatmapView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) invalidate();
}

PlotPicture picture_of(const HeatmapView& view) {
  return {.title = view.title().what + QStringLiteral(" · ") + view.title().of,
          .draw = [&view](QCPPainter& painter, const QRect& area, double pixel) {
            draw_heatmap(painter, view.drawing(PlotTarget::file, pixel), area);
          }};
}

}  // namespace attnscope::ui

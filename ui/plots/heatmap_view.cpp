// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_view.h"

#include <QContextMenuEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "messages/tile_map.h"
#include "ui/plots/heatmap_drawing.h"
#include "ui/plots/heatmap_grid.h"
#include "ui/plots/plot_parts.h"
#include "ui/runs/point_set.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

void draw_heatmap(QPainter& painter, const HeatmapDrawing& drawing, const QRectF& area) {
  painter.fillRect(area, drawing.colors.background);
  if (drawing.grid.empty()) return;
  const HeatmapLayout layout = lay_out_heatmap(drawing, area);
  draw_heatmap_title(painter, drawing, layout, area);
  draw_heatmap_cells(painter, drawing, layout);
  draw_heatmap_axes(painter, drawing, layout);
  draw_heatmap_bar(painter, drawing, layout);
  draw_heatmap_caption(painter, drawing, layout, area);
}

}  // namespace

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent), overlay_(new HoverOverlay(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(qtext(say::tile_map::name{}));
}

void HeatmapView::set_grid(const HeatmapGrid& grid, const HeatmapTitle& title, bool log_colors, bool with_bar) {
  const bool same_axes = grid.y.axis.names == grid_.y.axis.names && grid.x.axis.names == grid_.x.axis.names;
  const bool same_shape = same_axes && grid.y.values == grid_.y.values && grid.x.values == grid_.x.values;
  grid_ = grid;
  title_ = title;
  log_colors_ = log_colors && grid.minimum.value_or(0) > 0;
  with_bar_ = with_bar;
  unit_ = unit_scale(grid.colors ? grid.colors->high : 1, grid.unit);
  pressed_.reset();
  dragged_.reset();
  if (!same_shape) {
    selected_.reset();
    area_.reset();
  }
  setAccessibleName(grid.empty() ? qtext(say::tile_map::name{})
                                 : qtext(say::tile_map::name_of_axes{.rows = axis_title(grid.y).toStdString(),
                                                                     .columns = axis_title(grid.x).toStdString()}));
  overlay_->clear();
  invalidate();
}

void HeatmapView::invalidate() {
  cache_ = {};
  update();
}

void HeatmapView::select(std::optional<HeatmapGrid::Place> place) {
  selected_ = place;
  setAccessibleDescription(place ? words_of(describe_cell(*place)) : QString());
  update();
  if (place) emit place_selected();
  if (place && grid_.at(*place).disposition) emit cell_selected(grid_.source(*place));
}

void HeatmapView::mark_area(std::optional<analysis::MapArea> area) {
  area_ = area;
  update();
}

HeatmapGrid::Place HeatmapView::nearest_cell(const QPointF& position) const {
  const QRectF cells = screen_layout().cells;
  const QPointF inside(std::clamp(position.x(), cells.left(), cells.right() - 1),
                       std::clamp(position.y(), cells.top(), cells.bottom() - 1));
  return cell_at(inside).value_or(HeatmapGrid::Place{});
}

QRectF HeatmapView::rect_of(const analysis::MapArea& area) const {
  return cell_rect(area.from) | cell_rect(area.to);
}

HeatmapDrawing HeatmapView::drawing(PlotTarget target, double pixel) const {
  return {grid_,       title_,
          log_colors_, unit_,
          font(),      plot_colors(palette()),
          target,      target == PlotTarget::file ? source() : QString(),
          with_bar_,   pixel};
}

QString HeatmapView::source() const {
  return source_note(grid_.sources());
}

HeatmapLayout HeatmapView::screen_layout() const {
  return lay_out_heatmap(drawing(PlotTarget::screen, 1 / devicePixelRatioF()), rect());
}

void HeatmapView::render_grid(QPainter& painter, const QRectF& area, double pixel) const {
  draw_heatmap(painter, drawing(PlotTarget::file, pixel), area);
}

QSize HeatmapView::picture_size(const QSize& most) const {
  return heatmap_extent(drawing(PlotTarget::file, 1), most);
}

QString HeatmapView::caption(PlotTarget target) const {
  return heatmap_caption(grid_, grid_.empty() || screen_layout().figures.shown, target);
}

std::optional<HeatmapGrid::Place> HeatmapView::cell_at(const QPointF& position) const {
  if (grid_.empty()) return {};
  return screen_layout().cell_at(grid_, position);
}

QRectF HeatmapView::cell_rect(HeatmapGrid::Place place) const {
  return screen_layout().cell(grid_, place);
}

HoverContent HeatmapView::describe_cell(HeatmapGrid::Place place) const {
  return describe_heatmap_cell(grid_, place);
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
    if (!grid_.empty()) draw_marks(painter);
    if (selected_ && !grid_.empty()) {
      const PlotColors colors = plot_colors(palette());
      // Around the cell's own outline, which says what the cell is.
      const QRectF cell = cell_rect(*selected_).adjusted(-2, -2, 2, 2);
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(colors.background, 3.5));
      painter.drawRect(cell);
      painter.setPen(QPen(colors.text, 2));
      painter.drawRect(cell);
    }
  }
  draw_focus_frame(*this);
}

void HeatmapView::draw_marks(QPainter& painter) const {
  const PlotColors colors = plot_colors(palette());
  const std::optional<analysis::MapArea>& marked = dragged_ ? dragged_ : area_;
  if (!marked) return;
  painter.fillRect(rect_of(*marked), faded(colors.accent, 50 / 255.0));
  painter.setBrush(Qt::NoBrush);
  for (const QPen& pen : {QPen(colors.background, 4), QPen(colors.accent, 2)}) {
    painter.setPen(pen);
    painter.drawRect(rect_of(*marked));
  }
}

void HeatmapView::resizeEvent(QResizeEvent*) {
  overlay_->clear();
  invalidate();
}

void HeatmapView::mouseMoveEvent(QMouseEvent* event) {
  if (!pressed_ || (event->buttons() & Qt::LeftButton) == 0) return hover_at(event->position());
  const auto over = analysis::MapArea::between(*pressed_, nearest_cell(event->position()));
  dragged_ = over.from == over.to ? std::nullopt : std::optional(over);
  overlay_->clear();
  update();
}

void HeatmapView::mousePressEvent(QMouseEvent* event) {
  const auto place = cell_at(event->position());
  if (!place || event->button() != Qt::LeftButton) return;
  select(place);
  pressed_ = place;
}

void HeatmapView::mouseReleaseEvent(QMouseEvent* event) {
  const std::optional<analysis::MapArea> dragged = std::exchange(dragged_, std::nullopt);
  pressed_.reset();
  if (!dragged || event->button() != Qt::LeftButton) return;
  mark_area(dragged);
  emit area_wanted();
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

HeatmapGrid::Place HeatmapView::landmark() const {
  if (!grid_.best.empty()) return grid_.best.front();
  return grid_.fastest.empty() ? HeatmapGrid::Place{} : grid_.fastest.front();
}

void HeatmapView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  if (event->reason() == Qt::TabFocusReason && !selected_ && !grid_.empty()) select(landmark());
  update();
}

void HeatmapView::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
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
  place.row = std::clamp(place.row, 0, static_cast<int>(grid_.y.size()) - 1);
  place.column = std::clamp(place.column, 0, static_cast<int>(grid_.x.size()) - 1);
  select(place);
}

void HeatmapView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) invalidate();
}

PlotPicture picture_of(const std::vector<const HeatmapView*>& views) {
  const auto draw = [views](QCPPainter& painter, const QRect& area, double pixel) {
    const double width = static_cast<double>(area.width()) / static_cast<double>(views.size());
    for (std::size_t i = 0; i < views.size(); ++i) {
      const QRectF place(area.left() + static_cast<double>(i) * width, area.top(), width, area.height());
      views[i]->render_grid(painter, place, pixel);
    }
  };
  if (views.empty()) return {.title = {}, .draw = draw};
  const HeatmapTitle& title = views.front()->title();
  return {.title = title.what + QStringLiteral(" · ") + title.of, .draw = draw};
}

}  // namespace attnscope::ui

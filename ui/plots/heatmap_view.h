// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a TileMap: a cell a tile, its value by colour and, where there is room, in figures. Hover reads a cell out,
// a click or the arrow keys select one.
#pragma once

#include <QPixmap>
#include <QWidget>
#include <optional>

#include "ui/plots/heatmap_drawing.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/plot_export.h"

namespace attnscope::ui {

class HeatmapView : public QWidget {
  Q_OBJECT
 public:
  explicit HeatmapView(QWidget* parent = nullptr);

  void set_map(std::shared_ptr<const PointSet> points, const TileMap& map, bool log_colors);
  void select(std::optional<TileMap::Place> place);
  [[nodiscard]] std::optional<TileMap::Place> selected() const { return selected_; }
  [[nodiscard]] const TileMap& map() const { return map_; }
  [[nodiscard]] const PointSet& points() const { return *points_; }
  /// Pre: the cell has a disposition.
  [[nodiscard]] ShownPoint point_at(TileMap::Place place) const { return (*points_)[map_.at(place).row]; }
  [[nodiscard]] const HeatmapTitle& title() const { return title_; }
  /// Initially selected cell: the best tile, else the fastest.
  [[nodiscard]] TileMap::Place landmark() const;

  /// As PlotPicture draws it, without selection and hover.
  void render_map(QPainter& painter, const QRectF& area, double pixel = 1) const;
  /// The size of a picture that the map fills, up to `most`: a map of few tiles makes a small one.
  [[nodiscard]] QSize picture_size(const QSize& most) const;
  [[nodiscard]] std::optional<TileMap::Place> cell_at(const QPointF& position) const;
  /// Where a cell stands on the widget.
  [[nodiscard]] QRectF cell_rect(TileMap::Place place) const;
  /// The legend below the cells.
  [[nodiscard]] QString caption(PlotTarget target = PlotTarget::screen) const;
  /// The read-out of a cell, as hovering shows it.
  [[nodiscard]] HoverContent describe_cell(TileMap::Place place) const;
  void hover_at(const QPointF& position);

  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 260}; }

 signals:
  void cell_selected(const attnscope::ui::ShownPoint& point);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  /// With the right button: what a menu is about. The menu is the page's.
  void contextMenuEvent(QContextMenuEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  [[nodiscard]] HeatmapDrawing drawing(PlotTarget target, double pixel) const;
  [[nodiscard]] QString source() const;
  [[nodiscard]] HeatmapLayout screen_layout() const;
  void invalidate();

  std::shared_ptr<const PointSet> points_ = std::make_shared<const PointSet>();  ///< what the map's rows refer to
  TileMap map_;
  HeatmapTitle title_;
  bool log_colors_ = false;
  UnitScale unit_;
  std::optional<TileMap::Place> selected_;
  HoverOverlay* overlay_ = nullptr;
  QPixmap cache_;
};

/// The view has to stand as long as it is drawn.
[[nodiscard]] PlotPicture picture_of(const HeatmapView& view);

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Widget that draws a TileMap: one cell per tile, its value as color and, if it fits, as text. Hover shows a read-out;
// a click selects a cell. Arrow keys move the cursor, Enter selects its cell.
#pragma once

#include <QPixmap>
#include <QWidget>
#include <optional>

#include "ui/plots/heatmap_drawing.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/plot_export.h"

namespace attnscope::ui {

class HeatmapView : public QWidget, public PlotCursor {
  Q_OBJECT
 public:
  explicit HeatmapView(QWidget* parent = nullptr);

  /// `relative`: cells show slowdowns instead of times.
  void set_map(std::shared_ptr<const PointSet> points, const TileMap& map, bool log_colors, bool relative = true);
  /// Causes of the headline, below it; set_map() removes them.
  void set_causes(const QString& sentences);
  /// Highlights the cells of a bin of slowdowns; again: none.
  void highlight_bin(std::size_t bin);
  [[nodiscard]] std::optional<std::size_t> highlighted_bin() const { return highlighted_; }
  [[nodiscard]] std::optional<std::size_t> bin_at(const QPointF& position) const;
  void select(std::optional<TileMap::Place> place);
  [[nodiscard]] std::optional<TileMap::Place> selected() const { return selected_; }
  [[nodiscard]] const TileMap& map() const { return map_; }
  [[nodiscard]] const PointSet& points() const { return *points_; }
  /// Pre: the cell has a disposition.
  [[nodiscard]] ShownPoint point_at(TileMap::Place place) const { return (*points_)[map_.at(place).row]; }
  [[nodiscard]] const HeatmapTitle& title() const { return title_; }
  /// Returns the cell selected initially: the best tile, else the fastest.
  [[nodiscard]] TileMap::Place initial_cell() const;

  /// Returns the size of a picture that the map fills, at most `most`.
  [[nodiscard]] QSize picture_size(const QSize& most) const;
  /// `pixel`: size of a target pixel. Files show no selection.
  [[nodiscard]] HeatmapDrawing drawing(PlotTarget target, double pixel) const;
  [[nodiscard]] std::optional<TileMap::Place> cell_at(const QPointF& position) const;
  [[nodiscard]] QRectF cell_rect(TileMap::Place place) const;
  [[nodiscard]] HoverContent describe_cell(TileMap::Place place) const;
  void hover_at(const QPointF& position);
  [[nodiscard]] std::optional<TileMap::Place> cursor() const { return cursor_; }
  [[nodiscard]] QString cursor_text() const override;
  void select_cursor() override;

  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 260}; }

 signals:
  void cell_selected(const attnscope::ui::ShownPoint& point);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  /// Ignores the event, so that the page shows the context menu.
  void contextMenuEvent(QContextMenuEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  [[nodiscard]] HeatmapLayout screen_layout() const;
  void invalidate();
  void move_cursor(TileMap::Place place);

  std::shared_ptr<const PointSet> points_ = std::make_shared<const PointSet>();
  TileMap map_;
  HeatmapTitle title_;
  bool log_colors_ = false;
  bool relative_ = true;
  std::optional<std::size_t> highlighted_;
  UnitScale unit_;
  std::optional<TileMap::Place> selected_;
  std::optional<TileMap::Place> cursor_;
  HoverOverlay* overlay_ = nullptr;
  QPixmap cache_;
};

/// The view has to outlive the picture.
[[nodiscard]] PlotPicture picture_of(const HeatmapView& view);

}  // namespace attnscope::ui

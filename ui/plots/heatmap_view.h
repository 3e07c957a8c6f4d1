// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a HeatmapGrid: a cell a tile, its value by colour and, where there is room, in figures.
#pragma once

#include <QPixmap>
#include <QWidget>
#include <optional>

#include "ui/format.h"
#include "ui/models/heatmap_grid.h"
#include "ui/plots/hover_overlay.h"

namespace attnscope::ui {

class HeatmapView : public QWidget {
  Q_OBJECT
 public:
  explicit HeatmapView(QWidget* parent = nullptr);

  struct Title {
    QString what;
    QString of;  ///< the problem and the device, on a second line
  };
  void set_grid(const HeatmapGrid& grid, const Title& title, bool log_colors);
  void select(std::optional<HeatmapGrid::Place> place);
  [[nodiscard]] std::optional<HeatmapGrid::Place> selected() const { return selected_; }
  [[nodiscard]] const HeatmapGrid& grid() const { return grid_; }
  /// Where a look at the grid begins: its best tile, else its fastest.
  [[nodiscard]] HeatmapGrid::Place landmark() const;

  /// Draws everything but selection and hover into `area`.
  void render_grid(QPainter& painter, const QRectF& area) const;
  // As save_file(): the error, empty when the file is written.
  [[nodiscard]] QString save_png(const QString& file, const QSize& size, double scale = 2) const;
  [[nodiscard]] QString save_svg(const QString& file, const QSize& size) const;
  [[nodiscard]] QString save_pdf(const QString& file, const QSize& size) const;

  [[nodiscard]] std::optional<HeatmapGrid::Place> cell_at(const QPointF& position) const;
  /// The legend below the cells.
  [[nodiscard]] QString caption() const;
  /// The read-out of a cell, as hovering shows it.
  [[nodiscard]] HoverContent describe_cell(HeatmapGrid::Place place) const;
  void hover_at(const QPointF& position);

  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 260}; }

 signals:
  void cell_selected(const attnscope::ui::ShownPoint& point);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Figures {
    QFont font;
    int digits = 3;
    bool shown = true;  ///< false: no font is small enough
  };
  struct Layout {
    QRectF cells;
    QRectF bar;
    double cell_width = 0;
    double cell_height = 0;
    double caption_top = 0;
    Figures figures;
  };
  [[nodiscard]] Layout layout_in(const QRectF& area) const;
  [[nodiscard]] QRectF cell_rect(const Layout& layout, HeatmapGrid::Place place) const;
  [[nodiscard]] double share_of(double value) const;  ///< 0..1 on the colour scale
  /// The largest font, up to the widget's own, in which every value stands clear of its neighbours: with three digits,
  /// or two where three would be too small to read.
  [[nodiscard]] Figures figures_in(double cell_width, double cell_height) const;
  [[nodiscard]] QString caption_text(bool figures_shown) const;
  [[nodiscard]] QPointF paper_position(const Layout& layout) const;
  void draw_cells(QPainter& painter, const Layout& layout) const;
  void draw_axes(QPainter& painter, const Layout& layout) const;
  void draw_bar(QPainter& painter, const Layout& layout) const;
  void draw_paper_mark(QPainter& painter, const Layout& layout) const;
  void draw_caption(QPainter& painter, const Layout& layout, const QRectF& area) const;
  void invalidate();

  HeatmapGrid grid_;
  Title title_;
  bool log_colors_ = false;
  UnitScale unit_;
  std::optional<HeatmapGrid::Place> selected_;
  std::optional<HeatmapGrid::Place> hovered_;
  HoverContent hover_;
  HoverOverlay* overlay_ = nullptr;
  QPixmap cache_;
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a TilePicture: a cell a tile, its colour the place in the order of visits; what is masked is grey, what the
// mask cuts has a corner cut off.
#pragma once

#include <QColor>
#include <QImage>
#include <QString>
#include <QWidget>
#include <memory>
#include <optional>

#include "profiler/tilemap/tile_picture.h"

namespace attnscope::ui {

class TileGridView : public QWidget {
  Q_OBJECT
 public:
  explicit TileGridView(QWidget* parent = nullptr);

  /// Null: `words` stand in its place.
  void set_picture(std::shared_ptr<const analysis::TilePicture> picture, const QString& words = {});
  [[nodiscard]] const analysis::TilePicture* picture() const { return picture_.get(); }
  [[nodiscard]] QString words() const { return words_; }
  /// Below the cells: what of them is what.
  [[nodiscard]] QString caption() const;

  [[nodiscard]] QRectF cells_rect() const;
  [[nodiscard]] QRectF cell_rect(int row, int column) const;
  [[nodiscard]] QColor cell_color(int row, int column) const;
  /// The read-out of a cell, as hovering shows it.
  [[nodiscard]] QString describe_cell(int row, int column) const;

  [[nodiscard]] QSize sizeHint() const override { return {360, 300}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 220}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void draw_image();
  void paint_marks(QPainter& painter) const;
  [[nodiscard]] QRectF caption_rect() const;
  [[nodiscard]] std::optional<std::pair<int, int>> cell_at(const QPointF& position) const;

  std::shared_ptr<const analysis::TilePicture> picture_;
  QString words_;
  QImage image_;                                  ///< a pixel a cell
  std::optional<std::pair<int, int>> walked_to_;  ///< by the arrow keys: row, column
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Legend of a plot as a compact table: one row per series, with its values at one position. A click isolates a series,
// Ctrl+click toggles it, Esc shows all. Up and Down move the current row, Enter isolates it and Ctrl+Enter toggles it.
#pragma once

#include <QPen>
#include <QString>
#include <QStringList>
#include <QWidget>
#include <set>
#include <vector>

#include "ui/plots/markers.h"

namespace attnscope::ui {

struct LegendRow {
  QString series;  ///< Key of the series that the row hides and isolates; empty: none.
  QString text;
  Sample sample;
  QPen line;  ///< Also has the color of the marker.
  QStringList cells;
};

struct LegendContent {
  QString corner;       ///< Position of the values: "N 8192".
  QStringList columns;  ///< Titles of the value columns.
  QStringList widest;   ///< Longest text of each column at any position, so that columns keep their width.
  std::vector<LegendRow> rows;
  QStringList notes;  ///< Below the rows.
};

class LegendTable : public QWidget {
  Q_OBJECT
 public:
  explicit LegendTable(QWidget* plot);

  void set_content(LegendContent content, const std::set<QString>& hidden);
  [[nodiscard]] const LegendContent& content() const { return content_; }
  /// Width without elided texts.
  [[nodiscard]] int natural_width() const;
  [[nodiscard]] int height_for(int width) const;
  /// Draws the table without hidden series, for files.
  void draw(QPainter& painter, const QRectF& area) const;
  /// Place of a row with that text; -1 if there is none.
  [[nodiscard]] int find_row(const QString& text) const;
  [[nodiscard]] QRect row_rect(int row) const;

 signals:
  void isolate_requested(const QString& series);
  void toggle_requested(const QString& series);
  void show_all_requested();

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

 private:
  struct Columns {
    double name = 0;
    std::vector<double> widths;
  };
  [[nodiscard]] QFont text_font() const;
  [[nodiscard]] int line_height() const;
  [[nodiscard]] Columns fit_columns(double width) const;
  [[nodiscard]] double notes_height(double width) const;
  [[nodiscard]] int row_at(const QPoint& position) const;
  [[nodiscard]] int visible_rows() const;
  void move_to(int row);
  void act_on(int row, bool toggle);
  void draw_rows(QPainter& painter, const QRectF& area, const std::vector<const LegendRow*>& rows, int current) const;
  void draw_row(QPainter& painter, const QRectF& line, const LegendRow& row, const Columns& columns) const;

  LegendContent content_;
  std::set<QString> hidden_;
  int first_ = 0;     ///< First visible row.
  int current_ = -1;  ///< Row of the keyboard.
  int hovered_ = -1;
};

}  // namespace attnscope::ui

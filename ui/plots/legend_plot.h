// SPDX-License-Identifier: GPL-3.0-or-later
// A zoomable plot with a legend table, right of the axes or below them if the plot is narrow.
#pragma once

#include <qcustomplot.h>
#include <QJsonObject>
#include <QPen>
#include <QStringList>
#include <set>
#include <vector>

#include "ui/plots/plot_export.h"
#include "ui/plots/point_plot.h"

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

/// Legend of a plot as a compact table: one row per series, with its values at one position. A click isolates a series,
/// Ctrl+click toggles it, Esc shows all. Up and Down move the current row, Enter isolates it and Ctrl+Enter toggles it.
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
};

class LegendPlot : public PointPlot {
  Q_OBJECT
 public:
  [[nodiscard]] const std::set<QString>& hidden() const { return hidden_; }
  void toggle(const QString& series);
  /// Hides all other series; shows all if the others are already hidden.
  void isolate(const QString& series);
  void show_all();
  [[nodiscard]] LegendTable& legend_table() const { return *legend_; }
  virtual void reset_view() = 0;
  /// Returns whether the user has zoomed or dragged since the last reset.
  [[nodiscard]] bool is_user_zoomed() const { return is_user_zoomed_; }
  /// Zoom as {"x": [low, high], "y": [low, high]}; empty if the user has not zoomed.
  [[nodiscard]] QJsonObject zoom() const;
  /// Zoom to use once the plot is drawn; an empty or invalid one removes the zoom.
  void restore_zoom(const QJsonObject& zoom);
  /// Applies the zoom of restore_zoom(). `more`: data is still loading, so the zoom is kept for later.
  void apply_zoom(bool more);

 protected:
  explicit LegendPlot(QWidget* parent);

  /// Keys of all series that can be hidden, hidden ones included.
  [[nodiscard]] virtual QStringList series_keys() const = 0;
  [[nodiscard]] virtual LegendContent legend_content() const = 0;
  /// Shows the current values without a new drawing.
  void update_legend();
  /// Un-hides series that no longer exist.
  void draw_contents() override;
  void lay_out(const QSize& size, PlotTarget target) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  [[nodiscard]] bool is_hidden(const QString& series) const { return hidden_.contains(series); }
  /// Returns the space of title and axes in a plot of that size, without the legend.
  [[nodiscard]] QSize axes_size(const QSize& size, PlotTarget target) const;

  bool is_user_zoomed_ = false;

 private:
  class Box;
  /// Returns the size of the legend; its height is 0 if it is right of the axes.
  [[nodiscard]] QSize legend_size(const QSize& size, PlotTarget target) const;
  void handle_user_zoom();
  void place_legend();

  LegendTable* legend_;
  Box* box_ = nullptr;
  std::set<QString> hidden_;
  QJsonObject pending_zoom_;
};

}  // namespace attnscope::ui

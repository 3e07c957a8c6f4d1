// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of plots of points: title above, key below, markers with read-out, click and selection ring, and export to
// files with the source below.
#pragma once

#include <qcustomplot.h>
#include <memory>
#include <optional>
#include <vector>

#include "ui/plots/hover_overlay.h"
#include "ui/plots/plot_export.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

class PointPlot;
/// Picture of a plot with points of these runs. The plot has to outlive the picture.
[[nodiscard]] PlotPicture picture_of(PointPlot& plot, const std::vector<RunPtr>& runs);

/// Layers above all data; pictures in files do not contain them.
[[nodiscard]] QString selection_layer();
[[nodiscard]] QString selection_halo_layer();

class PointPlot : public QCustomPlot, public PlotCursor {
  Q_OBJECT
 public:
  [[nodiscard]] QString title() const { return title_text_; }
  [[nodiscard]] const QString& headline() const { return headline_text_; }
  /// Text below the axes that explains lines, bars and bands.
  [[nodiscard]] QString key() const { return key_text_; }
  /// Draws the plot for PlotPicture, without selection. `source` is the last line: source_note().
  void render(QCPPainter& painter, const QRect& area, const QString& source);

  /// Draws a ring around a point, also after later redraws. Returns whether the point is drawn now.
  bool select(const ShownPoint& point);
  /// Shows the read-out of the mark nearest to a position. Returns false if none is near.
  virtual bool hover_at(const QPointF& position);
  [[nodiscard]] QString cursor_text() const override;
  void select_cursor() override;

 signals:
  void point_clicked(const attnscope::ui::ShownPoint& point);

 protected:
  explicit PointPlot(QWidget* parent);

  struct Mark {
    QCPAxisRect* panel = nullptr;
    double x = 0;
    double y = 0;
    std::size_t series = 0;  ///< Indices into the plot's own data.
    std::size_t point = 0;
    std::vector<Row> rows;          ///< Rows of the mark; a click selects the first.
    double shift = 0;               ///< Offset in pixels to the right.
    bool is_axis_fraction = false;  ///< `y` is a fraction of the axes' height (failed points).
  };

  /// Adds graphs, `points_`, `marks_`, title and key to the cleared plot.
  virtual void draw_contents() = 0;
  [[nodiscard]] virtual HoverContent read_out(const Mark& mark) const = 0;
  /// Elides texts and lays out the legend for a plot of that size.
  virtual void lay_out(const QSize& size, PlotTarget target);
  /// Like lay_out(), after a resize; plots may drop parts that no longer fit.
  virtual void fit(const QSize& size, PlotTarget target) { lay_out(size, target); }
  /// Called after a press and a release at one position.
  virtual void click(const QMouseEvent& event);
  void rebuild();
  /// Like rebuild(), keeping the visible axis ranges.
  virtual void redraw();
  void add_mark(QCPGraph& graph, const Mark& mark);
  /// Run of a point: "quick · H200".
  [[nodiscard]] QString run_text(Row row) const;
  void add_key();
  [[nodiscard]] const Mark* mark_near(const QPointF& position) const;
  void click_mark(const Mark& mark);
  void contextMenuEvent(QContextMenuEvent* event) override;
  /// Left and Right move the cursor along a series and on to the next panel, Up and Down to another series. Enter
  /// selects.
  void keyPressEvent(QKeyEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

  std::shared_ptr<const PointSet> points_;
  std::vector<Mark> marks_;  ///< The last mark at a position is on top.
  QString headline_text_;    ///< Result in a sentence, above the title; may be empty.
  QString title_text_;
  QString key_text_;
  QCPTextElement* headline_;
  QCPTextElement* title_;
  QCPTextElement* key_ = nullptr;
  HoverOverlay* overlay_;

 private:
  bool draw_selection();
  /// Index of the mark that the cursor moves from: that of the cursor, else of the selected point.
  [[nodiscard]] std::optional<std::size_t> cursor_mark() const;
  [[nodiscard]] std::optional<std::size_t> next_mark(int key) const;
  [[nodiscard]] QPointF pixel_of(const Mark& mark) const;
  void move_cursor(std::size_t mark);

  std::optional<ShownPoint> selected_;
  std::optional<std::size_t> cursor_;  ///< Index into `marks_`.
  std::vector<QCPGraph*> rings_;       ///< Halos and rings of the selection.
  QPoint pressed_;
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// What plots of points have in common: a title above, a key below, marks that are read out under the pointer, clicked,
// and ringed where they are selected, and pictures in files, with their source below them.
#pragma once

#include <qcustomplot.h>
#include <memory>
#include <optional>
#include <vector>

#include "ui/plots/hover_overlay.h"
#include "ui/plots/plot_export.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

// A plot that is drawn once a frame, however much of it has changed since the last: QCustomPlot draws at every change
// of its size at once, and every drawing that is asked for, although another came before it, and paints each by itself.

class FramePlot : public QCustomPlot {
  Q_OBJECT
 public:
  explicit FramePlot(QWidget* parent = nullptr);

  /// QCustomPlot's, but what is queued is drawn with the next frame, of the size that the plot has by then; where none
  /// is painted, once the event loop turns.
  void replot(RefreshPriority priority = rpRefreshHint);

 protected:
  /// Drawn anew with whatever else has changed, before the next frame.
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  /// Without having it painted: for whoever is painting.
  void draw_due();

  bool due_ = false;     ///< to be drawn before it is painted
  bool queued_ = false;  ///< to be looked at once the event loop turns
};

class MarkedPlot;
/// Of what it draws, which is of these runs. The plot has to stand as long as it is drawn.
[[nodiscard]] PlotPicture picture_of(MarkedPlot& plot, const std::vector<RunPtr>& runs);

/// Above what is drawn; pictures in files go without it.
[[nodiscard]] QString selection_layer();

class MarkedPlot : public FramePlot {
  Q_OBJECT
 public:
  [[nodiscard]] QString title() const { return title_text_; }
  /// What stands below the axes: what lines, bars and bands are, as far as there are any.
  [[nodiscard]] QString key() const { return key_text_; }
  /// As PlotPicture draws it, without what is selected; `source` stands below: source_note().
  void render(QCPPainter& painter, const QRect& area, const QString& source);

  /// Rings a point wherever it is drawn, now and later; whether it is there.
  bool select(const ShownPoint& point);
  /// Shows the read-out of the mark nearest to a position; false when none is near.
  virtual bool hover_at(const QPointF& position);
  [[nodiscard]] const HoverContent* hover_content() const { return overlay_->content(); }

 signals:
  void point_clicked(const attnscope::ui::ShownPoint& point);

 protected:
  explicit MarkedPlot(QWidget* parent);

  /// A point where it is drawn.
  struct Mark {
    QCPAxisRect* panel = nullptr;
    double x = 0;
    double y = 0;
    std::size_t series = 0;  ///< places in what the plot draws
    std::size_t point = 0;
    std::vector<Row> rows;      ///< what it stands for: a click selects the first
    bool from_the_top = false;  ///< `y` is a share of the axes' height, of what gave no value
  };

  /// Adds what is to be seen, with `points_`, `marks_`, title and key; nothing of the last time is left.
  virtual void draw_contents() = 0;
  [[nodiscard]] virtual HoverContent read_out(const Mark& mark) const = 0;
  /// Cuts words, and lays a legend out, for a plot of that size.
  virtual void lay_out(const QSize& size, PlotTarget target);
  /// The same of a plot that becomes that large: one may be too low for some of its parts.
  virtual void fit(const QSize& size, PlotTarget target) { lay_out(size, target); }
  /// After a press and a release at one place.
  virtual void click(const QMouseEvent& event);
  void rebuild();
  /// rebuild(), and what is in sight stays.
  virtual void redraw();
  void add_mark(QCPGraph& graph, const Mark& mark);
  /// "quick · H200": where a point comes from.
  [[nodiscard]] QString run_words(Row row) const;
  /// Below all that stands there.
  void add_key();
  [[nodiscard]] const Mark* mark_near(const QPointF& position) const;
  void click_mark(const Mark& mark);
  /// With the right button: what a menu of the plot is about. The menu is the page's.
  void contextMenuEvent(QContextMenuEvent* event) override;
  /// Left and Right select the next point.
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

  std::shared_ptr<const PointSet> points_;  ///< what rows refer to
  std::vector<Mark> marks_;                 ///< of those at one place the last lies above the others
  QString title_text_;
  QString key_text_;
  QCPTextElement* title_;
  QCPTextElement* key_ = nullptr;
  HoverOverlay* overlay_;

 private:
  bool draw_selection();

  std::optional<ShownPoint> selected_;
  std::vector<QCPGraph*> rings_;  ///< around it
  QPoint pressed_;
};

}  // namespace attnscope::ui

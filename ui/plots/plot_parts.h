// SPDX-License-Identifier: GPL-3.0-or-later
// What plots are put together from: how axes look, lines, marks, and what lies across the axes.
#pragma once

#include <qcustomplot.h>
#include <QPainter>
#include <QWidget>
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "ui/plots/hover_overlay.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

/// From the lowest to the highest of some values.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Colours and font of an axis and its grid, of whose lines only those of the ticks are drawn.
void style_axis(QCPAxis& axis, const PlotColors& colors, const QFont& font);
/// `strength`: of 1, how opaque it is.
[[nodiscard]] QColor faded(QColor color, double strength);
[[nodiscard]] QFont bold(QFont font);
/// Where a point of the axes is on the plot.
[[nodiscard]] QPointF pixel_of(const QCPAxisRect& panel, const QPointF& point);

QCPGraph* add_line(const QCPAxisRect& panel, const QPen& pen);
/// Marks without a line.
QCPGraph* add_marks(const QCPAxisRect& panel, const QCPScatterStyle& style);
/// Marks of points, a graph for each way that they look.
class MarkGraphs {
 public:
  using Style = std::function<QCPScatterStyle(SampleMark)>;
  MarkGraphs(const QCPAxisRect& panel, Style style) : panel_(panel), style_(std::move(style)) {}
  QCPGraph& of(SampleMark mark) {
    QCPGraph*& graph = graphs_[mark];
    if (graph == nullptr) graph = add_marks(panel_, style_(mark));
    return *graph;
  }

 private:
  const QCPAxisRect& panel_;
  Style style_;
  std::map<SampleMark, QCPGraph*> graphs_;
};
/// A point of the axes, and so many pixels beside it, from the left and from the top. `from_the_top`: its y is a share
/// of the axes' height.
void put_beside(QCustomPlot& plot, QCPItemPosition* position, const QPointF& point, const QPointF& pixels,
                bool from_the_top = false);
/// A level line from side to side.
QCPItemStraightLine* add_level(QCPAxisRect& panel, double value, const QPen& pen);
/// A band from side to side, below what is drawn.
void add_band(QCPAxisRect& panel, double low, double high, const QColor& color);

// Shows that a plot has the keyboard's focus.

/// To be called at the end of a paint event: pictures in files have no focus.
inline void draw_focus_frame(QWidget& widget) {
  if (!widget.hasFocus()) return;
  constexpr double width = 2;
  QPainter painter(&widget);
  painter.setPen(QPen(plot_colors(widget.palette()).accent, width));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(widget.rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2));
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Parts shared by plots: axes, lines, markers, bands.
#pragma once

#include <qcustomplot.h>
#include <QWidget>
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "ui/plots/hover_overlay.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

/// Minimum and maximum of values.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Sets colors and font of an axis and its grid; grid lines at ticks only.
void style_axis(QCPAxis& axis, const PlotColors& colors, const QFont& font);
[[nodiscard]] QFont bold(QFont font);
[[nodiscard]] QPointF to_pixels(const QCPAxisRect& panel, const QPointF& point);

QCPGraph* add_line(const QCPAxisRect& panel, const QPen& pen);
/// Adds markers without a line.
QCPGraph* add_marks(const QCPAxisRect& panel, const QCPScatterStyle& style);
/// Markers of points, one graph per marker and shift.
class MarkerGraphs {
 public:
  using Style = std::function<QCPScatterStyle(const Sample&, double shift)>;
  MarkerGraphs(const QCPAxisRect& panel, Style style) : panel_(panel), style_(std::move(style)) {}
  /// `shift`: offset in pixels to the right.
  QCPGraph& of(const Sample& sample, double shift = 0) {
    QCPGraph*& graph = graphs_[{sample.kind, sample.identity.slot, sample.identity.variant, shift}];
    if (graph == nullptr) graph = add_marks(panel_, style_(sample, shift));
    return *graph;
  }

 private:
  const QCPAxisRect& panel_;
  Style style_;
  std::map<std::tuple<SampleKind, PlotSlot, int, double>, QCPGraph*> graphs_;
};
QCPItemStraightLine* add_level(QCPAxisRect& panel, double value, const QPen& pen);
/// Adds a horizontal band across the axes, below all data.
void add_band(QCPAxisRect& panel, double low, double high, const QColor& color);

/// Draws the keyboard focus. Call at the end of a paint event; pictures in files have no frame.
inline void draw_focus_frame(QWidget& widget) {
  if (widget.hasFocus()) draw_focus_ring(widget, widget);
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Parts shared by plots: axes, lines, bands and markers. Hue and shape of a marker show the algorithm, its fill the
// provenance. Measured and imported: filled markers, solid line. Simulated: hollow markers, dotted line. Model: thin
// line without markers. Older run: dashed line. Cannot run: cross.
#pragma once

#include <qcustomplot.h>
#include <QWidget>
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "ui/models/curve_series.h"
#include "ui/runs/point_set.h"
#include "ui/theme/sample.h"

namespace attnscope::ui {

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
QCPGraph* add_marks(const QCPAxisRect& panel, const QCPScatterStyle& style);
/// Markers of points, one graph per marker and shift.
class MarkerGraphs {
 public:
  using Style = std::function<QCPScatterStyle(const Sample&, double shift)>;
  MarkerGraphs(const QCPAxisRect& panel, Style style) : panel_(panel), style_(std::move(style)) {}
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

[[nodiscard]] Sample sample_of(const Curve& curve);
/// `shift`: offset in pixels to the right, for marks that would coincide.
[[nodiscard]] QCPScatterStyle scatter_of(const Sample& sample, const QColor& color, const QColor& background,
                                         double shift = 0);
/// Halo and ring around the selected marker, in drawing order.
[[nodiscard]] std::array<QCPScatterStyle, 2> selection_ring(const PlotColors& colors, double shift);

/// Line of a series. Model: 1 px; simulated: dotted; `dashed`: older run.
[[nodiscard]] QPen series_pen(const QColor& color, Provenance provenance, bool dashed);
[[nodiscard]] QPen curve_pen(const Curve& curve, const QColor& color);
/// Color of the algorithm or group; gray for curves of the problem alone.
[[nodiscard]] QColor curve_color(const Curve& curve, const PlotColors& colors);

/// Returns whether throttled clocks affect the curve's values; byte counts do not depend on clocks.
[[nodiscard]] bool depends_on_clocks(const Curve& curve);
/// Returns a note on throttled rows: one for a run that was mostly throttled, otherwise their number. Empty: none.
[[nodiscard]] QString throttling_note(const PointSet* points, std::span<const Row> rows);
[[nodiscard]] QFont headline_font(QFont font);
/// Font of legends and notes; smaller than the axis font.
[[nodiscard]] QFont small_font(QFont font);

}  // namespace attnscope::ui

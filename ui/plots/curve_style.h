// SPDX-License-Identifier: GPL-3.0-or-later
// Style of a curve in plot, legend and read-out: color by algorithm, line and marker by provenance. Measured: filled
// markers, solid line. Simulated: hollow discs and squares, dotted line. Imported: hollow diamonds and triangles,
// dash-dotted line. Theory: dashed line without markers. Throttled: half-filled disc. Extrapolated: plus in a hollow
// marker. Second to fourth run of one color: hollow markers with a stroke.
#pragma once

#include <qcustomplot.h>

#include "ui/models/curve_series.h"
#include "ui/plots/hover_overlay.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

inline constexpr double disc_size = 7.5;     ///< Marker diameter in pixels.
inline constexpr double path_unit_size = 6;  ///< Marker size at which QCPScatterStyle draws path units as pixels.

[[nodiscard]] QPen curve_pen(const Curve& curve, const QColor& color);
[[nodiscard]] SampleMark mark_of(const Curve& curve);
/// Ring around the marker of the selected point.
[[nodiscard]] QCPScatterStyle selection_ring(const QColor& color);
/// Marker of one point; differs for throttled and extrapolated points.
[[nodiscard]] SampleMark mark_of(const Curve& curve, const CurvePoint& point);
/// Marker of values that belong to no curve.
[[nodiscard]] SampleMark mark_of_values(Provenance provenance);
[[nodiscard]] QCPScatterStyle scatter_of(const Curve& curve, const QColor& color, const QColor& background);
[[nodiscard]] QCPScatterStyle scatter_of(SampleMark mark, const QColor& color, const QColor& background);
/// Color of the algorithm (one shade per device), or of the device or owner (Curve::hue). Paler for older runs; muted
/// for curves of the problem alone.
[[nodiscard]] QColor curve_color(const Curve& curve, const PlotColors& colors);
/// Returns whether throttled clocks affect the curve's values; byte counts do not depend on clocks.
[[nodiscard]] bool depends_on_clocks(const Curve& curve);
[[nodiscard]] QString throttled_text();
[[nodiscard]] QString extrapolated_text();
/// Kind of the curve without its owner: "DRAM · measured".
[[nodiscard]] QString style_text(const Curve& curve);
/// Font of legends and notes; smaller than the axis font.
[[nodiscard]] QFont small_font(QFont font);

}  // namespace attnscope::ui

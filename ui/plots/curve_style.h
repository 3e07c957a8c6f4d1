// SPDX-License-Identifier: GPL-3.0-or-later
// How a curve looks, in the plot, its legend and its read-out: colour by algorithm, stroke and mark by what the values
// are. Measured: filled marks on solid lines. Simulated: hollow discs and squares on dotted lines. Imported: hollow
// diamonds and triangles on dash-dotted lines. Theory: dashed lines without marks. Throttled clocks: half-filled discs.
// Extrapolated: a plus in the hollow mark. A second, third or fourth run of one colour: hollow marks that are struck.
#pragma once

#include <qcustomplot.h>

#include "ui/models/curve_series.h"
#include "ui/plots/hover_overlay.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

inline constexpr double disc_size = 7.5;     ///< diameter of a mark, in pixels
inline constexpr double path_unit_size = 6;  ///< the size at which QCPScatterStyle draws a path's units as pixels

[[nodiscard]] QPen curve_pen(const Curve& curve, const QColor& color);
[[nodiscard]] SampleMark mark_of(const Curve& curve);
/// Around the mark of the point that is selected.
[[nodiscard]] QCPScatterStyle selection_ring(const QColor& color);
/// The mark of one of its points, which tells throttled and extrapolated ones.
[[nodiscard]] SampleMark mark_of(const Curve& curve, const CurvePoint& point);
/// The mark of a value that belongs to no curve.
[[nodiscard]] SampleMark mark_of_values(Provenance provenance);
[[nodiscard]] QCPScatterStyle scatter_of(const Curve& curve, const QColor& color, const QColor& background);
[[nodiscard]] QCPScatterStyle scatter_of(SampleMark mark, const QColor& color, const QColor& background);
/// The algorithm's colour, in a shade for each of several devices, or the device's or owner's own (Curve::hue); paler
/// for an older run; muted for what belongs to the problem alone.
[[nodiscard]] QColor curve_color(const Curve& curve, const PlotColors& colors);
/// Whether throttled clocks change what the curve shows: bytes do not depend on them.
[[nodiscard]] bool slowed_by_clocks(const Curve& curve);
[[nodiscard]] QString throttled_words();
[[nodiscard]] QString extrapolated_words();
/// Kind of curve without its owner: "DRAM · measured".
[[nodiscard]] QString style_words(const Curve& curve);
/// Legends and notes are a little smaller than the axes.
[[nodiscard]] QFont small_font(QFont font);

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Markers and lines of plots, legends and read-outs: hue and shape by algorithm, fill by provenance. Measured and
// imported: filled markers, solid line. Simulated: hollow markers, dotted line. Model: thin line without markers. Older
// run: dashed line. Cannot run: cross.
#pragma once

#include <qcustomplot.h>
#include <array>
#include <span>

#include "ui/models/curve_series.h"
#include "ui/runs/point_set.h"
#include "ui/theme/sample.h"

namespace attnscope::ui {

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
/// Font of a page's result in a sentence.
[[nodiscard]] QFont headline_font(QFont font);
/// Font of legends and notes; smaller than the axis font.
[[nodiscard]] QFont small_font(QFont font);

}  // namespace attnscope::ui

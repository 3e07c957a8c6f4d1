// SPDX-License-Identifier: GPL-3.0-or-later
// Markers of legends, read-outs and tables: hue and shape by algorithm, fill by provenance.
#pragma once

#include <QPainterPath>
#include <QPen>
#include <QPixmap>
#include <string_view>

#include "ui/theme/theme.h"

namespace attnscope::ui {

enum class SampleKind { none, filled, hollow, line };
/// Marker or line of a series, without its color.
struct Sample {
  SampleKind kind = SampleKind::none;
  style::PlotIdentity identity = {};
  bool operator==(const Sample&) const = default;
  [[nodiscard]] bool is_marker() const { return kind == SampleKind::filled || kind == SampleKind::hollow; }
};

/// Filled: measured, derived and imported; hollow: simulated; line: modeled.
[[nodiscard]] Sample sample_of(Provenance provenance, style::PlotIdentity identity);

/// Outline around (shift, 0), in pixels.
[[nodiscard]] QPainterPath marker_path(style::PlotIdentity identity, double shift = 0);
[[nodiscard]] QPen marker_outline_pen(const QColor& color);
/// Draws line and marker of a series; the marker has the color of the line.
void draw_sample(QPainter& painter, const QRectF& where, const Sample& sample, const QPen& line,
                 const QColor& background);
/// Marker of an algorithm in tables, in the colors of the application.
[[nodiscard]] QPixmap algorithm_marker(std::string_view algorithm, Provenance provenance);

}  // namespace attnscope::ui

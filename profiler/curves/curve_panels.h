// SPDX-License-Identifier: Apache-2.0
// Places curves in panels: one per GPU, and one per run if an algorithm has more than two in a panel.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "profiler/curves/curves.h"

namespace attnscope::analysis {

inline constexpr std::size_t max_panels = 6;
/// Panels whose values differ by less are one panel: "H100 = H200".
inline constexpr double equal_panels = 0.01;
/// Margin band of ratios.
inline constexpr double ratio_margin = 0.03;

/// Sets CurvePlace of all curves and failed points, and CurveSet::panels. Drops panels beyond max_panels.
void arrange_curves(CurveSet&);

/// Key of the legend row of a curve: equal for a measured curve in all panels; empty for curves of no algorithm. A
/// model has the key of the newest measured curve of its algorithm.
[[nodiscard]] std::string series_key(const Curve&);
/// Returns the point at `n`; nullptr if there is none.
[[nodiscard]] const CurvePoint* point_at(const Curve&, double n);
/// Exponent of growth between the preceding point and `n`: log(value ratio) / log(n ratio).
[[nodiscard]] std::optional<double> slope_at(const Curve&, double n);

/// Values of a later panel, or of the older run in a panel, over those of the first, at common N.
struct RatioCurve {
  std::size_t curve = 0;  ///< index in CurveSet::curves of the numerator
  struct Point {
    double n = 0;
    double ratio = 0;
    Row row = 0;
  };
  std::vector<Point> points;
};
[[nodiscard]] std::vector<RatioCurve> ratio_curves(const CurveSet&);
/// Returns the panels' titles, with devices shortened to the first word if it is unique: "H100" for "H100 80GB HBM3".
[[nodiscard]] std::vector<std::string> short_panel_titles(const CurveSet&);
/// Title of the ratio: "H100 / H200"; "ratio to H200" if there are more than two panels; "older / newer run".
[[nodiscard]] std::string ratio_title(const CurveSet&);

}  // namespace attnscope::analysis

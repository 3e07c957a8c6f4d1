// SPDX-License-Identifier: Apache-2.0
// Labels of curves, and their places in panels: one per GPU, and one per run if an algorithm has more than two in a
// panel.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/curves/curves.h"

namespace attnscope::analysis {

inline constexpr std::size_t max_panels = 6;
/// Panels whose values differ by less are one panel: "H100 = H200".
inline constexpr double equal_panels = 0.01;
/// Margin band of ratios.
inline constexpr double ratio_margin = 0.03;

/// Sets CurvePlace of all curves and failed points, and CurveSet::panels. Panels with a run of `baseline` come first.
/// Drops panels beyond `most`.
void arrange_curves(CurveSet&, const std::set<RunIndex>& baseline = {}, std::size_t most = max_panels);

/// Key of the legend row of a curve: equal for a measured curve in all panels; empty for curves of no algorithm. A
/// model has the key of the newest measured curve of its algorithm.
[[nodiscard]] std::string series_key(const Curve&);
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

/// Sets the label of every curve.
void name_curves(CurveSet&);

/// Returns the legend name of an algorithm: "FA2", "Split-KV"; unknown algorithms keep their name.
[[nodiscard]] std::string algorithm_title(std::string_view name);
/// Returns the owner of a curve, with label and device where needed: "FA2 (torch 2.8) on H200".
[[nodiscard]] std::string owner_title(const SeriesName&);
/// Returns the title of the plotted quantity: "DRAM", "time", "Achieved occupancy".
[[nodiscard]] std::string quantity_title(const Curve&);
[[nodiscard]] std::string quantity_title(Quantity);
/// Returns the first line of the curve's label, with the provenance of this point: "FA2 · DRAM · simulated,
/// extrapolated".
[[nodiscard]] std::string label_of(const Curve&, const CurvePoint&);
/// Compares the largest and the smallest measured series at the largest N that most of them have: "Naive moves 64.8×
/// the DRAM bytes of FA3 at N 8192." Empty if fewer than two series have a common N, or
/// if they are equal.
[[nodiscard]] Message headline(const CurveSet&);
/// Returns axis and value: "N 4096", "Br 64", "Mask causal".
[[nodiscard]] std::string position_text(const CurveSet&, double n);
/// Returns the value at position n of an axis without numbers (CurveSet::places).
[[nodiscard]] std::string position_value(const CurveSet&, double n);
/// Returns tile and knobs: "128 × 64, warps 4".
[[nodiscard]] std::string tile_description(const Config&);
/// Returns "warps 4" or "causal".
[[nodiscard]] std::string knob_label(std::string_view name, const KnobValue&);

}  // namespace attnscope::analysis

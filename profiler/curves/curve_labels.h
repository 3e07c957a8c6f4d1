// SPDX-License-Identifier: Apache-2.0
// Labels of curves.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "profiler/curves/curves.h"

namespace attnscope::analysis {

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

// SPDX-License-Identifier: Apache-2.0
// What curves are called, and how those of one picture are told apart: their colours, shades and marks.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "profiler/curves/curves.h"

namespace attnscope::analysis {

/// Gives every curve its label and look. `colors`: of devices or owners, after which they repeat.
void name_curves(CurveSet&, int colors);

/// "FA2 (torch 2.8) on H200": whose curve it is, as far as that has to be said.
[[nodiscard]] std::string owner_words(const SeriesName&);
/// "DRAM", "time", "Achieved occupancy": what a curve shows.
[[nodiscard]] std::string quantity_words(const Curve&);
[[nodiscard]] std::string quantity_words(Quantity);
/// The first line of the curve's label, with what its point is instead of what most are: "FA2 · DRAM · simulated,
/// extrapolated".
[[nodiscard]] std::string label_of(const Curve&, const CurvePoint&);
/// "N 4096", "Br 64", "Mask causal": a place of the abscissa.
[[nodiscard]] std::string place_words(const CurveSet&, double n);
/// The value there of an axis whose values are words (CurveSet::places).
[[nodiscard]] std::string word_at(const CurveSet&, double n);
/// "128 × 64, warps 4": a tile with its knobs.
[[nodiscard]] std::string tile_words(const Config&);
/// "warps 4", "causal".
[[nodiscard]] std::string knob_words(std::string_view name, const KnobValue&);

}  // namespace attnscope::analysis

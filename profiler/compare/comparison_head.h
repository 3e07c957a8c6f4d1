// SPDX-License-Identifier: Apache-2.0
// Sentences that sum up a comparison. Internal to profiler/compare.
#pragma once

#include <string>

#include "profiler/compare/comparison_view.h"

namespace attnscope::analysis {

/// Returns "r2 against r1: 9 of 77 configurations are SLOWER, by 2.6 to 3.4% (fa2, d 128). 56 SAME, 12 UNDECIDED.
/// Geometric mean 1.004 [1.001, 1.008]." Needs counts, left_out and answers of the view.
[[nodiscard]] Message head_of(const ComparisonView&);
/// Returns "Also differs: driver 570.1 → 580.2; tile in 41 rows."; empty if nothing does.
[[nodiscard]] Message differences_of(const ComparisonView&);
/// Sets `decide` and `command` of the view.
void set_deciding_command(ComparisonView&);

/// Returns whether Attnscope measured both sides and can do so again.
[[nodiscard]] bool can_measure(const PointTable&, const ComparedPair&);
/// Returns whether one process can measure both sides in the same rounds: different points of one GPU.
[[nodiscard]] bool can_interleave(const PointTable&, const ComparedPair&);

}  // namespace attnscope::analysis

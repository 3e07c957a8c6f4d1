// SPDX-License-Identifier: Apache-2.0
// Sentences and columns of a comparison view. Internal to profiler/compare.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "messages/difference.h"
#include "profiler/compare/comparison_view.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {

/// Returns "tile 128x64 → 64x64; stages 2 → 3". `wanted`: selects differences by key.
template <class Wanted>
std::string change_text(const PointTable& points, const ComparedPair& pair, Wanted wanted) {
  std::vector<std::string> words;
  for (const PointDifference& each : point_differences(points, pair)) {
    if (!wanted(each.key)) continue;
    words.push_back(text(msg::difference::change{.base = each.base, .name = each.name, .other = each.other}));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

/// Returns "1.530 ms": with one digit more than usual, so that two times divide to their ratio.
inline std::string precise_text(double ns) {
  constexpr int digits = 4;
  const UnitScale scale = unit_scale(ns, "ns");
  return fmt::format("{} {}", number_text(ns * scale.factor, digits), scale.suffix);
}

/// Columns of changes, and the fields with their values.
inline constexpr std::array change_columns{std::pair("min_slowdown", &ComparisonAnswer::slower_by),
                                           std::pair("min_speedup", &ComparisonAnswer::faster_by),
                                           std::pair("min_detectable_median", &ComparisonAnswer::detectable),
                                           std::pair("min_detectable_worst", &ComparisonAnswer::detectable_at_worst)};

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

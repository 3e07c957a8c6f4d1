// SPDX-License-Identifier: Apache-2.0
// Rows of the strip chart of ratios, the same in window and report.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "profiler/compare/comparison_view.h"

namespace attnscope::analysis {

struct StripGroup {
  std::string label;  ///< "FA2 d 128"; with the candidate's name if there are several
  std::string algorithm;
  std::vector<std::size_t> lines;  ///< indices of pairs with a known ratio
};
/// Groups pairs by candidate, algorithm and, with `by_d`, d; sorted in this order.
[[nodiscard]] std::vector<StripGroup> strip_groups(const ComparisonView&, std::span<const ComparisonLine>, bool by_d);

/// Lanes of a row: 0 in the middle, then -1, 1, -2, 2.
inline constexpr int strip_lane_count = 5;
/// Returns the lane of each mark. Marks closer than `spacing` have different lanes as long as one is free.
[[nodiscard]] std::vector<int> strip_lanes(const std::vector<double>& x, double spacing);

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
// What the lesson draws of several algorithms over N, and of one over N, d and M.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/claims.h"

namespace attnscope::analysis::lesson {

/// Algorithms of one run at problems that differ in N alone: forward, without a mask, as many queries as keys.
struct LengthCurves {
  RunIndex run = 0;
  AttentionProblem like{};              ///< of the first N
  std::vector<std::int64_t> lengths{};  ///< ascending
  /// Of each algorithm that was asked for, in that order, and of each N the fastest tile that has the metrics.
  std::vector<std::vector<std::optional<Row>>> rows{};
};
/// Of the runs and problems of that d the one with the most of these algorithms, then with the most points that have a
/// time and the metric; nothing where there are fewer than two algorithms.
[[nodiscard]] std::optional<LengthCurves> length_curves(const Evidence&, std::span<const Algorithm* const>,
                                                        std::int64_t d, std::string_view metric);

/// Points of a family that differ in one of N, d and M alone.
struct LawSlice {
  LawVariable variable = LawVariable::n;
  std::vector<LawPoint> points{};  ///< ascending by the variable
};
/// A family that has exponents, with the most points, and of it a slice for each of N, d and M.
struct LawSlices {
  LawFamily family{};
  std::array<LawSlice, law_variables> slices{};
};
/// Of the algorithm, between SM and L2; nothing where no sweep of the three was recorded.
[[nodiscard]] std::optional<LawSlices> law_slices(const Evidence&, std::string_view algorithm);

}  // namespace attnscope::analysis::lesson

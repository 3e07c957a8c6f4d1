// SPDX-License-Identifier: Apache-2.0
// What a comparison says, line by line: each point that both sides have, with its verdict, and what only one has.
// Points and results have to outlive the tables.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/compare/comparison.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// A pair, or what is left out.
struct ComparisonLine {
  std::size_t other = 0;  ///< place of the side that is held to the baseline, where there are several
  const ComparedPair* pair = nullptr;
  const LeftOut* left = nullptr;
  std::size_t member = 0;  ///< of what is left out: which of its rows

  /// The point of the baseline, or of the other side.
  [[nodiscard]] std::optional<Row> point(bool of_other) const;
};
/// A line for each pair.
void add_pairs(std::vector<ComparisonLine>&, const ComparisonResult&, std::size_t other = 0);
/// A line for each that is left out, or for each of its rows.
void add_left_out(std::vector<ComparisonLine>&, const ComparisonResult&, std::size_t other = 0, bool each_row = false);

/// What lines are of.
struct ComparisonOf {
  const PointTable* points = nullptr;
  double margin = 0.01;
  std::vector<std::string> others = {};  ///< names of the sides that are held to the baseline
};

/// What one wants to see first is least: regressions, what got better, what is open, what stayed; within a verdict the
/// largest change, and of what is open what may be a regression.
[[nodiscard]] double verdict_order(const RowVerdict&);

/// For people: verdict, point, ratio, times, cycles, bytes, rounds and what would settle it.
[[nodiscard]] Table comparison_table(std::vector<ComparisonLine>, const ComparisonOf&);
/// For programs. `files`: by run.
[[nodiscard]] Table comparison_data(std::vector<ComparisonLine>, const ComparisonOf&,
                                    std::span<const std::string> files);
/// In what the circumstances differ, for people and programs.
[[nodiscard]] Table difference_table(const ComparisonResult&);
/// The same for programs, in English.
[[nodiscard]] Table difference_data(const ComparisonResult&);
/// For people: what is left out of one result, and why.
[[nodiscard]] Table left_out_table(const PointTable&, const ComparisonResult&);

}  // namespace attnscope::analysis

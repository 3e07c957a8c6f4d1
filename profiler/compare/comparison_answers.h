// SPDX-License-Identifier: Apache-2.0
// What a comparison comes to, before its rows: did anything change, by how much at least, and the smallest change that
// these recordings could have shown.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kernels/model/attention.h"
#include "profiler/compare/comparison.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// So many recordings or rounds settle so many rows; 0 rows: none.
struct Settling {
  std::size_t times = 0;
  std::size_t rows = 0;
};
/// `needed`: what each row needs.
[[nodiscard]] Settling settling(std::vector<std::size_t> needed);

/// Of pairs that are told together. Changes are relative: 0.05 is 5%, up or down.
struct ComparisonAnswer {
  std::string algorithm;  ///< of the other side, by its short title; empty: of all
  Pass pass = Pass::fwd;
  std::array<std::size_t, 4> verdicts{};  ///< by Verdict
  std::size_t points = 0;
  /// Geometric mean of the points' ratios, with an interval that covers the mean of these very points. Errors of points
  /// measured in the same rounds are independent, so the half-widths' root of squares is divided by the number of
  /// points. Separate recordings and several sides of one baseline may move all points alike, and where the spread is
  /// not known nothing is: there half-widths are averaged.
  RatioInterval mean;
  double margin = 0;  ///< that the verdicts are of; with several, the widest
  /// Of the points called SLOWER (FASTER) the largest RowVerdict::sure above the margin; 0 without one, and of
  /// computed sides.
  double slower_by = 0;
  double faster_by = 0;
  /// The change that a point by itself would have shown 9 times of 10: the median point, and the worst. 0 where both
  /// sides were computed.
  double detectable = 0;
  double detectable_at_worst = 0;
  /// Of what is UNDECIDED: what settles nine of ten rows that anything settles, each 9 times of 10.
  Settling by_recordings;  ///< recordings of either side, of rows that no process can measure in turns
  Settling by_rounds;      ///< rounds of one recording with both sides
};

/// One for each algorithm and pass of the other side, by their names; with several, one of all comes first. Pre: the
/// results are of the table.
[[nodiscard]] std::vector<ComparisonAnswer> comparison_answers(const PointTable&,
                                                               std::span<const ComparisonResult* const>);
[[nodiscard]] std::vector<ComparisonAnswer> comparison_answers(const PointTable&, const ComparisonResult&);
/// For people.
[[nodiscard]] Table answer_table(std::vector<ComparisonAnswer>);
/// For programs.
[[nodiscard]] Table answer_data(std::vector<ComparisonAnswer>);
/// What two sides are called.
struct SideNames {
  std::string other;
  std::string base;
};
/// In up to six sentences.
struct AnswerWords {
  Message answer;
  std::vector<Message> more;
};
[[nodiscard]] AnswerWords answer_words(const ComparisonAnswer&, const SideNames&);

}  // namespace attnscope::analysis

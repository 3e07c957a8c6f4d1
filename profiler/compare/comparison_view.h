// SPDX-License-Identifier: Apache-2.0
// A comparison as people and programs read it, computed once: the answer, the counts, the evidence, the method, and a
// line per point. Terminal, JSON, JUnit, CSV, window and report print it.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/model/attention.h"
#include "profiler/compare/comparison.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// A candidate and the baseline that it is compared with.
struct ComparedSide {
  std::string base;
  std::string name;
  Alignment alignment;
  ComparisonResult result;
};

/// So many recordings or rounds settle so many rows; 0 rows: none.
struct Settling {
  std::size_t times = 0;
  std::size_t rows = 0;
};
/// Enough for nine of ten rows. `needed`: by row.
[[nodiscard]] Settling settling(std::vector<std::size_t> needed);

/// Several pairs together. Changes are relative: 0.05 is 5%, up or down.
struct ComparisonAnswer {
  std::string algorithm;  ///< of the candidate, by its short title; empty: of all
  Pass pass = Pass::fwd;
  std::array<std::size_t, 4> verdicts{};  ///< by Verdict
  std::size_t points = 0;
  /// Geometric mean of the points' ratios, with an interval that covers the mean of these very points. Errors of points
  /// measured in the same rounds are independent, so the half-widths' root of squares is divided by the number of
  /// points. Separate recordings and several candidates of one baseline may move all points alike, and where the spread
  /// is not known nothing is: there half-widths are averaged.
  RatioInterval mean;
  double margin = 0;  ///< of the verdicts; the widest of several
  /// Of the points called SLOWER (FASTER) the largest RowVerdict::sure above the margin; 0 without one, and of
  /// computed sides.
  double slower_by = 0;
  double faster_by = 0;
  /// Minimum detectable change per point at 90% power: of the median point, and of the worst. 0: both sides computed.
  double detectable = 0;
  double detectable_at_worst = 0;
  Settling by_recordings;  ///< recordings per side, of rows that no process can measure interleaved
  Settling by_rounds;      ///< rounds of one recording with both sides
};

/// A pair, or rows that are not compared.
struct ComparisonLine {
  std::size_t side = 0;
  const ComparedPair* pair = nullptr;
  const LeftOut* left = nullptr;
  std::size_t member = 0;  ///< of `left`: which of its rows

  /// The point of the baseline, or of the candidate.
  [[nodiscard]] std::optional<Row> point(bool of_other) const;
};

struct ComparisonView {
  const PointTable* points = nullptr;  ///< outlives the view
  std::vector<std::shared_ptr<const ComparedSide>> sides;
  double margin = usual_margin_paired;  ///< of all verdicts
  double level = 0.05;
  std::size_t looks = 1;

  std::array<std::size_t, 4> counts{};  ///< by Verdict
  std::size_t left_out = 0;
  /// One per algorithm and pass of the candidates, by their names; with several, one of all comes first.
  std::vector<ComparisonAnswer> answers = {};

  Message answer = {};                 ///< verdicts and mean ratio in one line; empty without a pair
  std::vector<Message> evidence = {};  ///< minimum detectable change, what would settle the rest
  std::vector<Message> method = {};    ///< alignment, margin and correction
  std::vector<Message> spreads = {};   ///< what the intervals are made of

  [[nodiscard]] std::size_t count(Verdict verdict) const { return counts.at(static_cast<std::size_t>(verdict)); }
  [[nodiscard]] std::size_t pairs() const;
  /// The same of one candidate alone.
  [[nodiscard]] ComparisonView only(std::size_t side) const;

  enum class Lines { pairs, all, each_row };
  /// A line per pair; with `all` then one per LeftOut, with `each_row` one per row of it.
  [[nodiscard]] std::vector<ComparisonLine> lines(Lines) const;
};

/// The rows of one candidate and of its baseline.
struct SideRows {
  std::string base_name;
  std::string name;
  std::span<const Row> base;
  std::span<const Row> other;
  Alignment alignment;
};
struct ViewRequest {
  std::vector<SideRows> sides;
  std::optional<double> margin = {};  ///< of all sides; none: the widest usual margin that any of them needs
  std::size_t looks = 1;
  std::vector<RunConditions> conditions = {};  ///< by run of the table
  bool matched_only = false;                   ///< drops sides without a common point, unless no side has one
  std::function<bool()> cancelled = {};        ///< asked between sides
};
/// No sides once it is cancelled.
[[nodiscard]] ComparisonView view_of(const PointTable&, const ViewRequest&);
/// Of results that are there already.
[[nodiscard]] ComparisonView view_of(const PointTable&, std::vector<std::shared_ptr<const ComparedSide>> sides,
                                     std::size_t looks = 1);
/// Whether some point is on both sides, whatever came of it.
[[nodiscard]] bool has_common_point(const ComparisonResult&);

// Sentences and words.

/// "FASTER"
[[nodiscard]] Message verdict_title(Verdict);
/// "0.9520 [0.9490, 0.9550]", "[0.9490, 0.9550; assumed]" where it is; without an interval where there is none.
[[nodiscard]] std::string ratio_text(const RatioInterval&);
/// The command that would settle a pair; empty for one that is decided, that rounds would not decide, or that this
/// program cannot measure.
[[nodiscard]] std::string settling_command(const PointTable&, const ComparedPair&, double margin);
/// Why a pair is undecided, and what would settle it; empty for one that is decided.
[[nodiscard]] Message settling_words(const PointTable&, const ComparedPair&, double margin);
/// Why rows are not compared.
[[nodiscard]] Message left_out_words(const PointTable&, const LeftOut&);

// Tables. They refer to the view's points and sides.

/// Sorting key: SLOWER, FASTER, UNDECIDED, SAME; within a verdict the largest change first, of UNDECIDED the largest
/// ratio.
[[nodiscard]] double verdict_order(const RowVerdict&);
/// For people: verdict, point, ratio, times, cycles, bytes, rounds and what would settle it.
[[nodiscard]] Table comparison_table(const ComparisonView&, std::vector<ComparisonLine>);
/// For programs: each pair, then each row that is not compared. `files`: by run.
[[nodiscard]] Table comparison_data(const ComparisonView&, std::span<const std::string> files);
/// For people, and for programs: without translation.
[[nodiscard]] Table difference_table(const ComparisonResult&);
[[nodiscard]] Table difference_data(const ComparisonResult&);
/// For people: what is not compared, and why.
[[nodiscard]] Table left_out_table(const ComparisonView&);
[[nodiscard]] Table answer_table(const ComparisonView&);
/// For programs.
[[nodiscard]] Table answer_data(const ComparisonView&);

}  // namespace attnscope::analysis

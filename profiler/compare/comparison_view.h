// SPDX-License-Identifier: Apache-2.0
// View of a comparison, computed once: answer, counts, evidence, method, and one line per point. Printed by terminal,
// JSON, JUnit, CSV, window and report.
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

struct ComparedSide {
  std::string base;
  std::string name;
  Alignment alignment;
  ComparisonResult result;
};

/// Number of recordings or rounds that decide `rows` undecided rows; 0 rows if there are none.
struct RequiredSamples {
  std::size_t times = 0;
  std::size_t rows = 0;
};
/// Returns the number sufficient for 90% of the rows. `needed`: per row.
[[nodiscard]] RequiredSamples required_samples(std::vector<std::size_t> needed);

/// Summary of several pairs. Changes are relative: 0.05 is 5% in either direction.
struct ComparisonAnswer {
  std::string algorithm;  ///< short title of the candidate's algorithm; empty for the total
  Pass pass = Pass::fwd;
  std::array<std::size_t, 4> verdicts{};  ///< index: Verdict
  std::size_t points = 0;
  std::size_t problems = 0;  ///< distinct problems and algorithms
  /// Geometric mean over problems (of the rows of each), with an interval for the mean of these points. Paired points
  /// have independent errors, so their half-widths are added in quadrature. Half-widths of separate recordings, of
  /// several candidates of one baseline, and of unknown spread are averaged, because their errors may be correlated.
  RatioInterval mean;
  double margin = 0;  ///< margin of all verdicts
  /// Largest RowVerdict::certain_change above the margin among SLOWER (FASTER) points; 0 if none or if both sides are
  /// computed.
  double slower_by = 0;
  double faster_by = 0;
  /// Minimum detectable change per point at 90% power: median and worst point. 0 if both sides are computed.
  double detectable = 0;
  double detectable_at_worst = 0;
  RequiredSamples by_recordings;  ///< recordings per side, for rows that cannot be interleaved
  RequiredSamples by_rounds;      ///< rounds of one interleaved recording
};

/// A pair or an excluded row.
struct ComparisonLine {
  std::size_t side = 0;
  const ComparedPair* pair = nullptr;
  const SkippedRows* left = nullptr;
  std::size_t member = 0;  ///< index into `left->rows`

  /// Returns the row of the candidate (`of_other`) or of the baseline, if any.
  [[nodiscard]] std::optional<Row> point(bool of_other) const;
  /// Returns the row of the candidate if there is one, else that of the baseline.
  [[nodiscard]] Row example() const { return pair != nullptr ? pair->other.front() : left->rows[member]; }
};

struct ComparisonView {
  const PointTable* points = nullptr;  ///< outlives the view
  std::vector<std::shared_ptr<const ComparedSide>> sides;
  double margin = default_margin_paired;
  double level = 0.05;
  std::size_t looks = 1;

  std::array<std::size_t, 4> counts{};  ///< index: Verdict
  std::size_t left_out = 0;
  /// One per algorithm and pass of the candidates, sorted by name; preceded by the total if there are several.
  std::vector<ComparisonAnswer> answers = {};

  Message answer = {};                 ///< verdicts and mean ratio in one line; empty without a side
  Message tally = {};                  ///< number of rows per verdict, and of those not compared
  std::vector<Message> evidence = {};  ///< minimum detectable change, and the effort to decide the remaining points
  Message differences = {};            ///< other differences, in one line; empty if nothing does
  std::string command = {};            ///< measures all UNDECIDED rows again; empty if no single command does
  Message decide = {};                 ///< how to use the command; empty without one
  std::vector<Message> method = {};    ///< alignment, margin and correction
  std::vector<Message> spreads = {};   ///< sources of the intervals' width

  [[nodiscard]] std::size_t count(Verdict verdict) const { return counts.at(static_cast<std::size_t>(verdict)); }
  [[nodiscard]] std::size_t pairs() const;
  [[nodiscard]] ComparisonView select_side(std::size_t side) const;

  enum class Lines { pairs, all, each_row };
  /// Returns one line per pair; with `all` also one per SkippedRows, with `each_row` one per excluded row.
  [[nodiscard]] std::vector<ComparisonLine> lines(Lines) const;
  [[nodiscard]] std::vector<ComparisonLine> worst_first() const;
};

struct SideRows {
  std::string base_name;
  std::string name;
  std::span<const Row> base;
  std::span<const Row> other;
  Alignment alignment;
};
struct ViewRequest {
  std::vector<SideRows> sides;
  std::optional<double> margin = {};  ///< for all sides; default: the widest default margin that any side needs
  std::size_t looks = 1;
  std::vector<RunConditions> conditions = {};  ///< index: run of the table
  bool hide_unmatched = false;                 ///< drops sides without common points, unless no side has any
  std::function<bool()> cancelled = {};        ///< polled between sides
};
/// Returns a view without sides if cancelled.
[[nodiscard]] ComparisonView view_of(const PointTable&, const ViewRequest&);
/// Builds the view from existing results.
[[nodiscard]] ComparisonView view_of(const PointTable&, std::vector<std::shared_ptr<const ComparedSide>> sides,
                                     std::size_t looks = 1);
/// Returns whether any point is on both sides, even if it failed.
[[nodiscard]] bool has_match(const ComparisonResult&);

[[nodiscard]] Message verdict_title(Verdict);
/// Returns "0.952 [0.949, 0.955]", with ", assumed" in the brackets if it is and `names_assumed`; without brackets if
/// there is no interval.
[[nodiscard]] std::string ratio_text(const RatioInterval&, bool names_assumed = true);
/// Returns the command that would decide a pair. Empty if the pair has a verdict, more rounds would not decide it, or
/// Attnscope cannot measure it.
[[nodiscard]] std::string suggested_command(const PointTable&, const ComparedPair&, double margin);
/// Returns why a pair is UNDECIDED and how to decide it. Empty if it has a verdict.
[[nodiscard]] Message undecided_note(const PointTable&, const ComparedPair&, double margin);
[[nodiscard]] Message skip_reason(const PointTable&, const SkippedRows&);

// Tables. They refer to the view's points and sides, which must outlive them.

/// Returns the sort key: SLOWER, FASTER, UNDECIDED, SAME. Within a verdict the largest change comes first, for
/// UNDECIDED the largest ratio.
[[nodiscard]] double verdict_order(const RowVerdict&);
struct FactoredTable {
  Table table;
  Message common = {};  ///< values that all rows share, which have no column: "All rows: fwd, full, fp16."
};
/// For display: verdict, ratio, settings in which the rows differ, times that divide to the ratio, other differences,
/// cycles, bytes, rounds, and the reason of an excluded row.
[[nodiscard]] FactoredTable comparison_table(const ComparisonView&, std::vector<ComparisonLine>);
/// For display: one row per point of the baseline with its time, and one column of ratios and verdicts per candidate,
/// worst first.
[[nodiscard]] FactoredTable candidates_table(const ComparisonView&);
/// For export: the same with intervals; columns end with the number of the candidate, from 1.
[[nodiscard]] Table candidates_data(const ComparisonView&);
/// For export: one row per pair, then one per excluded row. `files`: by run.
[[nodiscard]] Table comparison_data(const ComparisonView&, std::span<const std::string> files);
/// For display, and for export (English only).
[[nodiscard]] Table difference_table(const ComparisonResult&);
[[nodiscard]] Table difference_data(const ComparisonResult&);
/// For display: excluded rows with reasons; the number of rows per reason.
[[nodiscard]] Table skipped_table(const ComparisonView&);
[[nodiscard]] Table skipped_summary(const ComparisonView&);
[[nodiscard]] Table answer_table(const ComparisonView&);
[[nodiscard]] Table answer_data(const ComparisonView&);

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

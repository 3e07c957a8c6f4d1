// SPDX-License-Identifier: Apache-2.0
// Compares two sides point by point: matched and unmatched points, times with ratio and verdict, bytes per memory
// level, and differences in measurement conditions. A side is any set of table rows (run, file, device, algorithm or
// tile).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/compare/alignment.h"
#include "profiler/points/point_table.h"
#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {

/// Conditions of a run by name, such as "driver" and "580.65". Listed if they differ between the sides.
using RunConditions = std::vector<std::pair<Message, Message>>;

struct ComparisonRequest {
  std::vector<Row> base;
  std::vector<Row> other;
  Alignment alignment;
  std::optional<double> margin = {};           ///< default: depends on how the sides were recorded
  std::size_t looks = 1;                       ///< number of interim analyses, see VerdictOptions
  std::vector<RunConditions> conditions = {};  ///< by run of the table; empty if unknown
};

struct ComparedLevel {
  std::optional<double> base;
  std::optional<double> other;

  [[nodiscard]] std::optional<double> ratio() const;
};
/// Metric keys, in the order of ComparedPair::levels.
[[nodiscard]] std::span<const std::string_view> compared_levels();
inline constexpr std::size_t compared_level_count = 3;

struct ComparedPair {
  std::vector<Row> base;  ///< several rows: repeated measurements of one point, which add rounds
  std::vector<Row> other;
  double base_ns = 0;  ///< time as in its row and in exports; median over recordings
  double other_ns = 0;
  /// Times whose quotient is the ratio: the baseline's time, normalized to the clock of both sides if the ratio is, and
  /// this times the ratio.
  std::array<double, 2> compared_ns{};
  std::optional<double> base_cycles;
  std::optional<double> other_cycles;
  bool paired = false;         ///< both sides measured in the same rounds
  bool computed = false;       ///< both sides are computed and are different points: the model's error is the spread
  std::size_t recordings = 0;  ///< of both sides together; 1 if paired
  bool same_point = false;     ///< equal fields and knobs: only build, device or recording differ
  /// Number of tiles of the baseline and of the candidate from which the best was chosen; 0 if none was.
  std::array<std::size_t, 2> tiles{};
  std::array<ComparedLevel, compared_level_count> levels;
  RowVerdict verdict;
};

/// Rows excluded from the comparison.
struct SkippedRows {
  enum class SkipReason {
    unmatched,
    failed,  ///< no time on this side, but the matched point or a repeat has one
    failed_on_both_sides,
    several,      ///< matching points of one side that differ in unaligned fields, origin or kernel sources
    other_tiles,  ///< none has the automatic tile
    impossible,   ///< values that the GPU cannot have produced
  };
  SkipReason why = SkipReason::unmatched;
  bool of_other = false;  ///< excluded rows are the candidate's
  std::vector<Row> rows;
  bool alike = false;  ///< the other side has the same row, or its point failed in the same way

  /// False if the baseline's rows already stand for it in counts and lists.
  [[nodiscard]] bool is_listed() const { return !alike || !of_other; }
};
[[nodiscard]] std::string_view to_string(SkippedRows::SkipReason);

/// A property in which the two points of a pair differ.
struct PointDifference {
  std::string key;  ///< field, knob, "tile", "device", "provenance", "kernel_source" or "sm_clock"
  Message name;
  Message base;
  Message other;
};
inline constexpr std::string_view device_difference = "device";
/// Keys of differences that are neither fields, knobs nor the device.
inline constexpr std::array other_differences{std::string_view("provenance"), std::string_view("kernel_source"),
                                              std::string_view("sm_clock")};
/// Clocks that differ by 1% or less are equal; unknown clocks and kernel sources are not compared.
[[nodiscard]] std::vector<PointDifference> point_differences(const PointTable&, const ComparedPair&);

struct Difference {
  Message name;
  std::vector<Message> base = {};  ///< distinct, sorted by English text; empty if too many
  std::vector<Message> other = {};
  std::size_t rows = 0;  ///< pairs that differ; 0 if the property is one of the runs
  std::string key = {};  ///< PointDifference::key; empty if the property is one of the runs
};
[[nodiscard]] std::string display_text(std::span<const Message> values);

struct ComparisonResult {
  std::vector<ComparedPair> pairs;  ///< in the order of the baseline's rows
  std::vector<SkippedRows> left_out;
  std::vector<Difference> differences;         ///< in measurement conditions
  double margin = default_margin_paired;       ///< margin of all verdicts
  std::size_t on_both_sides = 0;               ///< rows that are on both sides; compared as baseline only
  std::set<std::string> error_gpus = {};       ///< GPUs whose published simulator errors were used as spread
  std::set<std::string> changed_kernels = {};  ///< see changed_kernels()

  [[nodiscard]] std::size_t count(Verdict) const;
  /// Sum over all excluded rows.
  [[nodiscard]] std::size_t newly_failed(const PointTable&) const;
};
/// Returns the number of points with a time in the baseline that crashed, hung or were incorrect in the candidate.
/// Infeasible points are not counted.
[[nodiscard]] std::size_t newly_failed(const PointTable&, const SkippedRows&);
[[nodiscard]] ComparisonResult compare(const PointTable&, const ComparisonRequest&);

/// The two steps of compare(), for several candidates judged at one margin, the widest that any of them needs.
struct AlignedComparison {
  ComparisonResult result;  ///< without verdicts; `margin` is the requested or default one
  std::vector<ComparedRow> rows;
};
[[nodiscard]] AlignedComparison align(const PointTable&, const ComparisonRequest&);
[[nodiscard]] ComparisonResult add_verdicts(AlignedComparison, std::size_t looks, double margin);

/// Returns the short titles of the algorithms of which the sides compiled a launch with equal defines, architecture and
/// compiler from different sources. Launches on one side only, or without a digest or compiler version, do not count.
[[nodiscard]] std::set<std::string> changed_kernels(const PointTable&, std::span<const Row> base,
                                                    std::span<const Row> other);

/// Sets result.differences: GPUs, conditions of the runs and throttling, then point_differences() of all pairs.
void add_differences(const PointTable&, const ComparisonRequest&, ComparisonResult&);

/// Returns pairs with verdict SLOWER whose ratio exceeds 1 + share (0.05 is 5%), largest first. `proven`:
/// RowVerdict::certain_change must exceed `share` instead.
[[nodiscard]] std::vector<const ComparedPair*> regressions(const ComparisonResult&, double share, bool proven = false);

/// Conditions in which two runs differ: device, provenance, program version, options, simulated L2. Runs without
/// differences measured points in the same way. Imported runs state too little and differ from any other run.
[[nodiscard]] std::vector<Message> recording_differences(const PointTable&, RunIndex, RunIndex);

struct RecordingGroup {
  std::vector<Row> rows;             ///< ascending
  std::vector<std::size_t> sources;  ///< indices of the sources it has rows of, ascending
  std::vector<RunIndex> runs;
  std::size_t pooled = 1;                 ///< recordings of the point that has the most
  std::vector<Message> differences = {};  ///< from the first group

  /// Returns `name` with the number of pooled recordings, if several are.
  [[nodiscard]] std::string title(const std::string& name) const;
};
/// Groups the rows of each source (an argument of the command line) by run. Runs of one source form a group unless they
/// repeat a point in other conditions or with other kernel sources, or ran on another device. Runs of different sources
/// form a group only if they repeat each other: the same plan with common points in the same conditions.
[[nodiscard]] std::vector<RecordingGroup> group_recordings(const PointTable&,
                                                           std::span<const std::vector<Row>> sources);

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
// Two sides, point by point: what has a partner and what has none, both times with their ratio and a verdict, the bytes
// of each level, and in what the circumstances differ. A side is any rows of a table: of runs, files, devices,
// algorithms or tiles.
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

/// What a run was made under, by name: "driver", "580.65"; shown where the sides differ.
using RunConditions = std::vector<std::pair<Message, Message>>;

struct ComparisonRequest {
  std::vector<Row> base;
  std::vector<Row> other;
  Alignment alignment;
  std::optional<double> margin = {};           ///< none: the usual one, by how the sides were recorded
  std::size_t looks = 1;                       ///< of_each_look(): of rounds that went on until a verdict stood
  std::vector<RunConditions> conditions = {};  ///< by run of the table; none: not known
};

/// Bytes between two places, of both sides.
struct ComparedLevel {
  std::optional<double> base;
  std::optional<double> other;

  [[nodiscard]] std::optional<double> ratio() const;
};
/// In the order of ComparedPair::levels: keys of the metrics table.
[[nodiscard]] std::span<const std::string_view> compared_levels();
inline constexpr std::size_t compared_level_count = 3;

struct ComparedPair {
  std::vector<Row> base;  ///< more than one: the same point measured again, which makes further rounds
  std::vector<Row> other;
  double base_ns = 0;  ///< the point's time as its row and exports have it; of several recordings their median
  double other_ns = 0;
  std::optional<double> base_cycles;
  std::optional<double> other_cycles;
  bool paired = false;         ///< both sides in the same rounds
  bool computed = false;       ///< both sides, of two points: what their ratio may be off by stands for the spread
  std::size_t recordings = 0;  ///< of both sides together; one where they are paired
  bool same_point = false;     ///< in all fields and knobs: what differs is the build, the device or the time
  std::array<ComparedLevel, compared_level_count> levels;
  RowVerdict verdict;
};

/// Rows that are not compared.
struct LeftOut {
  enum class Why {
    no_partner,  ///< the other side has no such point
    failed,      ///< it has no time; the partner ran, or the same point measured again
    both_failed,
    several,  ///< points of one side that differ in what the alignment leaves open, in origin or in kernel sources
  };
  Why why = Why::no_partner;
  bool of_other = false;  ///< of which side
  std::vector<Row> rows;
  bool shared = false;  ///< no partner but itself: the very row, of one run, stands on both sides
};
[[nodiscard]] std::string_view to_string(LeftOut::Why);

struct Difference {
  Message name;
  std::vector<Message> base;  ///< all that were found, in the order of their English texts
  std::vector<Message> other;
};
/// "570, 580".
[[nodiscard]] std::string words_of(std::span<const Message> values);

struct ComparisonResult {
  std::vector<ComparedPair> pairs;  ///< in the order of base
  std::vector<LeftOut> left_out;
  std::vector<Difference> differences;  ///< of the circumstances
  double margin = usual_margin_paired;  ///< that all verdicts are of
  std::size_t on_both_sides = 0;        ///< rows of the base that the other side has, too: the base's alone
  std::set<std::string> judges = {};    ///< GPUs whose published errors stand for the spread of what is simulated

  [[nodiscard]] std::size_t count(Verdict) const;
  /// Of all that is left out.
  [[nodiscard]] std::size_t no_longer_run(const PointTable&) const;
};
/// Points that have a time on the base's side and crashed, hung or were wrong on the other; not those that do not fit.
[[nodiscard]] std::size_t no_longer_run(const PointTable&, const LeftOut&);
[[nodiscard]] ComparisonResult compare(const PointTable&, const ComparisonRequest&);

/// The two halves of compare(), for several other sides that are held to one margin: the widest that any of them needs.
struct AlignedSides {
  ComparisonResult result;        ///< without verdicts; `margin` is the one that was given, else the usual one
  std::vector<ComparedRow> rows;  ///< of each pair
};
[[nodiscard]] AlignedSides align(const PointTable&, const ComparisonRequest&);
[[nodiscard]] ComparisonResult judged(AlignedSides, std::size_t looks, double margin);

/// Sets the differences between the pairs of a result: GPUs, origins, clocks, versions, sources.
void add_differences(const PointTable&, const ComparisonRequest&, ComparisonResult&);

/// Pairs that are SLOWER and whose ratio lies above 1 + share (0.05: 5%), the largest first; `proven`: that are so by
/// RowVerdict::sure.
[[nodiscard]] std::vector<const ComparedPair*> regressions(const ComparisonResult&, double share, bool proven = false);

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
// Two sides, point by point: what has a partner and what has none, both times with their ratio and a verdict, the bytes
// of each level, and in what the circumstances differ. A side is any rows of a table: of runs, files, devices,
// algorithms or tiles.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/model/message.h"
#include "kernels/model/result.h"
#include "profiler/analysis/point_table.h"
#include "profiler/analysis/verdicts.h"

namespace attnscope::analysis {

/// By what points of two sides are partners.
struct Alignment {
  std::vector<std::string> fields;  ///< of the table of fields
  std::vector<std::string> knobs;
  bool all_knobs = false;
  bool device = false;  ///< by name

  /// "problem, tile, knobs, device" and what else it is made of.
  [[nodiscard]] std::vector<std::string> words() const;
};

/// `words`: names of fields and knobs, "N", "problem" (every field but algorithm and tile), "tile", "knobs", "device".
/// Where none of them is of the problem, all of the problem is meant. Empty: the problem, and of algorithm, tile, knobs
/// and device whatever both sides have a value of in common. The error names the word that is none.
[[nodiscard]] Result<Alignment, Message> alignment_of(std::span<const std::string> words, const PointTable&,
                                                      std::span<const Row> base, std::span<const Row> other);

/// What sides have in common that are two halves of something: every field and knob, and the device, that has the same
/// values on both.
[[nodiscard]] Alignment alignment_of_halves(const PointTable&, std::span<const Row> base, std::span<const Row> other);

/// What a run was made under, by name: "driver", "580.65"; shown where the sides differ.
using RunConditions = std::vector<std::pair<std::string, std::string>>;

struct ComparisonRequest {
  std::vector<Row> base;
  std::vector<Row> other;
  Alignment alignment;
  VerdictOptions verdicts;
  std::size_t looks = 1;                  ///< of_each_look(): of rounds that went on until a verdict stood
  std::vector<RunConditions> conditions;  ///< by run of the table; none: not known
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
  double base_ns = 0;  ///< median of the rounds
  double other_ns = 0;
  std::optional<double> base_cycles;
  std::optional<double> other_cycles;
  bool paired = false;         ///< both sides in the same rounds
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
    several,  ///< points of one side that differ in what the alignment leaves open: which is meant?
  };
  Why why = Why::no_partner;
  bool of_other = false;  ///< of which side
  std::vector<Row> rows;
};
[[nodiscard]] std::string_view to_string(LeftOut::Why);

struct Difference {
  std::string name;
  std::string base;
  std::string other;
};

struct ComparisonResult {
  std::vector<ComparedPair> pairs;  ///< in the order of base
  std::vector<LeftOut> left_out;
  std::vector<Difference> differences;  ///< of the circumstances

  [[nodiscard]] std::size_t count(Verdict) const;
  /// Whether a pair is slower by more than `share` (0.05: 5%), its whole interval beyond.
  [[nodiscard]] std::size_t regressions(double share) const;
};
[[nodiscard]] ComparisonResult compare(const PointTable&, const ComparisonRequest&);

}  // namespace attnscope::analysis

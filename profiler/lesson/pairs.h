// SPDX-License-Identifier: Apache-2.0
// Pairs of points that differ in one parameter only.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/lesson/evidence.h"

namespace attnscope::analysis::lesson {

struct Pair {
  Row from = 0;
  Row to = 0;
  double before = 0;
  double after = 0;
  Provenance provenance = Provenance::measured;  ///< `derived` if the values' provenances differ

  [[nodiscard]] double ratio() const { return after / before; }
};

/// Returns pairs of rows of one run that ran, have the metric and have N doubled.
[[nodiscard]] std::vector<Pair> find_doubled_pairs(const PointTable&, std::span<const Row> rows,
                                                   std::string_view metric);

/// Returns pairs of two algorithms at the same problem and run, each with its fastest tile, by N.
[[nodiscard]] std::vector<Pair> pairs_of_algorithms(const PointTable&, std::span<const Row> rows, std::string_view from,
                                                    std::string_view to, std::string_view metric);

/// The N from which one algorithm is faster than another, for problems that differ only in N.
struct Crossover {
  std::vector<Pair> pairs{};  ///< sorted by N; `from` is the point of the slower algorithm
  /// N at which the ratio of times passes 1 for the last time, interpolated log-log between two measured N.
  std::optional<double> n{};
  bool never = false;  ///< still slower at the longest measured N
};
[[nodiscard]] std::vector<Crossover> crossovers(const PointTable&, std::span<const Row> rows, std::string_view slow,
                                                std::string_view fast);

}  // namespace attnscope::analysis::lesson

// SPDX-License-Identifier: Apache-2.0
// Predict, then reveal: pairs of points that differ in one thing alone, read off a table of points.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/points/point_table.h"

namespace attnscope::analysis::lesson {

/// Whether the point ran, with or without counters: its times are good.
[[nodiscard]] bool ended_well(const PointTable&, Row);

/// What is twice as large in the second point.
enum class Doubled : std::uint8_t { n, bc };

/// Two points of one run, algorithm and problem.
struct Pair {
  Row from = 0;
  Row to = 0;
  double before = 0;
  double after = 0;
  Provenance provenance = Provenance::measured;  ///< of both values; derived where they differ

  [[nodiscard]] double ratio() const { return after / before; }
};

/// Of rows that ended well and have the metric, in the order of the rows. All else is equal.
[[nodiscard]] std::vector<Pair> doubled_pairs(const PointTable&, std::span<const Row> rows, Doubled,
                                              std::string_view metric);

/// Whether Theorem 2 of the FlashAttention paper speaks of the point: M <= N d, with M = 4 d times the side of the tile
/// that the traffic is divided by; so also where no side divides it. d <= M holds of every tile.
[[nodiscard]] bool within_theorem(const PointTable&, Row);

/// Of the pairs of each algorithm the one to look at: of those whose points are both within the theorem, or of all
/// where none are, the one of the longest N, and of equals the first. In the order in which algorithms come.
[[nodiscard]] std::vector<Pair> telling_pairs(const PointTable&, std::span<const Pair>);

/// Two algorithms at one problem of one run, each with the tile with which it is fastest there.
[[nodiscard]] std::vector<Pair> pairs_of_algorithms(const PointTable&, std::span<const Row> rows, std::string_view from,
                                                    std::string_view to, std::string_view metric);

/// The N from which one algorithm is faster than another, of problems that differ in N alone.
struct Crossover {
  AttentionProblem like{};
  std::vector<Pair> pairs{};  ///< by N, `from` the slower one's point
  /// Where the ratio of the times passes 1, between two measured N: linear in the logarithms of both.
  std::optional<double> n{};
  bool never = false;  ///< slower at the longest measured N: faster from no N on
};
[[nodiscard]] std::vector<Crossover> crossovers(const PointTable&, std::span<const Row> rows, std::string_view slow,
                                                std::string_view fast);

/// A counter beside the closed form of the very same point.
struct Residual {
  Row row = 0;
  double counted = 0;
  double closed_form = 0;

  [[nodiscard]] double relative() const { return counted / closed_form - 1; }
};
/// Bytes between SM and L2 of the points that were counted.
[[nodiscard]] std::vector<Residual> residuals(const PointTable&, std::span<const Row> rows);

}  // namespace attnscope::analysis::lesson

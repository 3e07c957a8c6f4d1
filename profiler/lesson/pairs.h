// SPDX-License-Identifier: Apache-2.0
// Pairs of points that differ in one parameter only, for predict-then-reveal questions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/points/point_table.h"

namespace attnscope::analysis::lesson {

/// Returns whether the point ran, with or without counters, so that its times are valid.
[[nodiscard]] bool has_valid_times(const PointTable&, Row);

/// The parameter that is doubled in the second point.
enum class DoubledParameter : std::uint8_t { n, bc };

struct Pair {
  Row from = 0;
  Row to = 0;
  double before = 0;
  double after = 0;
  Provenance provenance = Provenance::measured;  ///< `derived` if the values' provenances differ

  [[nodiscard]] double ratio() const { return after / before; }
};

/// Returns pairs of rows that ran, have the metric and differ only by the doubled parameter, in row order.
[[nodiscard]] std::vector<Pair> find_doubled_pairs(const PointTable&, std::span<const Row> rows, DoubledParameter,
                                                   std::string_view metric);

/// Returns whether Theorem 2 of the FlashAttention paper applies: M <= N d, where M is 4 d times the tile dimension
/// that divides the traffic, and N the number of queries (Br) or keys (Bc). True if no dimension does. d <= M holds for
/// every tile.
[[nodiscard]] bool theorem_applies(const PointTable&, Row);

/// Returns one pair per algorithm, in order of appearance: among the pairs within the theorem (or all, if there are
/// none) the one with the longest N, the first in a tie.
[[nodiscard]] std::vector<Pair> representative_pairs(const PointTable&, std::span<const Pair>);

/// Returns pairs of two algorithms at the same problem and run, each with its fastest tile.
[[nodiscard]] std::vector<Pair> pairs_of_algorithms(const PointTable&, std::span<const Row> rows, std::string_view from,
                                                    std::string_view to, std::string_view metric);

/// The N from which one algorithm is faster than another, for problems that differ only in N.
struct Crossover {
  AttentionProblem like{};
  std::vector<Pair> pairs{};  ///< sorted by N; `from` is the point of the slower algorithm
  /// N at which the ratio of times passes 1, interpolated log-log between two measured N.
  std::optional<double> n{};
  bool never = false;  ///< still slower at the longest measured N
};
[[nodiscard]] std::vector<Crossover> crossovers(const PointTable&, std::span<const Row> rows, std::string_view slow,
                                                std::string_view fast);

struct Residual {
  Row row = 0;
  double counted = 0;
  double closed_form = 0;

  [[nodiscard]] double relative() const { return counted / closed_form - 1; }
};
/// Returns SM<->L2 bytes of all points with counters.
[[nodiscard]] std::vector<Residual> residuals(const PointTable&, std::span<const Row> rows);

}  // namespace attnscope::analysis::lesson

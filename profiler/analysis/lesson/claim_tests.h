// SPDX-License-Identifier: Apache-2.0
// What a claim is held to, and the tests that need no points: of the problem, the GPU and its ceilings alone. For
// claims.cpp, whose table names them.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/lesson/claims.h"

namespace attnscope::analysis::lesson {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

[[nodiscard]] Verdict untestable(std::string because, std::string detail = {});
[[nodiscard]] double number_of(const Front& card, std::string_view key, double otherwise);

/// What a card claims: `states` give or take `tolerance` (relative, 0.1), or from `low` to `high`.
struct Claimed {
  double low = -infinite;
  double high = infinite;
  std::optional<double> stated{};
  double tolerance = 0;
};
[[nodiscard]] Claimed claimed_by(const Front& card);
/// A figure is a case: where all cases are as claimed it held, where none is it is refuted, and else it held in part.
[[nodiscard]] Verdict held_to(const Claimed& claimed, std::vector<ClaimFigure> found, Unit unit,
                              std::vector<Row> points);

/// States megabytes of 10^6 bytes unless the card says `unit: MiB`.
[[nodiscard]] Verdict ledger_test(const Front& card, const Evidence& evidence);
[[nodiscard]] Verdict ledger_share(const Front& card, const Evidence& evidence);
[[nodiscard]] Verdict gpu_value(const Front& card, const Evidence& evidence);
/// A measured ceiling, or one over another.
[[nodiscard]] Verdict ceiling_test(const Front& card, const Evidence& evidence);
/// Whether the tile can run on this GPU at all.
[[nodiscard]] Verdict tile_fits(const Front& card, const Evidence& evidence);
/// Rows of the tile that the paper's rule (Algorithm 1, line 1) makes of M bytes: it counts M in elements, of two
/// bytes.
[[nodiscard]] Verdict paper_rule(const Front& card, const Evidence& evidence);
/// How often each byte of a matrix crosses between L2 and SM: 1 for what the outer loop holds.
[[nodiscard]] Verdict loaded_times(const Front& card, const Evidence& evidence);
/// What one algorithm keeps beside Q, K, V and O, over what another does.
[[nodiscard]] Verdict memory_saved(const Front& card, const Evidence& evidence);
/// Scores 0 .. 7 in blocks of two, whose maximum rises at every block; the fault's error in what comes out.
[[nodiscard]] Verdict softmax_error(const Front& card, const Evidence& evidence);
/// Of what nobody here has measured.
[[nodiscard]] Verdict elsewhere(const Front& card, const Evidence& evidence);

}  // namespace attnscope::analysis::lesson

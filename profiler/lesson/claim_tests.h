// SPDX-License-Identifier: Apache-2.0
// What a claim is held to, and the tests that need no points: of the problem, the GPU and its ceilings alone. For
// claims.cpp, whose table names them.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"

namespace attnscope::analysis::lesson {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

[[nodiscard]] Verdict untestable(std::string because, std::string detail = {});
[[nodiscard]] double number_of(const Front& card, std::string_view key, double otherwise);

/// Of what is computed from values: the values' own, but of measured ones derived.
[[nodiscard]] Provenance derived_from(Provenance);

/// What a card claims: `states` give or take `tolerance` (relative, 0.1), or from `low` to `high`. A tolerance is the
/// card's own, and so are bounds but those that are `stated_by: source`.
struct Claimed {
  double low = -infinite;
  double high = infinite;
  std::optional<double> stated{};
  double tolerance = 0;
  bool bounds_of_source = false;
  std::string left_open{};  ///< of a stated number: "batch, heads", of which its source does not say it
};
[[nodiscard]] Claimed claimed_by(const Front& card);
/// "± 15%", which no source states.
[[nodiscard]] ClaimFigure tolerance_figure(double tolerance);
/// A figure is a case: where all cases are as claimed it held, where none is it is refuted, and else it held in part.
/// Cases on either side of a number whose source leaves something open refute nothing: between them it may hold.
[[nodiscard]] Verdict held_to(const Claimed& claimed, std::vector<ClaimFigure> found, Unit unit,
                              std::vector<Row> points);

/// What a card's `from` and `to` begin with where they are another program's: "imported:torch-flash".
inline constexpr std::string_view imported_series = "imported:";

/// Of memory_levels the one that a test's bytes pass; empty where it is of none.
[[nodiscard]] std::string_view level_of_data(const Front& card, const ClaimTest& test);
/// Of a card's `from` or `to`.
[[nodiscard]] std::string series_of(const Front& card, std::string_view key);

/// The rows that the card's `points` ask for.
[[nodiscard]] std::vector<Row> rows_of_card(const Front& card, const Evidence& evidence);
/// Leaves of the evidence what the card's source speaks of; where nothing is left, or bytes are of another level, what
/// does not fit.
[[nodiscard]] std::vector<Mismatch> keep_what_the_source_means(const Front& card, const ClaimTest& test,
                                                               Evidence& evidence);
[[nodiscard]] DataOf data_of(const Front& card, const ClaimTest& test, const Evidence& evidence,
                             std::span<const Row> rows);
/// The device, where points of several are open.
[[nodiscard]] std::string device_of(const PointTable& points, Row row);
/// "FA2 N 4096 d 128 heads 64 128x64", with the device where points of several are open.
[[nodiscard]] std::string name_of(const PointTable&, Row);

/// States megabytes of 10^6 bytes unless the card says `unit: MiB`.
[[nodiscard]] Verdict ledger_test(const Front& card, const Evidence& evidence);
[[nodiscard]] Verdict ledger_share(const Front& card, const Evidence& evidence);
[[nodiscard]] Verdict gpu_value(const Front& card, const Evidence& evidence);
/// A measured ceiling, or one over another.
[[nodiscard]] Verdict ceiling_test(const Front& card, const Evidence& evidence);
/// Whether the tile can run on this GPU at all; with the points of it that were measured there.
[[nodiscard]] Verdict tile_fits(const Front& card, const Evidence& evidence);
/// Rows of the tile that the paper's rule (Algorithm 1, line 1) makes of M bytes: it counts M in elements, of two
/// bytes.
[[nodiscard]] Verdict paper_rule(const Front& card, const Evidence& evidence);
/// Matrix operations of the backward pass over those of the forward one, as the kernels issue them.
[[nodiscard]] Verdict operations(const Front& card, const Evidence& evidence);
/// How often each byte of a matrix crosses between L2 and SM: 1 for what the outer loop holds.
[[nodiscard]] Verdict loaded_times(const Front& card, const Evidence& evidence);
/// What one algorithm keeps beside Q, K, V and O, over what another does.
[[nodiscard]] Verdict memory_saved(const Front& card, const Evidence& evidence);
/// Scores 0 .. 7 in blocks of two, whose maximum rises at every block; the fault's error in what comes out.
[[nodiscard]] Verdict softmax_error(const Front& card, const Evidence& evidence);
/// Of what nobody here has measured.
[[nodiscard]] Verdict elsewhere(const Front& card, const Evidence& evidence);

}  // namespace attnscope::analysis::lesson

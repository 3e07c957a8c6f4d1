// SPDX-License-Identifier: Apache-2.0
// The laws by which bytes grow with N, and whether measured bytes follow one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "profiler/analysis/algorithms.h"
#include "profiler/analysis/fit.h"

namespace attnscope::analysis {

/// What the horizontal axis of a problem means: empty where there are as many queries as keys, n_q where n_q is fixed.
[[nodiscard]] std::optional<std::int64_t> fixed_queries(const AttentionProblem&);
/// The problem at another N: of queries and keys, or of keys alone where n_q is fixed.
[[nodiscard]] AttentionProblem at_length(AttentionProblem, std::int64_t n);

/// Bytes over all heads as functions of N, without their constants.
struct Law {
  std::string text;   ///< "N²d/Br"
  std::string lower;  ///< the order below it, "N·d"; empty where the law is fitted alone
  std::function<double(std::int64_t)> bytes;
  std::function<double(std::int64_t)> lower_bytes;
  std::int64_t from = 1;   ///< the shortest N that it speaks of
  std::string from_words;  ///< "N·d ≥ M"; empty where it speaks of all
};

/// The law of an algorithm, by its growth and by what its tile divides:
///   growth   n_q fixed  side of the tile  law                                       speaks of
///   any      yes                          n_k·d: what passes by grows as the keys
///   nd                                    N·d
///   n2                                    N²: every score is in memory, whatever the mask leaves of it
///   n2d2/M              Bc                N²d²/M (arXiv 2205.14135v2, Theorem 2)    N·d ≥ M
///   n2d2/M              Br forward        N²d/Br; backward by its own side          N ≥ 4 tiles
/// A mask that is neither full nor causal leaves a share of the pairs that changes with N: P, their number, stands for
/// N². Its lower order is that of reading everything once.
[[nodiscard]] Law law_of(const Algorithm&, const AttentionProblem& like, const Config&, const DeviceLimits&);

/// Fewer points than this carry no fit.
inline constexpr std::size_t fewest_fitted = 4;
/// A fit that misses no point by more is good, however narrow its interval: the constants of an exact law come out with
/// intervals of nothing.
inline constexpr double good_enough = 0.01;

/// Why a law is not drawn.
enum class FitRefusal {
  too_few,   ///< fewer than `fewest_fitted` points in the law's range
  not_seen,  ///< the scale's interval holds 0: the points grow by the lower order alone
  steeper,   ///< they grow faster than the law: what is below it comes out negative
  misses,    ///< some point lies further from the fit than the scale's interval is wide
};

/// A law laid through points, or why it is not.
struct FittedLaw {
  Law law;
  std::optional<FitRefusal> refusal;
  std::size_t points = 0;         ///< in the law's range
  std::int64_t first = 0;         ///< the shortest N among them
  std::optional<LawFit> fit;      ///< empty for too few points
  std::optional<PowerFit> power;  ///< N^slope through the same points
  std::int64_t worst_n = 0;       ///< where the fit misses most

  [[nodiscard]] double bytes(std::int64_t n) const;  ///< pre: fit
};
/// `lengths` ascending, `bytes` over all heads.
[[nodiscard]] FittedLaw fit_growth(Law law, std::span<const std::int64_t> lengths, std::span<const double> bytes);

}  // namespace attnscope::analysis

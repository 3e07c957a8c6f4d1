// SPDX-License-Identifier: Apache-2.0
// Whether measured bytes follow the law that their algorithm states.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/model/law.h"
#include "profiler/stats/fit.h"

namespace attnscope::analysis {

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

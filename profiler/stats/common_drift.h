// SPDX-License-Identifier: Apache-2.0
// Time drift that all points of a recording share (SM clock changes, warm-up). Each round measures its points in
// shuffled order, so neighboring samples belong to unrelated points and only the moment is common to them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace attnscope::analysis {

/// One sample of a series that is measured repeatedly.
struct TimedValue {
  std::size_t series = 0;  ///< index of the series
  double moment = 0;       ///< integer part: round (numbered across recordings); fraction: position within the round
  double log = 0;
};

/// Returns the common drift at each value's moment, up to a constant. Alternates between series means and a running
/// mean of the residuals of 24 to 80 neighbors in the round, each value's own residual excluded (backfitting: Hastie
/// and Tibshirani, Stat. Sci. 1 (1986) 297). Returns an empty vector if a round has too few values. Pre: every `series`
/// is below `count`.
[[nodiscard]] std::vector<double> common_drift(std::span<const TimedValue> values, std::size_t count);

}  // namespace attnscope::analysis

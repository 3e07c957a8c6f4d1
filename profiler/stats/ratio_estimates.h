// SPDX-License-Identifier: Apache-2.0
// Estimates each row's log ratio and its error from the rounds of both sides.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {

/// Recordings (both sides together) from which the spread between recordings can be estimated.
inline constexpr std::size_t min_recordings_for_spread = 4;

struct RatioEstimate {
  double center = 0;
  double mean = 0;
  double error = 0;  ///< standard error of the mean; 0 if exact
  double dof = 0;
  double spread = 0;  ///< standard deviation of a paired round's log ratio
  double apart = 0;   ///< standard deviation of the log ratio of one recording per side
  SpreadFloor floor = SpreadFloor::none;
  bool steadied = false;
};

/// The values to compare: times or cycles.
using ValueMember = std::vector<double> SideRounds::*;

[[nodiscard]] std::size_t recording_count(const ComparedRow& row);

/// Returns one estimate per row. Sets `which[i]` if row i has these values.
[[nodiscard]] std::vector<RatioEstimate> estimate_ratios(std::span<const ComparedRow> rows, ValueMember values,
                                                         std::vector<bool>& which);

// Time drift that all points of a recording share (SM clock changes, warm-up). Each round measures its points in
// shuffled order, so neighboring samples belong to unrelated points and only the moment is common to them.

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

// SPDX-License-Identifier: Apache-2.0
// What rounds of two sides tell of the log ratio of each row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {

/// From so many recordings on, of both sides together, they tell how much recordings differ.
inline constexpr std::size_t enough_recordings = 4;

/// What is known of a log ratio.
struct RatioEstimate {
  double centre = 0;  ///< Hodges and Lehmann's
  double mean = 0;
  double error = 0;  ///< standard error of the mean; 0: exact
  double freedom = 0;
  double spread = 0;  ///< of one round's log ratio, both sides in one round
  double apart = 0;   ///< of one recording's log ratio, as far as a round tells
  SpreadFloor floor = SpreadFloor::none;
  bool steadied = false;
};

/// What is looked at of a side.
using SideValues = std::vector<double> RoundsOfSide::*;

/// How many recordings both sides have together.
[[nodiscard]] std::size_t recordings_of(const ComparedRow& row);

/// Of the rows that have these values; `which` says of which.
[[nodiscard]] std::vector<RatioEstimate> estimates_of(std::span<const ComparedRow> rows, SideValues values,
                                                      std::vector<bool>& which);

}  // namespace attnscope::analysis

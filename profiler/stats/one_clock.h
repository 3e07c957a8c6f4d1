// SPDX-License-Identifier: Apache-2.0
// Times of one point at one SM clock. Most of what rounds of a point differ by is the clock that they ran at: on an
// H100, 77 points in 16 recordings of ten rounds, log time follows log clock along a line of the point's own (slope -1
// where the SMs bound it, 0 where DRAM does), in five of six points correlated by 0.9 or more, and what is left
// scatters a fifth as much. A clock is the round's own: cycles of an SM over time, between a stamp before its first
// sample and one behind its last.
#pragma once

#include <optional>
#include <span>

#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {

struct ClockLine {
  double slope = 0;        ///< of log time over log clock; -1 to 0: a faster clock makes no kernel slower
  double slope_error = 0;  ///< its standard deviation
  double log_ghz = 0;      ///< the clock that times are brought to: the mean of all rounds
};

/// By the rounds' deviations from the mean of their own side and recording, so that no change between those is in it.
/// A clock that hardly moves tells no slope: it is drawn towards what other points have. Nothing where a round has no
/// clock.
[[nodiscard]] std::optional<ClockLine> clock_line(std::span<const RoundsOfSide* const> sides);
/// The times as they would be at the line's clock. Pre: clock_line() of this side was known.
[[nodiscard]] std::vector<double> times_at(const ClockLine&, const RoundsOfSide&);

/// Brings both sides' times to one clock, where all rounds have one and the slope is known well enough for as far as
/// the sides' clocks lie apart. What the clocks themselves move the time by, where that is more than their scatter, is
/// kept beside them; in the same rounds it is the kernel's doing, and times stay as they are. Pre: both sides are one
/// point.
void hold_clock(ComparedRow&);

}  // namespace attnscope::analysis

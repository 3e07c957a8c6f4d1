// SPDX-License-Identifier: Apache-2.0
// Normalizes the times of one point to one SM clock. Rounds of a point differ mostly by clock: on an H100 (77 points,
// 16 recordings of ten rounds) log time is linear in log clock with a slope per point (-1 if SM-bound, 0 if
// DRAM-bound), with a correlation of 0.9 or more in five of six points; the residual spread is a fifth. The clock of a
// round is SM cycles over time, from before its first sample to after its last.
#pragma once

#include <optional>
#include <span>

#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {

struct ClockFit {
  double slope = 0;  ///< d(log time) / d(log clock), clamped to [-1, 0]
  double slope_error = 0;
  double log_ghz = 0;  ///< reference clock: mean of all rounds
};

/// Fits the slope to deviations of rounds from the mean of their side and recording, so that changes between sides do
/// not affect it. Ridge regression towards the slope typical of other points if the clock hardly varies. Returns
/// nullopt if a round has no clock.
[[nodiscard]] std::optional<ClockFit> fit_clock(std::span<const SideRounds* const> sides);
/// Returns the side's times normalized to the line's clock. Pre: fit_clock() returned a value for this side.
[[nodiscard]] std::vector<double> times_at(const ClockFit&, const SideRounds&);

/// Normalizes both sides' times to one clock if all rounds have a clock and the slope is known well enough for the
/// clock difference between the sides. Stores the time change that the clock difference explains in `clock_shift`.
/// Paired rounds with different clocks are left unchanged: there the kernel causes the difference. Pre: both sides are
/// the same point.
void normalize_clock(ComparedRow&);

}  // namespace attnscope::analysis

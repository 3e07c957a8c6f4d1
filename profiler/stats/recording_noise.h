// SPDX-License-Identifier: Apache-2.0
// Variation of a point's time between recordings of one build that the rounds of a single recording do not show: memory
// placement, GPU clock and temperature. Estimated from repeated recordings, each in its own process (`attnscope doctor
// --noise`).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/stats/variance_prior.h"
#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {

/// Returns the time of a point in one recording: the mean of the faster half of the rounds' log times. Rounds throttled
/// at the power cap shift the median but not this mean. `logs`: log medians of the rounds. Pre: not empty.
[[nodiscard]] double recording_log_time(std::vector<double> logs);

/// Same as recording_log_time(), from the medians themselves.
[[nodiscard]] double log_time_of_medians(const std::vector<double>& medians);

struct PointNoise {
  double ns = 0;                   ///< geometric mean over the recordings, as recording_log_time()
  double variance = 0;             ///< variance of the log time of one recording
  double normalized_variance = 0;  ///< same with clock normalization (clock_normalization.h); 0 if clocks are unknown
  double dof = 0;                  ///< recordings minus one
};

struct RecordingNoise {
  std::size_t recordings = 0;
  std::size_t rounds = 0;                                 ///< per recording; the minimum if they differ
  std::map<std::string, PointNoise, std::less<>> points;  ///< key: canonical_text()
};

/// A point's rounds in one recording, keyed by canonical_text().
using RecordedRounds = std::map<std::string, SideRounds, std::less<>>;
/// Estimates the noise of all points that several recordings have. Pre: two or more recordings.
[[nodiscard]] RecordingNoise estimate_noise(std::span<const RecordedRounds> recordings);

/// Variance between recordings of a point. Log variance is linear in log time over all points, and each point's
/// variance is moderated towards that line (variance_prior.h). Points without calibration get the line's value.
class NoiseModel {
 public:
  explicit NoiseModel(const RecordingNoise&);

  /// Returns the variance of the log time of one recording with this many rounds. Scaled up in proportion for fewer
  /// rounds than calibrated, never scaled down. Zero degrees of freedom if unknown.
  [[nodiscard]] VarianceEstimate of(std::string_view point, double ns, std::size_t rounds, bool one_clock) const;

 private:
  class Line {
   public:
    Line(const RecordingNoise&, double PointNoise::*variance);
    [[nodiscard]] VarianceEstimate of(std::string_view point, double ns) const;

   private:
    [[nodiscard]] double at(double ns) const;

    double level_ = 0;  ///< log variance at 1 ns
    double slope_ = 0;
    VariancePrior prior_;  ///< prior of a point's variance divided by the line's
    std::map<std::string, VarianceEstimate, std::less<>> points_;
  };

  std::size_t rounds_ = 0;
  Line unnormalized_;
  Line normalized_;
};

// Times of one point normalized to one SM clock. Rounds of a point differ mostly by clock: on an H100 (77 points, 16
// recordings of ten rounds) log time is linear in log clock with a slope per point (-1 if SM-bound, 0 if DRAM-bound),
// with a correlation of 0.9 or more in five of six points; the residual spread is a fifth. The clock of a round is SM
// cycles over time, from before its first sample to after its last.

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

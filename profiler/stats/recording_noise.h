// SPDX-License-Identifier: Apache-2.0
// What a recording does to a point beyond what its rounds tell: where a process's memory lies, what the GPU's clock and
// heat are that minute. Two recordings of one build differ by it. It is found from repeated recordings of one build,
// each its own process (`attnscope doctor --noise`), and stands for the spread of recordings made one after the other.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/stats/variance_prior.h"
#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {

/// Where a recording puts a point: the mean of the faster half of its rounds, in logarithms, which rounds at the power
/// cap do not move as they move the median. `logs`: of the rounds' medians. Pre: not empty.
[[nodiscard]] double place_of(std::vector<double> logs);

/// The same of the medians themselves.
[[nodiscard]] double place_of_medians(const std::vector<double>& medians);

struct PointNoise {
  double ns = 0;            ///< geometric mean of the recordings' places
  double variance = 0;      ///< of the logarithm of a recording's place
  double at_one_clock = 0;  ///< the same of times at one clock (one_clock.h); 0 where clocks are not known
  double freedom = 0;       ///< recordings less one
};

struct RecordingNoise {
  std::size_t recordings = 0;
  std::size_t rounds = 0;                                 ///< of each recording
  std::map<std::string, PointNoise, std::less<>> points;  ///< by identity_text()
};

/// A point's rounds in one recording, by identity_text().
using RecordedRounds = std::map<std::string, RoundsOfSide, std::less<>>;
/// Of points that several recordings have. Pre: two or more recordings.
[[nodiscard]] RecordingNoise noise_of(std::span<const RecordedRounds> recordings);

/// The variance that a point's recordings have, with what all points tell of it: log variance follows a line in log
/// time, and each point's own is moderated towards it (variance_prior.h). A point that was not calibrated has what the
/// line says.
class NoiseModel {
 public:
  explicit NoiseModel(const RecordingNoise&);

  /// Of the logarithm of one recording's place; `rounds`: of that recording. Fewer than were calibrated tell less, in
  /// proportion; more are not taken to tell more. No degree of freedom where nothing is known.
  [[nodiscard]] FoundVariance of(std::string_view point, double ns, std::size_t rounds, bool one_clock) const;

 private:
  class Line {
   public:
    Line(const RecordingNoise&, double PointNoise::*variance);
    [[nodiscard]] FoundVariance of(std::string_view point, double ns) const;

   private:
    [[nodiscard]] double at(double ns) const;

    double level_ = 0;  ///< log variance at 1 ns
    double slope_ = 0;
    VariancePrior prior_;  ///< of variances over the line's
    std::map<std::string, FoundVariance, std::less<>> points_;
  };

  std::size_t rounds_ = 0;
  Line as_timed_;
  Line at_one_clock_;
};

}  // namespace attnscope::analysis

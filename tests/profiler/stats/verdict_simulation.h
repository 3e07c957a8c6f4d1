// SPDX-License-Identifier: Apache-2.0
// Simulated rounds with known true ratios, for testing verdicts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/stats/verdicts.h"

namespace attnscope::simulated_rounds {

/// Noise in addition to the independent scatter of each round. `gaussian`: none. `drift`: 3% over a recording plus a
/// random walk of 0.5% per round, common to all rows. `steps`: about three jumps of 2% up or down in ten rounds, common
/// to all rows. `heavy_tails`: none, but the scatter is Student's t with three degrees of freedom. `power_cap`: a clock
/// that varies by about 1.5% around a loss of 2%, with a correlation time of a fifth of a round, reported in steps of
/// 15 MHz, common to all rows.
enum class Noise { gaussian, drift, steps, heavy_tails, power_cap };
inline constexpr Noise noise_kinds[] = {Noise::gaussian, Noise::drift, Noise::steps, Noise::heavy_tails,
                                        Noise::power_cap};
[[nodiscard]] std::string_view to_string(Noise);

struct Setting {
  Noise noise = Noise::gaussian;
  std::size_t rows = 2000;
  std::size_t rounds = 10;
  double spread = 0.005;           ///< standard deviation of a round's log time, per side
  double spread_variation = 0.25;  ///< standard deviation of log(spread) over rows
  std::size_t changed = 0;         ///< number of rows with a true change
  double change = 0;               ///< true other / base of changed rows, minus 1
  /// Recordings per side; base 0: both sides interleaved in one recording in shuffled order.
  std::size_t base_recordings = 0;
  std::size_t other_recordings = 0;
  bool moments = true;     ///< paired rows have moments
  double between = 0.003;  ///< standard deviation between recordings, of all rows together and again of each row
};

struct Simulated {
  std::vector<analysis::ComparedRow> rows;
  std::vector<double> truth;  ///< other / base
};
[[nodiscard]] Simulated simulate(const Setting&, std::uint64_t seed);

/// Verdict counts over several trials.
struct Tally {
  std::size_t rows = 0;
  std::size_t covered = 0;  ///< interval contains the true ratio
  std::size_t same = 0;
  std::size_t undecided = 0;
  std::size_t planted = 0;  ///< rows that changed
  std::size_t found = 0;    ///< FASTER or SLOWER, correctly
  std::size_t wrong = 0;    ///< FASTER or SLOWER, incorrectly

  [[nodiscard]] double coverage_share() const { return static_cast<double>(covered) / static_cast<double>(rows); }
  [[nodiscard]] double detection_share() const { return static_cast<double>(found) / static_cast<double>(planted); }
  [[nodiscard]] double false_verdict_share() const { return static_cast<double>(wrong) / static_cast<double>(rows); }
};
[[nodiscard]] Tally play(const Setting&, std::size_t trials, std::uint64_t seed,
                         const analysis::VerdictOptions& options = {});

/// Simulates one row at a time, analyzed after 5, 10, 20, ... and `setting.rounds` rounds until it has a verdict.
/// `corrected`: applies the correction for interim analyses. `spent`: returns the rounds of all trials.
[[nodiscard]] Tally simulate_until_decided(Setting, std::size_t trials, std::uint64_t seed, bool corrected = true,
                                           std::size_t* spent = nullptr);

}  // namespace attnscope::simulated_rounds

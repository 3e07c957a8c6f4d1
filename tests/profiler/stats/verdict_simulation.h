// SPDX-License-Identifier: Apache-2.0
// Rounds as a GPU might have taken them, of which the truth is known: what verdicts are held to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/stats/verdicts.h"

namespace attnscope::simulated_rounds {

/// On top of what each round scatters by itself, at the moment at which a side is measured:
/// `gaussian` nothing; `drift` 3% over a recording and a random walk of 0.5% a round, all rows alike; `steps` about
/// three jumps of 2% up or down in ten rounds, all rows alike; `heavy_tails` nothing, but the scatter is Student's t
/// with three degrees of freedom; `power_cap` a clock that wanders some 1.5% about a loss of 2%, as remembered over a
/// fifth of a round, and is known in steps of 15 MHz, all rows alike.
enum class Noise { gaussian, drift, steps, heavy_tails, power_cap };
inline constexpr Noise all_noises[] = {Noise::gaussian, Noise::drift, Noise::steps, Noise::heavy_tails,
                                       Noise::power_cap};
[[nodiscard]] std::string_view to_string(Noise);

struct Setting {
  Noise noise = Noise::gaussian;
  std::size_t rows = 2000;
  std::size_t rounds = 10;
  double spread = 0.005;    ///< standard deviation of a round's time, of each side
  double unlike = 0.25;     ///< rows differ by such a factor of it: the standard deviation of its logarithm
  std::size_t changed = 0;  ///< so many rows
  double change = 0;        ///< have other / base = 1 + change
  /// 0: both sides in the rounds of one recording, in shuffled order. Else so many recordings of base, ...
  std::size_t base_recordings = 0;
  std::size_t other_recordings = 0;
  bool moments = true;     ///< of paired rows it is known when in its round each was measured
  double between = 0.003;  ///< what recordings differ by, all rows alike, and once more each row for itself
};

struct Simulated {
  std::vector<analysis::ComparedRow> rows;
  std::vector<double> truth;  ///< other / base
};
[[nodiscard]] Simulated simulate(const Setting&, std::uint64_t seed);

/// What verdicts said of rows, over several trials.
struct Tally {
  std::size_t rows = 0;
  std::size_t covered = 0;  ///< whose interval holds the truth
  std::size_t same = 0;
  std::size_t undecided = 0;
  std::size_t planted = 0;  ///< rows that changed
  std::size_t found = 0;    ///< FASTER or SLOWER as it was
  std::size_t wrong = 0;    ///< FASTER or SLOWER as it was not

  [[nodiscard]] double share_covered() const { return static_cast<double>(covered) / static_cast<double>(rows); }
  [[nodiscard]] double share_found() const { return static_cast<double>(found) / static_cast<double>(planted); }
  [[nodiscard]] double share_wrong() const { return static_cast<double>(wrong) / static_cast<double>(rows); }
};
[[nodiscard]] Tally play(const Setting&, std::size_t trials, std::uint64_t seed,
                         const analysis::VerdictOptions& options = {});

/// One row at a time, its rounds looked at until there is a verdict: at 5, 10, 20, ... and `setting.rounds`.
/// `corrected`: each look with its part of the level. `spent`: the rounds of all trials together.
[[nodiscard]] Tally play_until_decided(Setting, std::size_t trials, std::uint64_t seed, bool corrected = true,
                                       std::size_t* spent = nullptr);

}  // namespace attnscope::simulated_rounds

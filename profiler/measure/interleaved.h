// SPDX-License-Identifier: Apache-2.0
// Two sides measured in the same rounds, in shuffled order, until a verdict is reached, or rounds or time are used up.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/plan/round_order.h"

namespace attnscope {

struct InterleavedPlan {
  std::array<std::vector<PointSpec>, 2> sides;  ///< baseline, candidate: as many points each
  SweepRounds rounds;                           ///< at most so many
  std::vector<std::size_t> looks;               ///< rounds after which decided() is asked
  int fewest_rounds = 1;                        ///< before time may run out
  std::chrono::duration<double> timeout{};      ///< no round begins after it
  MeasureOptions measure;                       ///< `verify` of the first round
  std::uint64_t placement = 0;                  ///< not 0: MeasureOptions::placement of the first round; then one more
};

/// What the rounds need of whoever asks for them.
struct InterleavedHooks {
  std::function<bool(int round)> begin_round;  ///< false: cancelled
  std::function<Device&(std::size_t side)> device;
  std::function<void(std::size_t side, std::size_t place, int round, const PointRecord&)> keep;
  std::function<bool()> decided;
  std::function<void(int round, std::size_t percent)> progress;
};

struct InterleavedOutcome {
  int rounds = 0;  ///< whole ones
  bool out_of_time = false;
  bool failed = false;  ///< a point was incorrect, did not compile, hung or crashed
};

/// In the first round every point of each side is measured; later a point no longer that a side did not run.
[[nodiscard]] InterleavedOutcome measure_interleaved(const InterleavedPlan&, const InterleavedHooks&,
                                                     const CancelToken&);

}  // namespace attnscope

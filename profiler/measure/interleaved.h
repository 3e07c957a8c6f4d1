// SPDX-License-Identifier: Apache-2.0
// Measures baseline and candidate in the same rounds, in shuffled order, until a verdict, the maximum rounds or the
// timeout.
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
  std::array<std::vector<PointSpec>, 2> sides;  ///< Baseline and candidate; equal numbers of points.
  SweepRounds rounds;
  std::vector<std::size_t> looks;           ///< Rounds after which decided() is called.
  int min_rounds = 1;                       ///< Minimum number of rounds before the timeout applies.
  std::chrono::duration<double> timeout{};  ///< No round starts after this time.
  MeasureOptions measure;                   ///< `verify` applies to the first round only.
  std::uint64_t placement = 0;  ///< MeasureOptions::placement of the first round, incremented each round; 0: none.
};

struct InterleavedHooks {
  std::function<bool(int round)> begin_round;  ///< Returns false if cancelled.
  std::function<Device&(std::size_t side)> device;
  std::function<void(std::size_t side, std::size_t place, int round, const PointRecord&)> keep;
  std::function<bool()> decided;
  std::function<void(int round, std::size_t percent)> progress;
};

struct InterleavedOutcome {
  int rounds = 0;  ///< Complete rounds.
  bool timed_out = false;
  bool failed = false;  ///< A point was incorrect, did not compile, timed out or crashed.
};

/// The first round measures every point of both sides. Later rounds skip points that did not run on one side.
[[nodiscard]] InterleavedOutcome measure_interleaved(const InterleavedPlan&, const InterleavedHooks&,
                                                     const CancelToken&);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// Runs a plan on a device, point after point, and reports each as it is whole: where the device counts points together,
// some are in flight at once. Knows neither files nor the command line.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/plan/round_order.h"
#include "profiler/plan/sweep.h"

namespace attnscope {

/// Of points, each as often as it is measured: of 4 points in 3 rounds 12.
struct RunCounts {
  std::size_t total = 0;
  std::size_t done =
      0;  ///< reported in this run, whatever the disposition; and the rounds that this takes from a point
  std::size_t skipped = 0;  ///< found done by --resume
  std::size_t ok = 0;
  std::size_t not_ok = 0;
};

struct RunObserver {
  std::function<void(std::size_t done, std::size_t total, const BuildReport&)> on_build;
  std::function<void(std::size_t index, const PointSpec&)> on_point_started;
  std::function<void(int round)> on_round;  ///< what follows is of that round, from 0
  /// Called once for each point and round, in order, when it is whole: the place to commit it. Others of its round
  /// may have started since.
  std::function<void(std::size_t index, const PointRecord&, const RunCounts&)> on_point;
};

enum class RunState { complete, cancelled, device_lost };
struct RunOutcome {
  RunState state = RunState::complete;
  Message reason;  ///< for device_lost
  RunCounts counts;
};

/// What a resumed run has of a point.
struct DoneBefore {
  std::set<int> rounds;  ///< from 0
  bool ended = false;    ///< in a way after which no round follows (measured_again())
};

/// A bound for how many points are counted at once; the device has a say of its own.
inline constexpr std::size_t most_counted_together = 64;

/// What a process that has measured before need not do again.
struct SweepStart {
  bool builds = true;  ///< compile what the plan needs before the first point
  /// Points to count at once; it doubles. Alone, what makes a restart necessary is told from the points beside it, and
  /// the first result is soon there.
  std::size_t together = 1;
  /// Asked when the first round is through: opens more places in what it is given, and returns them; none: that was
  /// all. What was measured before may still wait to be counted with them.
  std::function<std::vector<std::size_t>(std::vector<DoneBefore>&)> more = {};
};

/// Measures the plan as often as `rounds` says, each time in the order of round_order(); outputs are verified in the
/// first round, those of algorithms that are not built in in every one. A point that ends otherwise than
/// measured_again() asks is not measured in later rounds. `done`: by place in the plan; empty for none. An exception
/// from an observer ends the run and passes through; points reported before it are done. Points that are not whole when
/// the run is cancelled, or when another one loses the device, are not reported; that other one is.
[[nodiscard]] RunOutcome run_sweep(const SweepPlan&, Device&, const MeasureOptions&, const SweepRounds& rounds,
                                   std::vector<DoneBefore> done, const RunObserver&, const CancelToken&,
                                   SweepStart start = {});

}  // namespace attnscope

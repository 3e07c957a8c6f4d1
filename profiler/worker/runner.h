// SPDX-License-Identifier: Apache-2.0
// Runs a plan on a device and reports each point when it is complete. Several points are in flight if the device counts
// them together. Accesses no files.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/plan/round_order.h"
#include "profiler/plan/sweep.h"

namespace attnscope {

struct RunObserver {
  std::function<void(std::size_t index, const PointSpec&)> on_point_started;
  std::function<void(int round)> on_round;  ///< Called at the start of each round, from 0.
  /// Called once per point and round, in order, when the record is complete; the caller stores it here. Other points of
  /// the round may have started.
  std::function<void(std::size_t index, const PointRecord&)> on_point;
};

enum class RunState { complete, cancelled, device_lost };
struct RunOutcome {
  RunState state = RunState::complete;
  Message reason;  ///< Set for device_lost.
};

/// Results of a point that a resumed run already has.
struct PointProgress {
  std::set<int> rounds;  ///< Complete rounds, from 0.
  bool ended = false;    ///< No more rounds follow (can_remeasure()).
};

/// Maximum number of points counted together; the device may use fewer.
inline constexpr std::size_t max_counted_together = 64;

/// State that a restarted process takes over from its predecessor.
struct SweepStart {
  /// Initial number of points counted together; doubles each time. Starting with 1 isolates a faulty point after a
  /// restart and gives a first result early.
  std::size_t together = 1;
  /// Called after the first round. Adds further places to the given list and returns them; empty: none left. Points
  /// measured before may still wait to be counted with them.
  std::function<std::vector<std::size_t>(std::vector<PointProgress>&)> more = {};
};

/// Measures the plan, whose kernels Device::prepare() may have compiled, in each round, in round_order(). Outputs are
/// verified in the first round; those of user-defined kernels in every round. A point whose disposition rules it out
/// (can_remeasure()) is skipped in later rounds. `done`: per place in the plan; may be empty. An exception from an
/// observer ends the run and is rethrown; points reported before stay done. Incomplete points are not reported if the
/// run is cancelled or another point loses the device; the latter is reported.
[[nodiscard]] RunOutcome run_sweep(const SweepPlan&, Device&, const MeasureOptions&, const SweepRounds& rounds,
                                   std::vector<PointProgress> done, const RunObserver&, const CancelToken&,
                                   SweepStart start = {});

}  // namespace attnscope

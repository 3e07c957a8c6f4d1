// SPDX-License-Identifier: Apache-2.0
// Plays the tile programs of a plan over a GPU's SMs and through its L2.
//
// The model. A launch's blocks start in order; each SM holds as many as occupancy allows, and a finished block makes
// room for the next. Resident blocks advance in turn, one step each, so all run at one speed. Every access goes through
// one write-back cache of hashed sets (l2_cache.h), of the size and shape that were fitted to a GPU's counters
// (l2_behaviour.h).
//
// A cold start is what counters have: each launch begins with an L2 that holds nothing of it, and what it leaves dirty
// there is its own, written when it ends (settled bytes). A plan of several launches is timed otherwise: only the first
// begins so, and the next ones find what those before them left. Where the two differ, both are played. A warm start is
// the state that one earlier execution leaves, launches find what those before them left, and nothing is added at the
// end.
//
// A launch of more than `max_touches` granule accesses is not played to its end: what it did in the second half of
// them continues for the rest. Bytes between the SMs and L2 need no such estimate; they are the closed form's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/device_limits.h"
#include "profiler/plan/cancel_token.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

/// What one access did to L2 and DRAM.
struct PlayedAccess {
  const KernelLaunch& launch;
  std::int64_t round = 0;  ///< of the launch: in a round every resident block makes one step
  std::int64_t block = 0;
  std::int64_t step = 0;
  const TileAccess& access;
  std::int64_t l2_bytes = 0;          ///< of access.moved_bytes(): found in L2, or stored to it
  std::int64_t dram_read_bytes = 0;   ///< the rest of them, fetched from DRAM
  std::int64_t dram_write_bytes = 0;  ///< of other lines, dirty ones, that had to make room
};
using AccessObserver = std::function<void(const PlayedAccess&)>;

struct SimulationOptions {
  CacheState cache = CacheState::cold;
  std::int64_t max_touches = 2'000'000;  ///< a launch; about a tenth of a second
  /// Called for every access that is played, in that order: step by step of the blocks that run at once; of a warm
  /// start, the execution that counts. None costs nothing.
  AccessObserver observe{};
};

struct LaunchSimulation {
  Traffic traffic;  ///< SM<->L2: summed from the accesses when all were played, else the launch's closed form
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  double dram_flush_bytes = 0;  ///< of those: dirty when the launch ended, and so no access's
  /// Read and written in the course of the plan, after the launches before it: what its time there is made of. The last
  /// one's own dirty lines are among it, as they are of a launch by itself; what others leave and nothing displaces is
  /// written when no one waits for it.
  double dram_in_plan_bytes = 0;
  double busy_sms = 0;            ///< SMs with a block, averaged over the launch
  double achieved_warps_pct = 0;  ///< resident warps of an SM that has a block, percent of what it can hold
  Occupancy occupancy;            ///< theoretical
  bool complete = true;           ///< every access was played
};

/// One result for each measured launch; nothing when cancelled. Set-up launches are not played: a cold start forgets
/// what they leave in L2, and of a warm one it is the earlier execution that decides. Pre: every launch fits on an SM
/// (Algorithm::refusal is empty).
[[nodiscard]] std::optional<std::vector<LaunchSimulation>> simulate_traffic(const AttentionPlan&, const DeviceLimits&,
                                                                            const SimulationOptions&,
                                                                            const CancelToken&);

}  // namespace attnscope

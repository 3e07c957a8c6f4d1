// SPDX-License-Identifier: Apache-2.0
// Simulates the tile programs of a plan on a GPU's SMs and L2.
//
// Model. Blocks of a launch start in order; each SM runs as many as occupancy allows, and a finished block makes room
// for the next. Resident blocks advance one step each per round, so all run at equal speed. Every access goes through
// one write-back cache with hashed sets, whose size and associativity are fitted to counters (l2_cache.h).
//
// Cold start, as hardware counters see it: each launch starts with an empty L2, and the dirty lines it leaves are
// written at its end (settled bytes). Timing of a plan with several launches differs: only the first starts cold, later
// ones find the L2 as left. If the two differ, both are simulated. Warm start: the plan runs once before; each launch
// finds the L2 as left, and nothing is flushed at the end.
//
// A launch with more than `max_touches` granule accesses is simulated up to that limit; the DRAM bytes of the rest are
// extrapolated from the second half. SM<->L2 bytes are then those of the closed form.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/device_limits.h"
#include "profiler/plan/cancel_token.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

struct SimulationOptions {
  CacheState cache = CacheState::cold;
  std::int64_t max_touches = 2'000'000;  ///< per launch; takes about 0.1 s
};

struct LaunchSimulation {
  Traffic traffic;  ///< SM<->L2: summed over accesses if complete, else the closed form
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  /// DRAM bytes when the launch runs after the earlier launches of the plan; used to predict its time. Includes the
  /// final flush of the last launch only: dirty lines that other launches leave are written outside the timed sequence.
  double dram_in_plan_bytes = 0;
  double achieved_warps_pct = 0;  ///< resident warps per busy SM, percent of the maximum
  Occupancy occupancy;
  bool complete = true;  ///< all accesses were simulated
};

/// Returns one result per measured launch; empty if cancelled. Setup launches are not simulated: cold starts discard
/// their L2 contents, and warm starts use those of the first execution. Pre: every launch is feasible
/// (Algorithm::refusal() is empty).
[[nodiscard]] std::optional<std::vector<LaunchSimulation>> simulate_traffic(const AttentionPlan&, const DeviceLimits&,
                                                                            const SimulationOptions&,
                                                                            const CancelToken&);

}  // namespace attnscope

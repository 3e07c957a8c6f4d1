// SPDX-License-Identifier: Apache-2.0
// Runs a plan on several devices at once. Points that are compared with one another, a group, stay on one device; what
// is free takes the next group. A device that is lost leaves its group to the others, which begin it anew.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/measure/runner.h"
#include "profiler/plan/shards.h"

namespace attnscope {

struct SharedDevice {
  std::unique_ptr<Device> device;
  /// The same one in a fresh process, after what it ran made it unusable. The error: it is gone.
  std::function<Result<std::unique_ptr<Device>, std::string>()> reopen;
  std::string host = {};  ///< devices of one host share what the first of them compiles
};

/// A plan that is measured, all of it or some groups of it.
struct SharedRun {
  const SweepPlan* plan = nullptr;
  SweepRounds rounds = {};
  std::vector<DoneBefore> done = {};  ///< of each place
  std::vector<Places> groups = {};    ///< in the order in which they are taken
  /// By group, the device that has begun it and goes on with it; empty: none has.
  std::vector<std::optional<std::size_t>> begun_on = {};
  std::vector<std::size_t> bundles = {};  ///< by group, as bundles_of() has it; empty: each is one of its own
};

/// One call at a time, from any thread. Devices are known by their places in what run_shared() was given.
struct SharedObserver {
  std::function<void(std::size_t done, std::size_t total, const BuildReport&)> on_build = {};
  std::function<void(std::size_t device, std::size_t place, int round)> on_point_started = {};
  std::function<void(std::size_t device, std::size_t place, int round, const PointRecord&)> on_point = {};
  /// A lost device's: what was found at these places is to be replaced by what another one finds.
  std::function<void(const Places&)> on_begun_anew = {};
  /// `gone`: nothing more runs there; else it goes on with the next point in a fresh process.
  std::function<void(std::size_t device, const std::string& why, bool gone)> on_device_lost = {};
};

struct SharedOutcome {
  bool cancelled = false;
  bool complete = false;
};

/// Points in a row that may cost a device before it is given up.
inline constexpr int most_losses_in_a_row = 5;

/// What an observer throws ends the run, and passes through once all devices have stopped.
[[nodiscard]] SharedOutcome run_shared(std::vector<SharedDevice>& devices, const SharedRun&, const MeasureOptions&,
                                       const SharedObserver&, const CancelToken&);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// collect --device all|0,1,3: a child process a GPU, one queue of groups, and this process alone writes the file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/commands/collect.h"
#include "app/devices.h"

namespace attnscope {

/// Plan, run header and shard as collect makes them of one device.
struct Planner {
  std::function<SweepPlan(const DeviceLimits&)> plan;
  std::function<RunHeader(const OpenedDevice&, const SweepPlan&)> header;
};

/// `words`: as several_devices() gives them. They share one run, the points of a map or a curve on one of them.
/// Throws CommandError.
ExitCode collect_on_several(CollectOptions&, const std::vector<std::string>& words, const Planner&, Reporter&,
                            std::FILE* people, CancelToken&);

}  // namespace attnscope

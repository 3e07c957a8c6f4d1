// SPDX-License-Identifier: Apache-2.0
// How a run that stopped continues with --resume: on the device that it began on, or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/devices.h"
#include "app/reporter.h"
#include "kernels/model/device_limits.h"
#include "storage/run_store.h"

namespace attnscope {

/// A run that is to continue.
struct StoppedRun {
  std::filesystem::path file;
  RunSummary run;
};

/// The hash of what is asked for, planned for a device with these limits; nothing where it cannot be planned for it.
using HashOfPlan = std::function<std::optional<std::string>(const DeviceLimits&)>;

/// Returns the newest interrupted run of this plan, on any device, from the first of `files` that has one. Skips
/// imports, unreadable files, and files that another collector is writing.
[[nodiscard]] std::optional<StoppedRun> find_stopped_run(const std::vector<std::filesystem::path>& files,
                                                         const HashOfPlan& hash_of_plan);

/// The run's own device. Where it cannot be used, the run is left as interrupted, and end_interrupted() ends the
/// command. `while_locked`: as of RunStore::open().
[[nodiscard]] OpenedDevice open_device_of(const StoppedRun&, bool counters, Reporter&,
                                          std::function<bool(int)> while_locked);

/// Reports that the device of `stopped` cannot be used, and throws CommandError (partial), which says how to continue.
[[noreturn]] void end_interrupted(const StoppedRun&, const std::string& why, Reporter&);

}  // namespace attnscope

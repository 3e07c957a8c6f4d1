// SPDX-License-Identifier: Apache-2.0
// Finds the run that --resume continues, on the device on which it began.
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

struct UnfinishedRun {
  std::filesystem::path file;
  RunSummary run;
};

/// Returns the hash of the requested plan for a device with these limits; nullopt if it cannot be planned for that
/// device.
using PlanHasher = std::function<std::optional<std::string>(const DeviceLimits&)>;

/// Returns the newest unfinished run of this plan, on any device, from the first of `files` that has one. Skips
/// imports, unreadable files, and files that another collector is writing.
[[nodiscard]] std::optional<UnfinishedRun> find_unfinished_run(const std::vector<std::filesystem::path>& files,
                                                               const PlanHasher& plan_hasher);

/// Opens the run's device. If that fails, marks the run as interrupted and calls fail_interrupted(). `on_locked`: see
/// RunStore::open().
[[nodiscard]] OpenedDevice open_run_device(const UnfinishedRun&, bool counters, Reporter&,
                                           std::function<bool(int)> on_locked);

/// Reports that the device of `stopped` cannot be used, and throws CommandError (partial) with the command that
/// continues it.
[[noreturn]] void fail_interrupted(const UnfinishedRun&, const std::string& why, Reporter&);

}  // namespace attnscope

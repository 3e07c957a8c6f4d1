// SPDX-License-Identifier: Apache-2.0
// How a run that stopped goes on: with --resume, and in the process by which a collector replaces itself. On the device
// that it began on, or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/devices.h"
#include "app/reporter.h"
#include "kernels/model/device_limits.h"
#include "storage/run_store.h"

namespace attnscope {

/// A run that is to go on.
struct StoppedRun {
  std::filesystem::path file;
  RunSummary run;
};

/// The hash of what is asked for, planned for a device with these limits; nothing where it cannot be planned for it.
using HashOfPlan = std::function<std::optional<std::string>(const DeviceLimits&)>;

/// The newest run in `files`, the first of them that has one, whose plan is the one asked for, on whatever device it
/// began; imports, files that another collector writes and files that cannot be read left out.
[[nodiscard]] std::optional<StoppedRun> find_stopped_run(const std::vector<std::filesystem::path>& files,
                                                         const HashOfPlan& hash_of_plan);

/// The newest run in `file` on that device. Throws FileError, or CommandError where there is none.
[[nodiscard]] StoppedRun stopped_run_on(const std::filesystem::path& file, const std::string& device_uuid);

/// The run's own device; `word` is what --device says, which leads to it where it is another machine's. Where it cannot
/// be used, the run is left as interrupted, that is reported, and CommandError (partial) says how to go on.
/// `while_locked`: as of RunStore::open().
[[nodiscard]] OpenedDevice open_device_of(const StoppedRun&, const std::string& word, bool counters, Reporter&,
                                          std::function<bool(int)> while_locked);

/// What the process that goes on is told.
struct Restart {
  std::filesystem::path file;
  std::string device_uuid;
  int losses = 0;                      ///< points in a row that cost the device
  bool names_file = false;             ///< the user's own arguments do
  bool resumes = false;                ///< the user's own arguments do
  std::vector<std::string> more = {};  ///< arguments of the session that goes on: "--continue-..."
  int keeps_open = -1;                 ///< a descriptor that the process gets as well; -1: none
};
/// The arguments of that process. They stand right behind the command's name, for the user's own may end in "--".
[[nodiscard]] std::vector<std::string> restart_arguments(Arguments, const Restart&);
/// Replaces this process by one that continues the run. Exit handlers do not run: the driver's may wait for a kernel
/// that never ends. Returns only on failure.
void restart(Arguments, const Restart&);

}  // namespace attnscope

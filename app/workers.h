// SPDX-License-Identifier: Apache-2.0
// Devices in worker processes of this program or of another build.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/devices.h"
#include "profiler/worker/supervisor.h"

namespace attnscope {

/// Part of the help of --device in commands that accept several devices.
inline constexpr const char* device_list_help =
    "; several devices share the sweep: all (local GPUs), or a list such as 0,1,3 or ssh:a,ssh:b; simulated*4 is four "
    "simulated GPUs";

/// Splits a list of devices; nullopt if `word` names only one. Throws CommandError if a device is listed twice, or if
/// "all" finds no GPU.
[[nodiscard]] std::optional<std::vector<std::string>> parse_device_list(std::string_view word);

struct NamedWorker {
  std::string word;  ///< device name in the syntax of --device
  OpenedDevice opened;
};

/// Opens a GPU in a worker process, and a simulated device in this one. Throws CommandError.
[[nodiscard]] OpenedDevice open_worker(std::string_view word, bool counters);
/// Opens the device with that UUID. The error contains the cause and the fix.
[[nodiscard]] Result<OpenedDevice, std::string> open_worker_on(const std::string& uuid, bool counters);

/// Opens all devices in parallel. With `all`, skips GPUs that cannot be opened and passes the reason to `warn`. Throws
/// CommandError if a device named explicitly, or every device, cannot be opened.
[[nodiscard]] std::vector<NamedWorker> open_workers(const std::vector<std::string>& words, bool all, bool counters,
                                                    const std::function<void(const Message&)>& warn);

/// Returns a worker that can be restarted. `warn` may be called on any thread.
[[nodiscard]] Worker make_restartable(NamedWorker worker, bool counters,
                                      const std::function<void(const Message&)>& warn);

/// Starts `program` as a worker and opens a device in it, without counters. Throws CommandError.
[[nodiscard]] std::unique_ptr<Device> open_child_device(const std::string& program, const std::string& device,
                                                        const CancelToken& cancel);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// Opens the devices named by --device: in this process, in worker processes of this or another build, and over ssh.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/worker/supervisor.h"

namespace attnscope {

inline constexpr const char* device_help =
    "GPU number, gpu (the first), simulated (H200), simulated:NAME, simulated:FILE.json (see model --print-gpu), "
    "ssh:HOST or ssh:HOST/DEVICE (default: GPU 0, or simulated without GPU and driver)";
/// Part of the help of --device in commands that accept several devices.
inline constexpr const char* device_list_help =
    "; several devices share the sweep: all (local GPUs), or a list such as 0,1,3 or ssh:a,ssh:b; simulated*4 is four "
    "simulated GPUs";

struct OpenedDevice {
  std::unique_ptr<Device> device;
  /// "GPU 0, NVIDIA H200" or "simulated NVIDIA H200: reason"; printed first by each command.
  Message announcement;
  /// Why a simulated device replaces a GPU that was not explicitly requested; empty otherwise.
  std::string simulation_reason = {};
};

// All functions throw CommandError: usage for an unknown name, error for a device that is missing or cannot be used.

/// Opens the device named by --device. Empty: the first GPU, or the simulated H200 if there is neither GPU nor driver.
/// Opens a GPU in a worker process if a known kernel has host code.
OpenedDevice open_device(std::string_view word, bool counters);
OpenedDevice open_device_in_process(std::string_view word, bool counters);
/// Opens the local GPU, or the simulated public GPU, with this UUID; its number may have changed.
OpenedDevice open_device_by_uuid(const std::string& uuid, bool counters);

/// Opens a GPU in a worker process, and a simulated device in this one.
[[nodiscard]] OpenedDevice open_worker(std::string_view word, bool counters);
/// Opens the device with that UUID; `limits`: its limits, for a hypothetical GPU without its file.
[[nodiscard]] OpenedDevice open_worker_on(const std::string& uuid, const DeviceLimits& limits, bool counters);
/// Starts `program` as a worker and opens a device in it, without counters.
[[nodiscard]] std::unique_ptr<Device> open_child_device(const std::string& program, const std::string& device,
                                                        const CancelToken& cancel);

/// Splits a list of devices; nullopt if `word` names only one.
[[nodiscard]] std::optional<std::vector<std::string>> parse_device_list(std::string_view word);

struct NamedWorker {
  std::string word;  ///< device name in the syntax of --device
  OpenedDevice opened;
};
/// Opens all devices in parallel. With `all`, skips GPUs that cannot be opened and passes the reason to `warn`.
[[nodiscard]] std::vector<NamedWorker> open_workers(const std::vector<std::string>& words, bool all, bool counters,
                                                    const std::function<void(const Message&)>& warn);
/// Returns a worker that can be restarted. `warn` may be called on any thread.
[[nodiscard]] Worker make_restartable(NamedWorker worker, bool counters,
                                      const std::function<void(const Message&)>& warn);

/// Returns whether `word` names a remote device, "ssh:...".
[[nodiscard]] bool is_remote_device_name(std::string_view word);

/// Appends a full stop if there is none.
[[nodiscard]] std::string as_sentence(std::string text);

/// Warns that predicted times are not validated on this GPU, or for some algorithms only; else empty.
[[nodiscard]] Message times_note(const DeviceLimits& limits);

/// Returns the limits of a public GPU by name, or of a hypothetical GPU from a ".json" file, without opening a device.
DeviceLimits load_gpu_limits(std::string_view name);

}  // namespace attnscope

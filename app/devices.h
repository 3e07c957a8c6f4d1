// SPDX-License-Identifier: Apache-2.0
// Opens the device named by --device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/model/result.h"
#include "profiler/measure/device.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope {

inline constexpr const char* device_help =
    "GPU number, gpu (the first), simulated (H200), simulated:NAME, simulated:FILE.json (see model --print-gpu), "
    "ssh:HOST or ssh:HOST/DEVICE (default: GPU 0, or simulated without GPU and driver)";

/// "fd:IN,OUT": the worker at the other end of two inherited descriptors, for the Python package. Not in the help.
inline constexpr std::string_view inherited_prefix = "fd:";
[[nodiscard]] inline bool is_inherited_device_name(std::string_view word) {
  return word.starts_with(inherited_prefix);
}

struct OpenedDevice {
  std::unique_ptr<Device> device;
  /// "GPU 0, NVIDIA H200" or "simulated NVIDIA H200: reason"; printed first by each command.
  Message announcement;
  /// Why a simulated device replaces a GPU that was not explicitly requested; empty otherwise.
  std::string simulation_reason = {};
};

/// "GPU 0, NVIDIA H200" or "simulated NVIDIA H200".
[[nodiscard]] Message device_title(const DeviceInfo&);

/// Opens the device named by --device. Empty: the first GPU, or the simulated H200 if there is neither GPU nor driver.
/// Throws CommandError: usage for an unknown name, error for a GPU that is missing or cannot be used. Opens a GPU in a
/// worker process if a known kernel has host code.
OpenedDevice open_device(std::string_view word, bool counters);
OpenedDevice open_device_in_process(std::string_view word, bool counters);

/// Throws CommandError (usage) unless `word` is empty, "gpu" or a GPU number.
void require_gpu_name(std::string_view word);

/// Returns whether `word` names a remote device, "ssh:...".
[[nodiscard]] bool is_remote_device_name(std::string_view word);
/// Reconnects to a lost remote device with that UUID; retries for half a minute. Calls `waits` with the reason and the
/// delay before each retry.
[[nodiscard]] Result<OpenedDevice, std::string> reopen_remote(const std::string& word, const std::string& uuid,
                                                              bool counters,
                                                              const std::function<void(const Message&)>& waits);

/// Opens the local GPU with this UUID; its number may have changed. The error contains the cause and the fix.
Result<OpenedDevice, std::string> open_device_by_uuid(const std::string& uuid, bool counters);
/// `why`: see OpenedDevice::simulation_reason. `unit`: see make_simulated_device().
[[nodiscard]] OpenedDevice open_simulation(const DeviceLimits& limits, const std::string& why = {}, int unit = 0);
/// Returns the simulated device with these limits if it has this UUID, so that a run of a hypothetical GPU can continue
/// without its file.
std::optional<OpenedDevice> reopen_simulated(const std::string& uuid, const DeviceLimits& limits);

/// Appends a full stop if there is none.
[[nodiscard]] std::string as_sentence(std::string text);

/// Returns the cause and the fix.
[[nodiscard]] std::string describe(const GpuError&);

/// Warns that predicted times are not validated on this GPU, or for some algorithms only; else empty.
[[nodiscard]] Message times_note(const DeviceLimits& limits);

/// Returns the limits of a public GPU by name, or of a hypothetical GPU from a ".json" file, without opening a device.
/// Throws CommandError (usage).
DeviceLimits load_gpu_limits(std::string_view name);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// "--device WORD": which GPU, or which GPU to simulate.
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
    "GPU number, 'gpu' (the first), 'simulated' (an H200), 'simulated:NAME' (a public GPU), 'simulated:FILE.json' "
    "(a GPU as `attnscope model --print-gpu` prints it), or 'ssh:HOST' for the first GPU of another machine, "
    "'ssh:HOST/DEVICE' for another device of it (default: GPU 0; "
    "simulated where this machine has no GPU and no driver)";

struct OpenedDevice {
  std::unique_ptr<Device> device;
  /// "GPU 0, NVIDIA H200", or "simulated NVIDIA H200: why": the first line of what a command prints.
  Message announcement;
  /// Why it stands for a GPU where nobody asked for a simulation; empty where it does not.
  std::string simulated_because = {};
};

/// Empty `word`: the first GPU; the simulated H200 where there is neither GPU nor driver. Throws CommandError: usage
/// for a word that names nothing, error for a GPU that is demanded and not there, or is there and cannot be used. Where
/// a kernel that this process knows has code on the host, a GPU is opened in a process of its own.
OpenedDevice open_device(std::string_view word, bool counters);
/// The same in this process, whatever it knows.
OpenedDevice open_device_here(std::string_view word, bool counters);

/// Throws CommandError (usage) where `word` is neither empty, "gpu" nor a GPU's number.
void require_gpu_word(std::string_view word);

/// Whether `word` names a device of another machine, "ssh:...".
[[nodiscard]] bool is_elsewhere(std::string_view word);
/// That device once more, after it was lost: tried for half a minute while nobody can be reached. It has to have that
/// UUID. `waits` hears each time why, and in how many seconds the next try is.
[[nodiscard]] Result<OpenedDevice, std::string> reopen_elsewhere(const std::string& word, const std::string& uuid,
                                                                 bool counters,
                                                                 const std::function<void(const Message&)>& waits);
/// A simulated device predicts with the rates that were measured of such a GPU into the file `ceilings`. `word`: what
/// --device says. Throws CommandError: usage also for a device that is measured itself, and for a file without such
/// rates.
void predict_with_ceilings(OpenedDevice&, std::string_view word, const std::string& ceilings);

/// Opens the local GPU with this UUID, regardless of its index. The error names the cause and the fix.
Result<OpenedDevice, std::string> open_pinned_device_here(const std::string& uuid, bool counters);
/// `why`, `unit`: OpenedDevice::simulated_because, as of make_simulated_device().
[[nodiscard]] OpenedDevice open_simulation(const DeviceLimits& limits, const std::string& why = {}, int unit = 0);
/// The simulated device with these limits, if that is its UUID: a run of a hypothetical GPU continues without its file.
std::optional<OpenedDevice> reopen_simulated(const std::string& uuid, const DeviceLimits& limits);

/// The text with a full stop at its end.
[[nodiscard]] std::string as_sentence(std::string text);

/// What is wrong and what to do about it, as sentences.
[[nodiscard]] std::string describe(const GpuError&);

/// The limits that `word` names, without opening a GPU where that can be avoided (for plans and models).
/// A word that ends in ".json" is the file of a hypothetical GPU. Throws CommandError (usage) for an unknown GPU and
/// for a file that is none.
DeviceLimits limits_of_known_gpu(std::string_view name);

}  // namespace attnscope

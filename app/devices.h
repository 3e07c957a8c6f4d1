// SPDX-License-Identifier: Apache-2.0
// "--device WORD": which GPU, or which GPU to simulate.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "profiler/measure/device.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope {

inline constexpr const char* device_help =
    "GPU number, 'gpu' (the first), 'simulated' (an H200) or 'simulated:NAME' (default: GPU 0 if there is one, else "
    "simulated)";

struct OpenedDevice {
  std::unique_ptr<Device> device;
  /// "GPU 0, NVIDIA H200", or "simulated NVIDIA H200: why": the first line of what a command prints.
  std::string announcement;
};

/// Empty `word`: the first GPU that works, else the simulated H200. Throws CommandError: usage for a word that names
/// nothing, error for a GPU that is demanded and not there.
OpenedDevice open_device(std::string_view word, bool counters);

/// What is wrong and what to do about it, as sentences.
[[nodiscard]] std::string describe(const GpuError&);

/// The limits that `word` names, without opening a GPU where that can be avoided (for plans and models).
/// Throws CommandError (usage) for an unknown GPU.
const DeviceLimits& limits_of_known_gpu(std::string_view name);

}  // namespace attnscope

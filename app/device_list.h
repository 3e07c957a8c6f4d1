// SPDX-License-Identifier: Apache-2.0
// "--device WORDS": several devices that measure at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/devices.h"
#include "profiler/measure/shared_sweep.h"

namespace attnscope {

/// What is said of --device where several may be named.
inline constexpr const char* several_devices_help =
    "; several measure at once: 'all' GPUs of this machine, or words of these with commas between them, as in 0,1,3 or "
    "ssh:a,ssh:b; 'simulated*4' and 'simulated:NAME*4' are several GPUs of one kind";

/// A word for each of several devices; nothing where `word` names one. Throws CommandError: one that is named twice, no
/// GPU for "all".
[[nodiscard]] std::optional<std::vector<std::string>> several_devices(std::string_view word);

/// One of several, in a process of its own.
struct NamedDevice {
  std::string word;  ///< as several_devices() gives it
  OpenedDevice opened;
};
/// Opens them at once. A GPU that nobody named by itself, of `all`, may be missing: `warn` hears why. Throws
/// CommandError where a named one cannot be opened, or none.
[[nodiscard]] std::vector<NamedDevice> open_several(const std::vector<std::string>& words, bool all, bool counters,
                                                    const std::function<void(const Message&)>& warn);

/// As run_shared() takes it.
[[nodiscard]] SharedDevice shared_device(NamedDevice device, bool counters,
                                         const std::function<void(const Message&)>& warn);

}  // namespace attnscope

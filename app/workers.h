// SPDX-License-Identifier: Apache-2.0
// Devices in worker processes of this program or of another build of it.
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

/// The help of --device where several may be named.
inline constexpr const char* several_devices_help =
    "; several measure at once: 'all' GPUs of this machine, or words of these with commas between them, as in 0,1,3 or "
    "ssh:a,ssh:b; 'simulated*4' and 'simulated:NAME*4' are several GPUs of one kind";

/// A word for each of several devices; nothing where `word` names one. Throws CommandError: one that is named twice, no
/// GPU for "all".
[[nodiscard]] std::optional<std::vector<std::string>> several_devices(std::string_view word);

struct NamedWorker {
  std::string word;  ///< as --device takes it
  OpenedDevice opened;
};

/// A worker of this program for the GPU that `word` names; a simulation runs in this process. Throws CommandError.
[[nodiscard]] OpenedDevice open_worker(std::string_view word, bool counters);
/// The device of that UUID, whatever its number is now. The error says what is wrong and what to do about it.
[[nodiscard]] Result<OpenedDevice, std::string> open_worker_on(const std::string& uuid, bool counters);

/// Opens them at once. A GPU that nobody named by itself, of `all`, may be missing: `warn` gets the reason. Throws
/// CommandError where a named one cannot be opened, or none.
[[nodiscard]] std::vector<NamedWorker> open_workers(const std::vector<std::string>& words, bool all, bool counters,
                                                    const std::function<void(const Message&)>& warn);

/// For supervise(). `warn` may be called on any thread.
[[nodiscard]] Worker restartable(NamedWorker worker, bool counters, const std::function<void(const Message&)>& warn);

/// Starts `program` and opens there what `--device` takes, without counters. Throws CommandError.
[[nodiscard]] std::unique_ptr<Device> open_child_device(const std::string& program, const std::string& device,
                                                        const CancelToken& cancel);

}  // namespace attnscope

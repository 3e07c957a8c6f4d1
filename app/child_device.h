// SPDX-License-Identifier: Apache-2.0
// A device in a process of its own: of this program, or of another build of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/measure/remote/remote_device.h"

namespace attnscope {

/// Starts `program` and opens there what `--device` takes, without counters. Throws CommandError.
[[nodiscard]] std::unique_ptr<Device> open_child_device(const std::string& program, const std::string& device,
                                                        const CancelToken& cancel);

/// The same of this very program, for points whose kernels have code on the host: what these do to their process costs
/// a point. `words` say which device, as options of `attnscope remote`. Throws CommandError.
[[nodiscard]] remote::OpenedRemote open_library_process(const std::vector<std::string>& words, bool counters,
                                                        const CancelToken& cancel);

}  // namespace attnscope

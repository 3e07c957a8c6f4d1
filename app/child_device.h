// SPDX-License-Identifier: Apache-2.0
// A device in a process of its own: of this program, or of another build of it.
#pragma once

#include <memory>
#include <string>

#include "profiler/measure/device.h"

namespace attnscope {

/// Starts `program` and opens there what `--device` takes. Throws CommandError.
[[nodiscard]] std::unique_ptr<Device> open_child_device(const std::string& program, const std::string& device,
                                                        const CancelToken& cancel);

}  // namespace attnscope

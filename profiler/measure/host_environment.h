// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/measure/device.h"

namespace attnscope {

/// Version as printed by `--version`: "0.1.0".
[[nodiscard]] const char* program_version();

/// The fields of Environment that need no GPU: program version and operating system.
[[nodiscard]] Environment host_environment();

}  // namespace attnscope

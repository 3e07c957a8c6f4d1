// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/measure/device.h"

namespace attnscope {

/// As `--version` prints it: "0.1.0".
[[nodiscard]] const char* program_version();

/// The parts of an Environment that need no GPU: this program's version and the operating system's name.
[[nodiscard]] Environment host_environment();

}  // namespace attnscope

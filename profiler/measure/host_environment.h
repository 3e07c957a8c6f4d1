// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/measure/device.h"

namespace attnscope {

/// The parts of an Environment that need no GPU: this program's version and the operating system's name.
[[nodiscard]] Environment host_environment();

}  // namespace attnscope

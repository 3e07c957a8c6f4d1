// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace attnscope::gpu {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace attnscope::gpu

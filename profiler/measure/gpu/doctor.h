// SPDX-License-Identifier: Apache-2.0
// Checks of the GPU, driver, compiler and counters of this machine, with fixes.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

struct DoctorCheck {
  std::string name;  ///< "driver", "device", "NVRTC", "CUPTI", "counters", "NVML", "clocks", "cubin cache"
  bool ok = false;
  std::string detail;  ///< what was found, with versions
  std::string fix;     ///< empty if it is ok, or if nothing is known to help
};

/// Checks what measuring on `ordinal` needs. Never throws. A check whose requirement failed is left out.
[[nodiscard]] std::vector<DoctorCheck> check_gpu(int ordinal = 0);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// Checks of the GPU, driver, compiler and counters of this machine, with fixes.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

struct DoctorCheck {
  std::string name;  ///< "driver", "device", "NVRTC", "CUPTI", "counters", "NVML", "clocks", "cubin cache"
  bool ok = false;
  std::string detail;
  std::string fix;  ///< Empty if the check passed or no fix is known.
};

/// Checks everything that measuring on GPU `ordinal` needs. Never throws. Skips a check whose prerequisite failed.
[[nodiscard]] std::vector<DoctorCheck> check_gpu(int ordinal = 0);

}  // namespace attnscope

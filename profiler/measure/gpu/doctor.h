// SPDX-License-Identifier: Apache-2.0
// What of the GPU's software is here, what is missing, and what to do about it on this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/message.h"

namespace attnscope {

struct DoctorFinding {
  /// `skipped`: it was not looked at, for what it takes is missing itself.
  enum class Status { ok, warning, missing, skipped };
  std::string item;  ///< "driver", "device", "NVRTC", "CUPTI", "counters", "NVML", "cubin cache", "clocks"
  Status status = Status::ok;
  Message detail;            ///< what was found, with versions
  Message fix;               ///< what to do on this machine; empty when nothing is wrong
  Message still_works;       ///< what works without it; empty when nothing is wrong
  std::string command = {};  ///< of the fix, as a shell takes it; empty where it is none that fits every machine
};
[[nodiscard]] std::string_view to_string(DoctorFinding::Status);

/// Looks at everything that measuring on `ordinal` needs; never throws, and always has a finding for each item.
[[nodiscard]] std::vector<DoctorFinding> diagnose_gpu(int ordinal = 0);

}  // namespace attnscope

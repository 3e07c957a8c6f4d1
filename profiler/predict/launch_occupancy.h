// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy of a measured or simulated launch, and its comparison.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/messages/message.h"
#include "kernels/model/device_limits.h"
#include "profiler/metrics/point.h"

namespace attnscope::analysis {

struct LaunchOccupancy {
  int warps_per_sm = 0;
  int max_warps_per_sm = 0;
  std::string limiter;  ///< KernelRecord::occupancy_limiter
};
/// Empty if it is unknown, or if the point has several kernels, whose occupancies differ.
[[nodiscard]] std::optional<LaunchOccupancy> launch_occupancy(const PointRecord&, const DeviceLimits&);

/// Display name of an occupancy limiter: "shared memory", "grid size"; an unknown limiter of a file as it is.
[[nodiscard]] Message limiter_title(std::string_view limiter);

struct NamedOccupancy {
  std::string name;  ///< "128 × 64"
  LaunchOccupancy occupancy;
};
/// "Both: 8 warps per SM, limited by registers.", or each with its own.
[[nodiscard]] Message compare_occupancy(const NamedOccupancy& a, const NamedOccupancy& b);

}  // namespace attnscope::analysis

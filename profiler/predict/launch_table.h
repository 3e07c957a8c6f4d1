// SPDX-License-Identifier: Apache-2.0
// Every measured launch with what its time is predicted from.
#pragma once

#include <span>

#include "kernels/model/device_rates.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/cancel_token.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// A point, and the GPU that it was measured on.
struct MeasuredOn {
  const PointRecord* record = nullptr;
  const DeviceLimits* limits = nullptr;
  DeviceRates rates;  ///< that times are predicted with
};

/// A row for each timed launch of the points: what it is, its median time, its load on the device, the device's rates
/// and the kernel's constants. tests/gpu/fit_times.py fits the latter.
[[nodiscard]] Table launch_table(std::span<const MeasuredOn>, const CancelToken&);

}  // namespace attnscope::analysis

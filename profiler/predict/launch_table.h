// SPDX-License-Identifier: Apache-2.0
// Table of measured launches with the inputs of their time prediction.
#pragma once

#include <optional>
#include <span>

#include "kernels/model/device_rates.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/cancel_token.h"
#include "profiler/points/table.h"
#include "profiler/predict/prediction_error.h"

namespace attnscope::analysis {

struct MeasuredRecord {
  const PointRecord* record = nullptr;
  const DeviceLimits* limits = nullptr;
  DeviceRates rates;           ///< used to predict times
  std::optional<Half> half{};  ///< default: data_half_of()
};

/// One row per timed launch: identification, median time, load on the device, device rates and kernel constants.
/// tests/gpu/fit_times.py fits the constants.
[[nodiscard]] Table launch_table(std::span<const MeasuredRecord>, const CancelToken&);

}  // namespace attnscope::analysis

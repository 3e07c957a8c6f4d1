// SPDX-License-Identifier: Apache-2.0
// Rows of `attnscope model`: model values of a point, and measured launches with the inputs of their time prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/model/device_rates.h"
#include "kernels/model/io_model.h"
#include "kernels/model/pipeline_model.h"
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

/// One row of model values; unknown ones are empty.
struct ModelRow {
  std::string kernel;  ///< "all": the whole point
  std::string grid = {};
  std::string block = {};
  std::string reason = {};
  std::optional<std::int64_t> shared_bytes = {};
  bool feasible = false;
  std::optional<Traffic> traffic = {};
  std::optional<double> predicted_ns = {};
  std::optional<LaunchTime> time = {};  ///< only for a single measured kernel
  std::int64_t runs = 1;                ///< number of launches on all GPUs together
  std::optional<ScheduleTimes> sharing = {};
  std::int64_t link_bytes = 0;
};

/// Returns a row for the point and, if it has several kernels, one for each. Pre: the algorithm is registered.
[[nodiscard]] std::vector<ModelRow> point_model_rows(const PointSpec&, const DeviceLimits&, const DeviceRates&);

}  // namespace attnscope::analysis

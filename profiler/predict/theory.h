// SPDX-License-Identifier: Apache-2.0
// What theory says of a point: bytes, geometry, feasibility and time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/model/device_rates.h"
#include "kernels/model/io_model.h"
#include "kernels/model/pipeline_model.h"
#include "profiler/plan/point_spec.h"

namespace attnscope::analysis {

/// Every number of a point's theory; absent ones empty.
struct Theory {
  std::string kernel;  ///< "all": of the whole point
  std::string grid = {};
  std::string block = {};
  std::string reason = {};
  std::optional<std::int64_t> shared_bytes = {};
  bool feasible = false;
  std::optional<Traffic> traffic = {};
  std::optional<double> predicted_ns = {};
  std::optional<LaunchTime> time = {};  ///< of one measured kernel
  std::int64_t runs = 1;                ///< of several GPUs: how often it is launched by all of them
  std::optional<ScheduleTimes> sharing = {};
  std::int64_t link_bytes = 0;
};

/// A row for the point, and one for each of several kernels. Pre: the algorithm is a known one.
[[nodiscard]] std::vector<Theory> theory_of(const PointSpec&, const DeviceLimits&, const DeviceRates&);

}  // namespace attnscope::analysis

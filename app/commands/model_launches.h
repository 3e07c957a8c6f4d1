// SPDX-License-Identifier: Apache-2.0
// `attnscope model --against FILE --launches`: every measured launch with what its time is predicted from.
#pragma once

#include <map>

#include "app/measured_points.h"
#include "app/table.h"
#include "profiler/simulator/cancel_token.h"

namespace attnscope {

/// What was measured of the GPU of each run; nullptr where times are predicted by table.
using RatesOfRuns = std::map<const RunSummary*, const StoredCeilings*>;

/// A row for each timed launch of the points: what it is, its median time, its load on the device, the device's rates
/// and the kernel's constants. tests/gpu/fit_times.py fits the latter.
[[nodiscard]] Table launch_table(const MeasuredPoints&, const RatesOfRuns&, const CancelToken&);

}  // namespace attnscope

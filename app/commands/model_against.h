// SPDX-License-Identifier: Apache-2.0
// `attnscope model --against FILE`: the simulated GPU's predictions beside what was measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/measured_points.h"
#include "app/output.h"
#include "profiler/plan/cancel_token.h"

namespace attnscope {

struct AgainstOptions {
  std::vector<std::string> files;
  std::string filter;     ///< only the points that fit these words
  std::string ceilings;   ///< empty: those of `files`
  bool launches = false;  ///< instead, a row for each launch, with what its time is predicted from
};

/// Times are predicted with the rates that were measured of a GPU of that name into the file `ceilings`; where that is
/// empty, of the very GPU into `files`; and by table where nobody measured any. Throws CommandError where a file holds
/// nothing that was measured.
ExitCode model_against(const AgainstOptions&, Output&);

/// What was measured of the GPU of each run; nullptr where times are predicted by table.
using RatesOfRuns = std::map<const RunSummary*, const StoredCeilings*>;

/// A row for each timed launch of the points: what it is, its median time, its load on the device, the device's rates
/// and the kernel's constants. tests/gpu/fit_times.py fits the latter.
[[nodiscard]] Table launch_table(const MeasuredPoints&, const RatesOfRuns&, const CancelToken&);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// How far predicted uses of the GPU's units lie from what counters said of the same launches, and whether the bound
// that is named is the unit that was busiest.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "profiler/analysis/prediction_error.h"
#include "profiler/analysis/speed_of_light.h"

namespace attnscope::analysis {

/// |predicted - counted| use, both shares (0 to 1) of a launch's whole time.
struct UseError {
  std::size_t launches = 0;
  double median = 0;
  double p95 = 0;
};

struct UseErrors {
  std::array<std::optional<UseError>, gpu_units.size()> units{};  ///< empty where nobody counted it
  std::size_t bounds = 0;     ///< launches of which the model or the counters name a unit as the bound
  std::size_t confirmed = 0;  ///< of these, where compare_bounds() agrees
  std::size_t quiet = 0;      ///< launches of which neither does
};

/// Of every launch whose units were counted (`collect --why`).
[[nodiscard]] UseErrors use_errors(std::span<const PredictedPoint>);

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
// By how much GPUs of one kind differ from one another: what a verdict between two machines has to allow for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "profiler/analysis/tables/table.h"

namespace attnscope::analysis {

/// A time of a point that several units of one kind measured.
struct UnitTime {
  std::string device_uuid;
  std::string point;  ///< equal for equal points
  double ns = 0;
};

/// A unit's times over the median of all units' times of the same points: median and quartiles over points.
struct UnitSpread {
  std::string device_uuid;
  std::size_t points = 0;
  double ratio = 1;
  double q1 = 1;
  double q3 = 1;
};
/// By UUID; without points that one unit alone measured, and empty where that leaves nothing.
[[nodiscard]] std::vector<UnitSpread> unit_spread(std::span<const UnitTime>);

[[nodiscard]] Table unit_table(std::vector<UnitSpread>);

}  // namespace attnscope::analysis

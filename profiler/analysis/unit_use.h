// SPDX-License-Identifier: Apache-2.0
// What `collect --why` says of a kernel: how busy each unit was, which was the busiest, and what warps waited for.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {

/// A unit of the GPU and its use, or a reason to wait and the warps that did.
struct UnitUse {
  const Metric* metric = nullptr;
  double value = 0;  ///< percent of the unit's peak over the whole kernel; of stalls, warps a cycle that issues
  Provenance provenance = Provenance::measured;
};

/// Of the units that were counted, the busiest first.
[[nodiscard]] std::vector<UnitUse> unit_uses(const PointRecord& point, std::string_view kernel = "all");
/// What counters name as the bound: the busiest unit. Empty where none was counted. Where its use is low, nothing is
/// busy, and latency binds: longest_stalls() says which.
[[nodiscard]] std::optional<UnitUse> named_bound(const PointRecord& point, std::string_view kernel = "all");

inline constexpr std::size_t stalls_shown = 3;
/// The longest `most` of those that any warp met, the longest first.
[[nodiscard]] std::vector<UnitUse> longest_stalls(const PointRecord& point, std::string_view kernel = "all",
                                                  std::size_t most = stalls_shown);

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
// What `collect --why` says of a kernel: how busy each unit was, which was the busiest, and what warps waited for; and
// what was predicted of the same.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/model/pipeline_model.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {

/// A unit of the GPU and its use, or a reason to wait and the warps that did.
struct UnitUse {
  const Metric* metric = nullptr;
  /// Percent of the unit's peak; of stalls, warps a cycle that issues.
  double value = 0;
  Provenance provenance = Provenance::measured;
};

/// Of the units that were counted, the busiest first: of an SM's units over the cycles in which it had warps.
[[nodiscard]] std::vector<UnitUse> unit_uses(const PointRecord& point, std::string_view kernel = "all");
/// The busiest unit that was counted; empty where none was. Issue slots are no unit, and the L2's slices count what
/// passes between its halves.
[[nodiscard]] std::optional<UnitUse> busiest_unit(const PointRecord& point, std::string_view kernel = "all");

/// Whether uses are shares of the kernel. Older runs and GPUs that do not count `sm_active_cycles` have shares of the
/// counted range, which begins before it and ends after it.
[[nodiscard]] bool uses_are_of_kernel(const PointRecord& point, std::string_view kernel = "all");
/// Percent of the kernel's whole time, launching included, as it is predicted; empty where it was not counted, or the
/// clock was not read.
[[nodiscard]] std::optional<double> counted_use(GpuUnit, const PointRecord& point, std::string_view kernel = "all");

/// What the model says of each unit, the busiest first.
[[nodiscard]] std::vector<UnitUse> predicted_uses(const PointRecord& point, std::string_view kernel = "all");

/// What the model and the counters name as the bound. They agree where the predicted unit is the busiest, or within
/// `tied_pct` of it, and where no unit is busy by either: latency and issue bind.
struct BoundComparison {
  GpuUnit predicted{};                ///< the busiest by the model
  double predicted_pct = 0;           ///< its use
  std::optional<double> counted_pct;  ///< what was counted of the same unit
  UnitUse measured;                   ///< the busiest that was counted
  bool agree = false;
};
[[nodiscard]] std::optional<BoundComparison> compare_bounds(const PointRecord& point, std::string_view kernel = "all");
inline constexpr double tied_pct = 5;
/// In a sentence.
[[nodiscard]] Message words_of(const BoundComparison&);

inline constexpr std::size_t stalls_shown = 3;
/// The longest `most` of those that any warp met, the longest first.
[[nodiscard]] std::vector<UnitUse> longest_stalls(const PointRecord& point, std::string_view kernel = "all",
                                                  std::size_t most = stalls_shown);

}  // namespace attnscope::analysis

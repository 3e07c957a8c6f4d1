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
/// The busiest unit that was counted; empty where none was. Issue slots are no unit; the L2's slices count what passes
/// between its halves, and what it sends is less than what SMs get of it.
[[nodiscard]] std::optional<UnitUse> busiest_unit(const PointRecord& point, std::string_view kernel = "all");

/// Whether uses are shares of the kernel. Older runs and GPUs that do not count `sm_active_cycles` have shares of the
/// counted range, which begins before it and ends after it.
[[nodiscard]] bool uses_are_of_kernel(const PointRecord& point, std::string_view kernel = "all");
/// Percent of the kernel's whole time, launching included, as it is predicted; empty where it was not counted, or the
/// clock was not read.
[[nodiscard]] std::optional<double> counted_use(GpuUnit, const PointRecord& point, std::string_view kernel = "all");

/// What the model says of each unit, the busiest first.
[[nodiscard]] std::vector<UnitUse> predicted_uses(const PointRecord& point, std::string_view kernel = "all");

/// What the model and the counters name as the bound: the busiest unit, where it is busy (busy_share); else latency and
/// issue. Both of the kernel's whole time, where that is known of what was counted.
struct BoundComparison {
  UnitUse predicted;  ///< the busiest by the model; `metric` is the counter of that unit
  UnitUse counted;    ///< the busiest that was counted
  bool predicted_binds = false;
  bool counted_binds = false;
  /// The same is named, or misses that by `tied_pct` of another unit's use or of where binding begins.
  bool agree = false;
};
[[nodiscard]] std::optional<BoundComparison> compare_bounds(const PointRecord& point, std::string_view kernel = "all");
inline constexpr double tied_pct = 5;
/// In a sentence.
[[nodiscard]] Message words_of(const BoundComparison&);
/// One side of it: the unit's title, or "latency and issue".
[[nodiscard]] Message words_of(const UnitUse& busiest, bool binds);

/// What the counters alone name as the bound, where nothing is predicted.
struct CountedBound {
  UnitUse busiest;  ///< of the kernel's whole time, where that is known
  bool binds = false;
};
/// Empty where no unit was counted.
[[nodiscard]] std::optional<CountedBound> counted_bound(const PointRecord& point, std::string_view kernel = "all");
/// In a sentence.
[[nodiscard]] Message words_of(const CountedBound&);

inline constexpr std::size_t stalls_shown = 3;
/// The longest `most` of those that any warp met, the longest first.
[[nodiscard]] std::vector<UnitUse> longest_stalls(const PointRecord& point, std::string_view kernel = "all",
                                                  std::size_t most = stalls_shown);

}  // namespace attnscope::analysis

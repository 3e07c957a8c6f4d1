// SPDX-License-Identifier: Apache-2.0
// What `collect --why` says of a kernel: how busy each unit was, which was the busiest, and what warps waited for; and
// what the model of its time says of the same.
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
  /// Percent of the unit's peak over the whole kernel; of stalls, warps a cycle that issues; of terms of a time, ns.
  double value = 0;
  Provenance provenance = Provenance::measured;
};

/// Of the units that were counted, the busiest first.
[[nodiscard]] std::vector<UnitUse> unit_uses(const PointRecord& point, std::string_view kernel = "all");
/// What counters name as the bound: the busiest unit. Empty where none was counted. Where its use is low, nothing is
/// busy, and latency binds: longest_stalls() says which.
[[nodiscard]] std::optional<UnitUse> named_bound(const PointRecord& point, std::string_view kernel = "all");

/// Whether uses are shares of the kernel. Older runs and GPUs that do not count `sm_active_cycles` have shares of the
/// counted range, which begins before it and ends after it.
[[nodiscard]] bool uses_are_of_kernel(const PointRecord& point, std::string_view kernel = "all");

/// What a predicted time is made of, the longest first; without those that take nothing.
[[nodiscard]] std::vector<UnitUse> time_terms(const PointRecord& point, std::string_view kernel = "all");
/// What the model names as the bound: the longest term, with what people call the unit that it stands for ("Tensor
/// cores"), or "latency" or "launch", for which no unit stands. Empty where no time was predicted.
struct PredictedBound {
  UnitUse term;
  Message name;
  double factor = 1;  ///< over the next term
};
[[nodiscard]] std::optional<PredictedBound> predicted_bound(const PointRecord& point, std::string_view kernel = "all");
/// Of the units that a term stands for, the busiest that was counted; empty for latency and launch, and where none was.
[[nodiscard]] std::optional<UnitUse> use_beside(TimeTerm, const PointRecord& point, std::string_view kernel = "all");
/// What the model and the counters name, and whether it is the same: the busiest unit is one that the term stands for;
/// of latency and launch, no unit is busy.
struct BoundComparison {
  PredictedBound predicted;
  UnitUse measured;
  bool agree = false;
};
[[nodiscard]] std::optional<BoundComparison> compare_bounds(const PointRecord& point, std::string_view kernel = "all");
/// Percent of its peak below which a unit bounds nothing (Nsight Compute's own rule for what latency bounds).
inline constexpr double busy_pct = 60;

inline constexpr std::size_t stalls_shown = 3;
/// The longest `most` of those that any warp met, the longest first.
[[nodiscard]] std::vector<UnitUse> longest_stalls(const PointRecord& point, std::string_view kernel = "all",
                                                  std::size_t most = stalls_shown);

}  // namespace attnscope::analysis

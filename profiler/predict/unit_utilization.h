// SPDX-License-Identifier: Apache-2.0
// Evaluation of `collect --utilization` counters: unit utilization, bottleneck, stall reasons, and their predictions.
// Occupancy of launches.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/device_limits.h"
#include "kernels/model/pipeline_model.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {

/// Utilization of a unit, or a stall reason.
struct UnitUtilization {
  const Metric* metric = nullptr;
  /// Percent of the unit's peak; stalls: warps per issue cycle.
  double value = 0;
  Provenance provenance = Provenance::measured;
  bool of_time = false;  ///< over the kernel's time, launch latency included; false: over its cycles
};

/// All counted units, the busiest first, over the kernel's whole time if known.
[[nodiscard]] std::vector<UnitUtilization> unit_utilizations(const PointRecord& point, std::string_view kernel = "all");
/// Busiest counted unit; empty if none was counted. Excludes issue slots, and the L2 counters,
/// which include traffic between the L2 partitions or underestimate what SMs receive.
[[nodiscard]] std::optional<UnitUtilization> busiest_unit(const PointRecord& point, std::string_view kernel = "all");

/// Returns true if utilizations are relative to the kernel's time. Without `sm_active_cycles` (old runs, some GPUs)
/// they are relative to the counted range, which is longer.
[[nodiscard]] bool is_relative_to_kernel(const PointRecord& point, std::string_view kernel = "all");
/// Utilization in percent of the kernel's whole time, launch included, as predictions are. Empty if not counted or the
/// clock is unknown.
[[nodiscard]] std::optional<double> counted_utilization(GpuUnit, const PointRecord& point,
                                                        std::string_view kernel = "all");

[[nodiscard]] std::vector<UnitUtilization> predicted_utilizations(const PointRecord& point,
                                                                  std::string_view kernel = "all");

/// Bottleneck by model and by counters: the busiest unit if it reaches bottleneck_threshold, else latency. Counted
/// values are relative to the kernel's whole time if known.
struct BoundComparison {
  UnitUtilization predicted;  ///< busiest by the model; `metric` is the unit's counter
  UnitUtilization counted;    ///< busiest by the counters
  bool predicted_binds = false;
  bool counted_binds = false;
  /// Both name the same bound, or differ by at most `tie_tolerance_pct` percentage points.
  bool agree = false;
};
/// Empty without a prediction, and unless all units were counted.
[[nodiscard]] std::optional<BoundComparison> compare_bounds(const PointRecord& point, std::string_view kernel = "all");
inline constexpr double tie_tolerance_pct = 5;
[[nodiscard]] Message display_text(const BoundComparison&);
/// The unit's label, or "latency and issue".
[[nodiscard]] Message display_text(const UnitUtilization& busiest, bool binds);

/// Bottleneck by counters alone, without a prediction.
struct CountedBound {
  UnitUtilization busiest;  ///< relative to the kernel's whole time if known
  bool binds = false;
};
/// Empty unless all units were counted.
[[nodiscard]] std::optional<CountedBound> counted_bound(const PointRecord& point, std::string_view kernel = "all");
[[nodiscard]] Message display_text(const CountedBound&);

/// Name of the busiest unit inside a sentence: "shared memory".
[[nodiscard]] std::string unit_text(const CountedBound&);
/// "Bottleneck: tensor cores, 77% of the time. Top stall: wgmma.", from counters alone; empty unless all
/// units were counted.
[[nodiscard]] Message bottleneck_text(const PointRecord& point);

inline constexpr std::size_t default_stall_count = 3;
/// Returns up to `most` stall reasons above zero, the largest first.
[[nodiscard]] std::vector<UnitUtilization> top_stalls(const PointRecord& point, std::string_view kernel = "all",
                                                      std::size_t most = default_stall_count);

/// Theoretical occupancy of a measured or simulated launch.
struct LaunchOccupancy {
  int warps_per_sm = 0;
  int max_warps_per_sm = 0;
  std::string limiter;  ///< KernelRecord::occupancy_limiter
};
/// Empty if it is unknown, or if the point has several kernels, whose occupancies differ.
[[nodiscard]] std::optional<LaunchOccupancy> launch_occupancy(const PointRecord&, const DeviceLimits&);

/// Display name of an occupancy limiter: "shared memory", "grid size"; an unknown limiter of a file as it is.
[[nodiscard]] Message limiter_title(std::string_view limiter);

struct NamedOccupancy {
  std::string name;  ///< "128 × 64"
  LaunchOccupancy occupancy;
};
/// "Both: 8 warps per SM, limited by registers.", or each with its own.
[[nodiscard]] Message compare_occupancy(const NamedOccupancy& a, const NamedOccupancy& b);

}  // namespace attnscope::analysis

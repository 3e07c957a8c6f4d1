// SPDX-License-Identifier: Apache-2.0
// Breakdown of a predicted time: utilization of each unit, launch overhead, idle SMs. Follows Nsight Compute's "Speed
// of Light": the busiest unit is the bound if its utilization is high.
#pragma once

#include <optional>
#include <span>

#include "kernels/messages/message.h"
#include "kernels/model/pipeline_model.h"

namespace attnscope::analysis {

/// Utilization from which a unit bounds a kernel; if all are lower, it is latency-bound (Nsight Compute's rule).
inline constexpr double bottleneck_threshold = 0.6;

/// Shares of the predicted time, 0 to 1. Units overlap, so shares do not sum to 1.
struct SpeedOfLight {
  UnitValues busy{};
  double launch = 0;
  double idle = 0;     ///< tail, in which SMs have fewer blocks than fit
  double rest = 0;     ///< time not explained by the busiest unit, launch or idle SMs
  double waiting = 0;  ///< for other GPUs that share the problem
  int empty_sms = 0;   ///< SMs that never have a block in the longest launch
  int sms = 0;

  [[nodiscard]] double of(GpuUnit unit) const { return busy[static_cast<std::size_t>(unit)]; }
  [[nodiscard]] GpuUnit busiest() const;
  /// Scales all shares for a GPU that waits for `share` of the time.
  void wait(double share);
  [[nodiscard]] bool is_wait_bound() const { return waiting > of(busiest()); }
  /// Empty if no unit is busy enough.
  [[nodiscard]] std::optional<GpuUnit> bound() const;
  /// True if no unit bounds the kernel and SMs without blocks cost more time than launching and the rest.
  [[nodiscard]] bool is_grid_limited() const { return !bound() && empty_sms > 0 && idle > rest && idle > launch; }
};
/// For launches that run in sequence. Pre: not empty.
[[nodiscard]] SpeedOfLight speed_of_light(std::span<const LaunchTime>);

/// Display name: "tensor cores".
[[nodiscard]] Message title_of(GpuUnit);
/// Phrase for a sentence, such as "tensor cores busy for 78% of it" or "68 of 132 SMs have no block".
[[nodiscard]] Message bound_text(const SpeedOfLight&);

}  // namespace attnscope::analysis

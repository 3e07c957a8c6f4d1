// SPDX-License-Identifier: Apache-2.0
// What a predicted time is spent on: how busy each unit of the GPU is in it, what launching takes, and SMs without
// work. After Nsight Compute's "speed of light": the busiest unit is the bound, if it is busy at all.
#pragma once

#include <optional>
#include <span>

#include "kernels/messages/message.h"
#include "kernels/model/pipeline_model.h"

namespace attnscope::analysis {

/// Share of its peak from which a unit bounds a kernel; where all are below, latency and issue do (Nsight Compute's own
/// rule).
inline constexpr double busy_share = 0.6;

/// Shares of the predicted time, 0 to 1. Units work at the same time: their shares do not add up.
struct SpeedOfLight {
  UnitValues busy{};
  double launch = 0;
  double idle = 0;     ///< in which SMs have fewer blocks than fit, at the end
  double rest = 0;     ///< neither the busiest unit nor launching nor idle SMs explain it
  double waiting = 0;  ///< for other GPUs that share the problem
  int empty_sms = 0;   ///< of the longest launch: SMs that never have a block
  int sms = 0;

  [[nodiscard]] double of(GpuUnit unit) const { return busy[static_cast<std::size_t>(unit)]; }
  [[nodiscard]] GpuUnit busiest() const;
  /// Of a GPU that computes for the rest of the time alone.
  void wait(double share);
  [[nodiscard]] bool waits_most() const { return waiting > of(busiest()); }
  /// Empty where no unit is busy enough.
  [[nodiscard]] std::optional<GpuUnit> bound() const;
  /// No unit is, and SMs without a block explain more of the time than launching, and than all that is left.
  [[nodiscard]] bool starved() const { return !bound() && empty_sms > 0 && idle > rest && idle > launch; }
};
/// Of launches that run one after the other. Pre: there is one.
[[nodiscard]] SpeedOfLight speed_of_light(std::span<const LaunchTime>);

/// What people call it: "tensor cores".
[[nodiscard]] Message title_of(GpuUnit);
/// In one sentence's part: "tensor cores busy for 78% of it", "68 of 132 SMs have no block", "no unit is busy for
/// 60% of it or more (the busiest, DRAM, for 53%): latency and issue".
[[nodiscard]] Message bound_words(const SpeedOfLight&);

}  // namespace attnscope::analysis

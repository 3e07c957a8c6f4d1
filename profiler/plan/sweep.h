// SPDX-License-Identifier: Apache-2.0
// Sweep plans: presets and free axes, and the points they expand to.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/device_limits.h"
#include "kernels/model/result.h"
#include "kernels/registry.h"
#include "profiler/plan/axes.h"
#include "profiler/plan/point_spec.h"
#include "profiler/plan/presets.h"

namespace attnscope {

struct SweepPlan {
  std::string preset;  ///< "custom" for free axes
  Message description;
  std::vector<PointSpec> points;
};

/// What narrows or replaces a preset.
struct SweepRequest {
  std::string preset;  ///< empty: free axes only
  /// Each replaces the preset's axis of that name; none twice, nor N with n_q.
  std::vector<Axis> axes;
  std::vector<std::string> algorithms;  ///< empty: the preset's
  CacheState cache = CacheState::cold;  ///< where no axis says
  /// Asked before each point: true ends the planning with an error.
  std::function<bool()> cancelled = {};
};
/// Points in the order in which they run: grouped so that each group's buffers can be reused. Every value that cannot
/// be posed (N 0, dropout 1.5, unknown algorithm) is an error by name; a tile, d, mask or pass that an algorithm cannot
/// run is a point that will end as `infeasible`, unless the user wrote that value himself as a single one (d 72, Br 24,
/// a window) and no algorithm of the sweep can run it: then it is an error.
[[nodiscard]] Result<SweepPlan, Message> make_plan(const SweepRequest&, const DeviceLimits&, const Registry&);

/// The one point that axes of one value each describe, for numbers that come from elsewhere: `algorithm` may be any
/// word, and what of the tile no axis sets is 0.
[[nodiscard]] Result<PointSpec, Message> make_spec(std::string algorithm, std::span<const Axis> axes, const Registry&);

/// The one point that axes of one value each ask for on that device: what they leave open is what a sweep of them would
/// take. What the device cannot run is a point all the same, which ends as `infeasible`.
[[nodiscard]] Result<PointSpec, Message> make_point(std::span<const Axis> axes, CacheState where_no_axis_says,
                                                    const DeviceLimits&, const Registry&);

/// Device bytes that a point's buffers need on that device; 0 where it cannot run.
[[nodiscard]] std::int64_t memory_need_bytes(const PointSpec&, const DeviceLimits&, const Registry&);

/// Equal for equal plans, whatever fields and knobs come later, when `options` is: --resume goes by it. FNV-1a, 64
/// bits.
[[nodiscard]] std::string plan_hash(const SweepPlan&, std::string_view options);

}  // namespace attnscope

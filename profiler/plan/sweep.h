// SPDX-License-Identifier: Apache-2.0
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
  std::string preset;  ///< "custom" without a preset
  Message description;
  std::vector<PointSpec> points;
};

struct SweepRequest {
  std::string preset;  ///< empty: axes only
  /// Each replaces the preset's axis of that name. No name twice; N excludes n_q and n_k.
  std::vector<Axis> axes;
  std::vector<std::string> algorithms;  ///< empty: all algorithms of the preset
  CacheState cache = CacheState::cold;  ///< default if there is no cache axis
  /// Called before each point; returning true aborts with an error.
  std::function<bool()> cancelled = {};
};
/// Expands the request into points in execution order, grouped so that adjacent points reuse buffers. Returns an error
/// for invalid values (N 0, dropout 1.5, unknown algorithm). A tile, d, mask or pass that an algorithm cannot run
/// becomes a point that ends as `infeasible`; it is an error if the user gave it as a single value and no algorithm of
/// the sweep can run it.
[[nodiscard]] Result<SweepPlan, Message> make_plan(const SweepRequest&, const DeviceLimits&, const Registry&);

/// Returns the point that single-valued axes describe on that device; the rest is chosen as in a sweep. An infeasible
/// configuration is not an error here.
[[nodiscard]] Result<PointSpec, Message> make_point(std::span<const Axis> axes, CacheState default_cache,
                                                    const DeviceLimits&, const Registry&);

/// Device memory of a point's buffers in bytes; 0 if the point is infeasible.
[[nodiscard]] std::int64_t required_memory_bytes(const PointSpec&, const DeviceLimits&, const Registry&);

/// 64-bit FNV-1a hash of a plan and `options`, stable across new fields and knobs. --resume compares it.
[[nodiscard]] std::string plan_hash(const SweepPlan&, std::string_view options);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// Sweep plans: presets, free axes, and the points they expand to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device_limits.h"
#include "kernels/result.h"
#include "profiler/point.h"

namespace attnscope {

/// One axis in nvbench's notation: "N=[1024,2048]", "N[pow2]=[8,14]" (2^8 ... 2^14), "N=[1024:4096:1024]"
/// (first:last:step), "mask=[none,causal]", "d=64".
struct Axis {
  std::string name;  ///< canonical: N n_q n_k d br bc batch heads_q heads_kv heads dtype mask raster algorithm
  std::vector<std::string> values;
};
/// The error names the text, what is wrong with it, and the accepted form.
[[nodiscard]] Result<Axis, std::string> parse_axis(std::string_view text);

struct SweepPlan {
  std::string preset;  ///< "custom" for free axes
  std::string description;
  std::vector<PointSpec> points;
};

struct PresetInfo {
  std::string_view name;  ///< quick, memory-wall, tiles, paper
  std::string_view description;
};
[[nodiscard]] std::span<const PresetInfo> presets();

/// What narrows or replaces a preset.
struct SweepRequest {
  std::string preset;                   ///< empty: free axes only
  std::vector<Axis> axes;               ///< each replaces the preset's axis of that name; none twice, nor N with n_q
  std::vector<std::string> algorithms;  ///< empty: the preset's
  CacheState cache = CacheState::cold;
};
/// Points in the order in which they run: grouped so that each group's buffers can be reused. Every value that cannot
/// be posed (N 0, unknown algorithm) is an error by name; a tile or d that a kernel cannot run is a point that will end
/// as `infeasible`, unless the user wrote that value himself as a single one (d 72, Br 24): then it is an error.
[[nodiscard]] Result<SweepPlan, std::string> make_plan(const SweepRequest&, const DeviceLimits&);

/// Device bytes that a point's buffers need; 0 for an infeasible one.
[[nodiscard]] std::int64_t memory_need_bytes(const PointSpec&);

}  // namespace attnscope

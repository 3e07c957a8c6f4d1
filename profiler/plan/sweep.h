// SPDX-License-Identifier: Apache-2.0
// Sweep plans: presets, free axes, and the points they expand to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/device_limits.h"
#include "kernels/model/result.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

/// One axis in nvbench's notation: "N=[1024,2048]", "N[pow2]=[8,14]" (2^8 ... 2^14), "N=[1024:4096:1024]"
/// (first:last:step), "mask=[none,causal,window:1024:0]", "d=64". Words: dtype, pass, mask (kernels/model/mask.h),
/// dropout (a probability), deterministic (yes, no), tile ("auto": the best of each N; or "128x64"; where no axis says,
/// a curve has one tile, the best of its longest N, but for decoding and where that does not run), algorithm, raster.
/// splits, warps and stages may be 0, the algorithm's
/// choice; page may be 0, contiguous.
struct Axis {
  std::string name;  ///< canonical: N n_q n_k d br bc tile batch heads_q heads_kv heads dtype pass mask dropout ...
  std::vector<std::string> values;
};
/// The error names the text, what is wrong with it and what would be accepted: how an axis is written only where that
/// is the mistake.
[[nodiscard]] Result<Axis, std::string> parse_axis(std::string_view text);

struct SweepPlan {
  std::string preset;  ///< "custom" for free axes
  std::string description;
  std::vector<PointSpec> points;
};

struct PresetInfo {
  std::string_view name;  ///< quick, memory-wall, tiles, paper, backward, masks, decode
  std::string_view description;
};
[[nodiscard]] std::span<const PresetInfo> presets();

/// What narrows or replaces a preset.
struct SweepRequest {
  std::string preset;  ///< empty: free axes only
  /// Each replaces the preset's axis of that name; none twice, nor N with n_q.
  std::vector<Axis> axes;
  std::vector<std::string> algorithms;  ///< empty: the preset's
  CacheState cache = CacheState::cold;
};
/// Points in the order in which they run: grouped so that each group's buffers can be reused. Every value that cannot
/// be posed (N 0, dropout 1.5, unknown algorithm) is an error by name; a tile, d, mask or pass that an algorithm cannot
/// run is a point that will end as `infeasible`, unless the user wrote that value himself as a single one (d 72, Br 24,
/// a window) and no algorithm of the sweep can run it: then it is an error.
[[nodiscard]] Result<SweepPlan, std::string> make_plan(const SweepRequest&, const DeviceLimits&);

/// The one point that axes of one value each describe, for numbers that come from elsewhere: `algorithm` may be any
/// word, and what of the tile no axis sets is 0.
[[nodiscard]] Result<PointSpec, std::string> make_spec(std::string algorithm, std::span<const Axis> axes);

/// Device bytes that a point's buffers need there; 0 for an infeasible one.
[[nodiscard]] std::int64_t memory_need_bytes(const PointSpec&, const DeviceLimits&);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/launch_occupancy.h"

#include <cmath>

#include "messages/occupancy.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"

namespace attnscope::analysis {
namespace {

constexpr int threads_per_warp = 32;

}  // namespace

std::optional<LaunchOccupancy> launch_occupancy(const PointRecord& point, const DeviceLimits& limits) {
  if (point.kernels.size() != 1 || point.kernels.front().occupancy_limiter.empty()) return std::nullopt;
  const auto share = evaluate(metric_key::theoretical_occupancy_pct, point);
  if (!share || limits.max_threads_per_sm < threads_per_warp) return std::nullopt;
  const int most = limits.max_threads_per_sm / threads_per_warp;
  return LaunchOccupancy{.warps_per_sm = static_cast<int>(std::lround(share->value * most / 100)),
                         .max_warps_per_sm = most,
                         .limiter = point.kernels.front().occupancy_limiter};
}

Message limiter_title(std::string_view limiter) {
  if (limiter == "registers") return msg::occupancy::registers{};
  if (limiter == "shared memory") return msg::occupancy::shared_memory{};
  if (limiter == "threads") return msg::occupancy::threads{};
  if (limiter == "blocks") return msg::occupancy::blocks{};
  if (limiter == "grid") return msg::occupancy::grid{};
  return Message::verbatim(printable(limiter));
}

Message compare_occupancy(const NamedOccupancy& a, const NamedOccupancy& b) {
  const Message limit_a = limiter_title(a.occupancy.limiter);
  const Message limit_b = limiter_title(b.occupancy.limiter);
  const int warps = a.occupancy.warps_per_sm;
  if (a.occupancy.limiter == b.occupancy.limiter) {
    if (warps == b.occupancy.warps_per_sm) return msg::occupancy::both{.limiter = limit_a, .warps = warps};
    return msg::occupancy::one_limit{
        .limiter = limit_a, .tile_a = a.name, .tile_b = b.name, .warps_a = warps, .warps_b = b.occupancy.warps_per_sm};
  }
  return msg::occupancy::each{.limiter_a = limit_a,
                              .limiter_b = limit_b,
                              .tile_a = a.name,
                              .tile_b = b.name,
                              .warps_a = warps,
                              .warps_b = b.occupancy.warps_per_sm};
}

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "profiler/metrics/point.h"

namespace attnscope {

/// Returns true if a point with this disposition is measured again in the next round: ok, or only its counters are
/// missing.
[[nodiscard]] bool can_remeasure(Disposition);

/// Computes the point's own values from its rounds, which it sorts: metrics and clocks are medians over the rounds that
/// have them, samples and throttle reasons are combined. Launch and occupancy limiter are unchanged. A single round 0
/// becomes the point's own values.
void summarize_rounds(PointRecord&);

/// Adds another measurement of the same point as round `round`. If it failed, the point takes its disposition and a
/// reason that names the round, and keeps earlier values.
void add_round(PointRecord& point, int round, const PointRecord& measured);

/// Visits each round. A point without rounds is visited once, as round 0.
void for_each_round(const PointRecord&, const std::function<void(int round, std::span<const KernelRecord> kernels,
                                                                 const std::optional<ClockReading>& clocks)>&);

/// Returns a metric's value in each round, empty where it is missing; one element if there are no rounds.
/// "time_median_ns" is the median of the round's own samples.
[[nodiscard]] std::vector<std::optional<double>> round_values(std::string_view key, const KernelValues&);
[[nodiscard]] std::vector<std::optional<double>> round_values(std::string_view key, const PointRecord&,
                                                              std::string_view kernel = "all");

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// A point that is measured in several rounds: what its rounds come to, and the values of each.
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

/// Whether a point that ended so is measured in the next round, too: it ran, and may lack no more than its counters.
[[nodiscard]] bool measured_again(Disposition);

/// Makes the point's own values of its rounds, which are put in order: each metric is the median of the rounds that
/// have it, samples are those of all rounds, clocks are medians, with every reason to throttle that a round had. What
/// is said of a kernel beside its values (launch, limiter) stays. The first round alone becomes the point's own.
void sum_up_rounds(PointRecord&);

/// `measured` is the same point, measured once more. Where it has values they are added; where it ended otherwise, that
/// is how the point ends, with a reason that names the round, and what was collected before stays.
void add_round(PointRecord& point, int round, const PointRecord& measured);

/// Every round with what it found: of a point of one round that is its own, as round 0.
void each_round(const PointRecord&, const std::function<void(int round, std::span<const KernelRecord> kernels,
                                                             const std::optional<ClockReading>& clocks)>&);

/// A metric in each round, in their order; nothing where a round lacks it. Of what was measured in one round: its
/// value. "time_median_ns" is the median of a round's own samples.
[[nodiscard]] std::vector<std::optional<double>> round_values(std::string_view key, const KernelValues&);
[[nodiscard]] std::vector<std::optional<double>> round_values(std::string_view key, const PointRecord&,
                                                              std::string_view kernel = "all");
/// Of those; nothing where fewer than two rounds have it.
[[nodiscard]] std::optional<SampleSummary> over_rounds(std::string_view key, const KernelValues&);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// The closed forms beside the measurement.
#pragma once

#include <span>

#include "kernels/algorithm.h"
#include "kernels/model/pipeline_model.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/point.h"

namespace attnscope {

/// What several GPUs took for a problem that they share, and the bytes that they sent to one another.
void add_sharing(KernelRecord& all, const ScheduleTimes&, std::int64_t link_bytes, Provenance bytes_are,
                 Provenance times_are);
/// Adds the modelled SM<->L2 bytes to every measured kernel of the record and to `all`, and to `all` the compulsory
/// minimum and the algorithm's FLOPs, where it counts them by itself: a file says them to who lacks it. Kernel records
/// that are missing are made; `all` comes first, and a plan that measures one launch has only that.
void add_model_metrics(const Algorithm&, const AttentionPlan&, const AttentionProblem&, PointRecord&);

/// Adds how busy each unit is predicted to be over these launches, one after the other.
void add_predicted_uses(KernelRecord&, std::span<const LaunchTime>, Provenance);

/// The metric that keeps it.
[[nodiscard]] const Metric& metric_of(GpuUnit);

/// The record's entry for a kernel, made at the end when there is none.
KernelRecord& kernel_record(PointRecord&, std::string_view kernel);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/algorithm.h"
#include "kernels/model/pipeline_model.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/point.h"

namespace attnscope {

/// Adds the link bytes of a problem shared by several GPUs.
void add_link_bytes(KernelRecord& all, std::int64_t bytes, Provenance);
/// Adds their schedule times.
void add_multi_gpu_times(KernelRecord& all, const ScheduleTimes&, Provenance);
/// Adds modeled SM<->L2 bytes to every measured kernel and to "all"; adds to "all" the compulsory bytes, and the FLOPs
/// if the algorithm counts its own. Creates missing kernel records, "all" first; plans with one measured launch have
/// only "all".
void add_model_metrics(const Algorithm&, const AttentionPlan&, const AttentionProblem&, PointRecord&);

/// Adds modeled SM<->L2 bytes.
void add_model_traffic(KernelRecord&, const Traffic&);

/// Adds the predicted utilization of each unit over a sequence of launches.
void add_predicted_utilization(KernelRecord&, std::span<const LaunchTime>, Provenance);

[[nodiscard]] const Metric& metric_of(GpuUnit);

/// Returns the record of a kernel, appended if missing.
KernelRecord& kernel_record(PointRecord&, std::string_view kernel);

}  // namespace attnscope

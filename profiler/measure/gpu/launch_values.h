// SPDX-License-Identifier: Apache-2.0
// Converts launch attributes and counts to values of a point's record.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/device_limits.h"
#include "profiler/measure/gpu/counting.h"
#include "profiler/measure/gpu/driver/cuda_graph.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/metrics/point.h"

namespace attnscope::gpu {

struct LoadedLaunch {
  const KernelLaunch* launch;
  const LoadedKernel* kernel;
};

/// Adds a value; `key` is in the metrics table, `value` in its unit.
void add_value(KernelRecord& kernel, std::string_view key, double value, Provenance provenance = Provenance::measured);

/// Adds registers, shared and local memory, occupancy and LaunchRecord of each measured launch. For several launches,
/// "all" gets the largest registers and memory, but no occupancy and no LaunchRecord. Throws DriverError.
void add_launch_attributes(const CudaApi& cuda, const DeviceLimits& limits, std::span<const LoadedLaunch> loaded,
                           PointRecord& record);

/// Adds the counts of each launch (by name, in the order of `metrics`) and their combination by combine_rule(),
/// weighted by the recorded times.
void add_counts(std::span<const CounterMetric> metrics, std::span<const PreparedLaunch> launches,
                const std::map<std::string, std::vector<MetricValue>>& values, PointRecord& record);

/// Adds the counts of each part of a launch to the part's record.
void add_part_counts(std::span<const PreparedLaunch> parts,
                     const std::map<std::string, std::vector<MetricValue>>& values, PointRecord& record);

/// Adds counts in the sequence of a call to the records of its kernels.
void add_sequence_counts(const std::map<std::string, std::vector<MetricValue>>& values, PointRecord& record);

/// Adds the attributes of a captured call's kernels, as add_launch_attributes(). Throws DriverError.
void add_graph_attributes(const CudaApi& cuda, const DeviceLimits& limits, std::span<const GraphKernel> kernels,
                          PointRecord& record);

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
// What is known of a point's launches, as values of its record.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/device_limits.h"
#include "profiler/measure/gpu/counting.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/metrics/point.h"

namespace attnscope::gpu {

struct LoadedLaunch {
  const KernelLaunch* launch;
  const LoadedKernel* kernel;
};

/// A row of the metrics table, in its unit.
void add_value(KernelRecord& kernel, std::string_view key, double value, Provenance provenance = Provenance::measured);

/// What ran: registers, shared and local memory, occupancy and LaunchRecord of each measured launch. A plan of several
/// shows the largest of the first three for its sum, and neither of the last: kernels that run one after another have
/// none in common. Throws DriverError.
void add_launch_facts(const CudaApi& cuda, const DeviceLimits& limits, std::span<const LoadedLaunch> loaded,
                      PointRecord& record);

/// Counted values (by launch name, in the order of `metrics`) of each launch, and of their sum by combine_rule(),
/// weighted by the times that the record has.
void add_counts(std::span<const CounterMetric> metrics, std::span<const PreparedLaunch> launches,
                const std::map<std::string, std::vector<MetricValue>>& values, PointRecord& record);

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
// Measures the ceilings of a device: runs each load once per round in shuffled order and summarizes the samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "profiler/measure/device.h"
#include "profiler/measure/gpu/ceilings/ceiling_loads.h"
#include "profiler/measure/gpu/counting.h"
#include "profiler/measure/gpu/driver/nvml.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/kernel_runner.h"

namespace attnscope::gpu {

/// Resources that the benchmark uses; it keeps references. Null pointers mark unavailable resources.
struct CeilingResources {
  KernelRunner& runner;
  const KernelBuilder& builder;
  const DeviceLimits& limits;
  const std::string& arch;
  const Nvml* nvml = nullptr;
  CounterCollector* counters = nullptr;
  Message no_counters;  ///< Why `counters` is null.
};
/// Throws PointAbort (out_of_memory, cancelled), DriverError or LaunchTimeout if the device is lost. On an exception,
/// `current` is the ceiling that was being measured, or null.
[[nodiscard]] CeilingSet measure_ceilings(const CeilingResources&, const CeilingOptions&, const CancelToken&,
                                          const CeilingProgress&, const CeilingKind*& current);

}  // namespace attnscope::gpu

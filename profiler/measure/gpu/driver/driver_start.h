// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "kernels/model/result.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope::gpu {

/// The driver loaded and initialised, with at least one device; or why not, and what to do about it. A GPU that has a
/// node (nvidia0) in `devices` and that the driver does not see is one that failed, not one that is not there.
[[nodiscard]] Result<CudaApi, GpuError> start_driver(const std::filesystem::path& devices = "/dev");

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "kernels/model/result.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope::gpu {

/// Loads and initializes the driver; fails, with a fix, if it finds no device. If `devices` contains a GPU node
/// (nvidia0) but the driver lists no GPU, the error is driver_failed, not no_device.
[[nodiscard]] Result<CudaApi, GpuError> start_driver(const std::filesystem::path& devices = "/dev");

}  // namespace attnscope::gpu

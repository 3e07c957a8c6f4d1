// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/model/result.h"
#include "profiler/measure/gpu/cuda_driver.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope::gpu {

/// The driver loaded and initialised, with at least one device; or why not, and what to do about it.
[[nodiscard]] Result<CudaApi, GpuError> start_driver();

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/driver/driver_start.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope {

using namespace gpu;  // NOLINT(google-build-using-namespace): this file is the driver's

Result<std::vector<GpuSummary>, GpuError> list_gpus() {
  const auto cuda = start_driver();
  if (!cuda) return Failure{cuda.error()};
  std::vector<GpuSummary> gpu_summaries;
  try {
    int count = 0;
    cuda->check(cuda->cuDeviceGetCount(&count), "cuDeviceGetCount");
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      CUdevice device = 0;
      cuda->check(cuda->cuDeviceGet(&device, ordinal), "cuDeviceGet");
      std::size_t memory = 0;
      cuda->check(cuda->cuDeviceTotalMem(&memory, device), "cuDeviceTotalMem");
      gpu_summaries.push_back({.ordinal = ordinal,
                               .name = device_name(*cuda, device),
                               .uuid = device_uuid(*cuda, device),
                               .compute_major = attribute(*cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                               .compute_minor = attribute(*cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                               .dram_bytes = static_cast<std::int64_t>(memory)});
    }
  } catch (const DriverError& error) {
    return Failure{GpuError{
        GpuError::Kind::device_failed, make_reason("gpu.no_answer", "A GPU did not respond: {}.", error.what()), {}}};
  }
  return gpu_summaries;
}

}  // namespace attnscope

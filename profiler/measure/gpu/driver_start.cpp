// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver_start.h"

#include <cstdlib>

#include <fmt/format.h>

namespace attnscope::gpu {
namespace {

constexpr int oldest_driver = 12000;  ///< CUDA 12.0: the first with sm_90a

}  // namespace

Result<CudaApi, GpuError> start_driver() {
  const auto fail = [](GpuError::Kind kind, std::string what, std::string fix) {
    return Failure{GpuError{kind, std::move(what), std::move(fix)}};
  };
  auto cuda = CudaApi::load();
  if (!cuda) {
    return fail(GpuError::Kind::no_driver, cuda.error(),
                "Install NVIDIA's driver (in a container: start it with --gpus all).");
  }
  if (const CUresult result = cuda->cuInit(0); result != CUDA_SUCCESS) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (result == CUDA_ERROR_NO_DEVICE && visible != nullptr) {
      return fail(GpuError::Kind::hidden, fmt::format("CUDA_VISIBLE_DEVICES='{}' hides every GPU.", visible),
                  "Unset it, or set it to the number of a GPU.");
    }
    if (result == CUDA_ERROR_NO_DEVICE) {
      return fail(GpuError::Kind::no_device, "The NVIDIA driver sees no GPU.",
                  "Check nvidia-smi; in a container, start it with --gpus all.");
    }
    const bool mismatch =
        result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH || result == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE;
    return fail(GpuError::Kind::no_driver, fmt::format("The NVIDIA driver does not start: {}.", cuda->describe(result)),
                mismatch
                    ? "The kernel module and libcuda.so.1 are of different versions: reboot, or reinstall the driver."
                    : "Check nvidia-smi.");
  }
  int version = 0;
  cuda->cuDriverGetVersion(&version);
  if (version < oldest_driver) {
    return fail(GpuError::Kind::driver_too_old,
                fmt::format("The NVIDIA driver knows CUDA {}.{}; 12.0 or newer is needed.", version / 1000,
                            version % 1000 / 10),
                "Install a driver of release 525 or newer.");
  }
  int count = 0;
  if (const CUresult result = cuda->cuDeviceGetCount(&count); result != CUDA_SUCCESS || count == 0) {
    return fail(GpuError::Kind::no_device, "The NVIDIA driver sees no GPU.", "Check nvidia-smi.");
  }
  return std::move(cuda).value();
}

}  // namespace attnscope::gpu

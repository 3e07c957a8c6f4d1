// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver_start.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace attnscope::gpu {
namespace {

constexpr int oldest_driver = 12000;  ///< CUDA 12.0: the first with sm_90a

/// The node of a GPU that this process was given: "nvidia0"; empty for none.
std::string gpu_node(const std::filesystem::path& devices) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(devices, ignored)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view stem = "nvidia";
    const bool numbered =
        name.size() > stem.size() && name.starts_with(stem) &&
        std::all_of(name.begin() + stem.size(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (numbered) return entry.path().string();
  }
  return {};
}

GpuError sees_no_gpu(const std::filesystem::path& devices) {
  if (const std::string node = gpu_node(devices); !node.empty()) {
    return {GpuError::Kind::driver_failed, fmt::format("There is {}, and the NVIDIA driver sees no GPU.", node),
            "Check nvidia-smi and the kernel's log for a GPU that failed; it may need a reset, or a reboot."};
  }
  return {GpuError::Kind::no_device, "The NVIDIA driver sees no GPU.",
          "Check nvidia-smi; in a container, start it with --gpus all."};
}

}  // namespace

Result<CudaApi, GpuError> start_driver(const std::filesystem::path& devices) {
  const auto fail = [](GpuError::Kind kind, std::string what, std::string fix) {
    return Failure{GpuError{kind, std::move(what), std::move(fix)}};
  };
  auto cuda = CudaApi::load();
  if (!cuda) {
    return fail(cuda.error().absent ? GpuError::Kind::no_driver : GpuError::Kind::driver_failed, cuda.error().what,
                cuda.error().absent ? "Install NVIDIA's driver (in a container: start it with --gpus all)."
                                    : "Reinstall NVIDIA's driver.");
  }
  if (const CUresult result = cuda->cuInit(0); result != CUDA_SUCCESS) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (result == CUDA_ERROR_NO_DEVICE && visible != nullptr) {
      return fail(GpuError::Kind::hidden, fmt::format("CUDA_VISIBLE_DEVICES='{}' hides every GPU.", visible),
                  "Unset it, or set it to the number of a GPU.");
    }
    if (result == CUDA_ERROR_NO_DEVICE) return Failure{sees_no_gpu(devices)};
    const bool mismatch =
        result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH || result == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE;
    return fail(
        GpuError::Kind::driver_failed, fmt::format("The NVIDIA driver does not start: {}.", cuda->describe(result)),
        mismatch ? "The kernel module and libcuda.so.1 are of different versions: reboot, or reinstall the driver."
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
    return Failure{sees_no_gpu(devices)};
  }
  return std::move(cuda).value();
}

}  // namespace attnscope::gpu

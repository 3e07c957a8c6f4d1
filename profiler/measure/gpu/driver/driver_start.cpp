// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/driver_start.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace attnscope::gpu {
namespace {

constexpr int min_driver_version = 12000;  ///< CUDA 12.0, the first version with sm_90a.

/// Path of the first GPU device node ("nvidia0"); empty if there is none.
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

GpuError no_gpu_error(const std::filesystem::path& devices) {
  if (const std::string node = gpu_node(devices); !node.empty()) {
    return {GpuError::Kind::driver_failed,
            make_reason("gpu.not_seen_with_node", "The NVIDIA driver finds no GPU, although {} exists.", node),
            make_reason("gpu.not_seen_with_node_fix",
                        "Check nvidia-smi and the kernel log; the GPU may need a reset or a reboot.")};
  }
  return {GpuError::Kind::no_device, make_reason("gpu.not_seen", "The NVIDIA driver finds no GPU."),
          make_reason("gpu.not_seen_fix", "Check nvidia-smi; in a container, start it with --gpus all.")};
}

}  // namespace

Result<CudaApi, GpuError> start_driver(const std::filesystem::path& devices) {
  const auto fail = [](GpuError::Kind kind, Message what, Message fix) {
    return Failure{GpuError{kind, std::move(what), std::move(fix)}};
  };
  auto cuda = CudaApi::load();
  if (!cuda) {
    if (cuda.error().absent)
      return fail(
          GpuError::Kind::no_driver, cuda.error().what,
          make_reason("gpu.install_driver", "Install the NVIDIA driver (in a container: start it with --gpus all)."));
    return fail(GpuError::Kind::driver_failed, cuda.error().what,
                make_reason("gpu.reinstall_driver", "Reinstall the NVIDIA driver."));
  }
  if (const CUresult result = cuda->cuInit(0); result != CUDA_SUCCESS) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (result == CUDA_ERROR_NO_DEVICE && visible != nullptr) {
      return fail(GpuError::Kind::hidden,
                  make_reason("gpu.hidden", "CUDA_VISIBLE_DEVICES='{}' hides every GPU.", visible),
                  "Unset it, or set it to the number of a GPU.");
    }
    if (result == CUDA_ERROR_NO_DEVICE) return Failure{no_gpu_error(devices)};
    const bool mismatch =
        result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH || result == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE;
    return fail(
        GpuError::Kind::driver_failed,
        make_reason("gpu.driver_start", "The NVIDIA driver failed to initialize: cuInit: {}.", cuda->describe(result)),
        mismatch ? "The kernel module and libcuda.so.1 have different versions: reboot or reinstall the driver."
                 : make_reason("gpu.check_nvidia_smi", "Check nvidia-smi."));
  }
  // A driver that is installed but does not respond is an error; the simulator must not replace the GPU.
  const auto silent = [&](const char* call, CUresult result) {
    return fail(GpuError::Kind::driver_failed,
                make_reason("gpu.driver_start", "The NVIDIA driver failed to initialize: {}: {}.", call,
                            cuda->describe(result)),
                make_reason("gpu.check_nvidia_smi", "Check nvidia-smi."));
  };
  int version = 0;
  if (const CUresult result = cuda->cuDriverGetVersion(&version); result != CUDA_SUCCESS) {
    return silent("cuDriverGetVersion", result);
  }
  if (version < min_driver_version) {
    return fail(GpuError::Kind::driver_too_old,
                make_reason("gpu.driver_too_old", "The NVIDIA driver supports CUDA {}.{}; 12.0 or newer is required.",
                            version / 1000, version % 1000 / 10),
                "Install driver 525 or newer.");
  }
  int count = 0;
  if (const CUresult result = cuda->cuDeviceGetCount(&count);
      result != CUDA_SUCCESS && result != CUDA_ERROR_NO_DEVICE) {
    return silent("cuDeviceGetCount", result);
  }
  if (count == 0) return Failure{no_gpu_error(devices)};
  return std::move(cuda).value();
}

}  // namespace attnscope::gpu

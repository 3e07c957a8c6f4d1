// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>

#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope::gpu {
namespace {

constexpr int min_driver_version = 12000;  ///< CUDA 12.0, the first version with sm_90a.

GpuError no_gpu_error(const std::filesystem::path& devices) {
  constexpr int max_nodes = 64;
  for (int i = 0; i < max_nodes; ++i) {
    const std::string node = (devices / fmt::format("nvidia{}", i)).string();
    std::error_code ignored;
    if (!std::filesystem::exists(node, ignored)) continue;
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
  // A driver that is installed but does not respond is an error; the simulator must not replace the GPU.
  const auto silent = [&](const char* call, CUresult result, Message fix) {
    return fail(GpuError::Kind::driver_failed,
                make_reason("gpu.driver_start", "The NVIDIA driver failed to initialize: {}: {}.", call,
                            cuda->describe(result)),
                std::move(fix));
  };
  const Message check = make_reason("gpu.check_nvidia_smi", "Check nvidia-smi.");
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
    return silent("cuInit", result,
                  mismatch
                      ? "The kernel module and libcuda.so.1 have different versions: reboot or reinstall the driver."
                      : check);
  }
  int version = 0;
  if (const CUresult result = cuda->cuDriverGetVersion(&version); result != CUDA_SUCCESS) {
    return silent("cuDriverGetVersion", result, check);
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
    return silent("cuDeviceGetCount", result, check);
  }
  if (count == 0) return Failure{no_gpu_error(devices)};
  return std::move(cuda).value();
}

}  // namespace attnscope::gpu

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

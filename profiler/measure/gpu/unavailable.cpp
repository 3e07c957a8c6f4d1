// SPDX-License-Identifier: Apache-2.0
// Stubs for a build without CUDA's headers; every function fails with gpu.not_built.
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope {
namespace {

GpuError not_built() {
  return {make_reason("gpu.not_built", "This build of Attnscope has no GPU support."),
          "Build it with ATTNSCOPE_CUDA=ON and CUDA 13 headers.", true};
}

}  // namespace

Result<std::unique_ptr<Device>, GpuError> open_gpu_device(const GpuOptions&, const Registry&) {
  return Failure{not_built()};
}

Result<std::vector<GpuSummary>, GpuError> list_gpus() {
  return Failure{not_built()};
}

std::filesystem::path default_cubin_cache() {
  return {};
}

bool has_changed(const LaunchRecord&, const DeviceLimits&, const std::string&) {
  return false;
}

Result<std::vector<BuildReport>, GpuError> build_kernels(std::string_view, std::span<const KernelLaunch>, unsigned,
                                                         const CancelToken&, const Device::BuildProgress&) {
  return Failure{not_built()};
}

std::vector<DoctorCheck> check_gpu(int) {
  return {{"driver", false, text(not_built().what), text(not_built().fix)}};
}

}  // namespace attnscope

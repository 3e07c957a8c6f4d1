// SPDX-License-Identifier: Apache-2.0
// Device implementation for a GPU. This header does not require CUDA; in a build without CUDA's headers, every function
// fails with "gpu.not_built".
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"

namespace attnscope {

struct GpuError {
  Message what;             ///< one sentence
  Message fix;              ///< One sentence; empty if no fix is known.
  bool gpu_absent = false;  ///< No GPU is present or visible, so that a simulation may replace it; false for a fault.

  /// Error and fix in one text.
  [[nodiscard]] Message message() const {
    if (fix.empty()) return what;
    // Messages of the loader have no final period.
    return make_reason(what.id, "{}{} {}", what, english_text(what).ends_with('.') ? "" : ".", fix);
  }
};

struct GpuOptions {
  int ordinal = 0;       ///< Driver ordinal after CUDA_VISIBLE_DEVICES.
  std::string uuid;      ///< If not empty, selects the GPU by UUID and ignores `ordinal`.
  bool counters = true;  ///< Initialize CUPTI. A failure is reported by Device::counters(), not as an error.
};

/// Opens a GPU for measurements. The error names what is missing: driver, device or NVRTC. Without counters or NVML,
/// the device works with fewer data.
/// If Device::usable() has returned false, end the process with std::quick_exit or std::_Exit: the driver's exit
/// handlers may wait for a kernel that never ends.
[[nodiscard]] Result<std::unique_ptr<Device>, GpuError> open_gpu_device(const GpuOptions& options = {},
                                                                        const Registry& = known_algorithms());

struct GpuSummary {
  int ordinal = 0;
  std::string name;
  std::string uuid;
  int compute_major = 0;
  int compute_minor = 0;
  std::int64_t dram_bytes = 0;
};

/// GPUs visible to this process. Does not create a context.
[[nodiscard]] Result<std::vector<GpuSummary>, GpuError> list_gpus();

/// $ATTNSCOPE_CACHE_DIR/cubins, else $XDG_CACHE_HOME/attnscope/cubins, else ~/.cache/attnscope/cubins;
/// empty in a build without GPU support.
[[nodiscard]] std::filesystem::path default_cubin_cache();

/// "fa2 fwd d128 128x64 fp16 causal": source folder, launch name, abbreviated defines.
[[nodiscard]] std::string describe(const KernelLaunch&);

/// Returns whether this program compiles a recorded launch of a built-in kernel from other sources or with other
/// options. False if unknown: without a digest or compiler version, or in a build without GPU support.
[[nodiscard]] bool has_changed(const LaunchRecord&, const DeviceLimits&, const std::string& nvrtc_version);

/// KernelBuilder::build_all() with the default cache, for `attnscope kernels build`; needs no GPU.
[[nodiscard]] Result<std::vector<BuildReport>, GpuError> build_kernels(std::string_view arch,
                                                                       std::span<const KernelLaunch> launches,
                                                                       unsigned threads, const CancelToken& cancel,
                                                                       const Device::BuildProgress& progress);

struct DoctorCheck {
  std::string name;  ///< "driver", "device", "NVRTC", "CUPTI", "counters", "NVML", "clocks", "cubin cache"
  bool ok = false;
  std::string detail;
  std::string fix;  ///< Empty if the check passed or no fix is known.
};

/// Checks everything that measuring on GPU `ordinal` needs. Never throws. Skips a check whose prerequisite failed.
[[nodiscard]] std::vector<DoctorCheck> check_gpu(int ordinal = 0);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// Device implementation for a GPU. This header does not require CUDA; in a build without CUDA's headers, every function
// fails with GpuError::Kind::not_built.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"

namespace attnscope {

struct GpuError {
  enum class Kind {
    not_built,
    no_driver,       ///< libcuda.so.1 was not found
    driver_failed,   ///< The driver is installed but does not load, start or list a GPU that is present.
    driver_too_old,  ///< older than CUDA 12.0
    no_device,
    hidden,         ///< CUDA_VISIBLE_DEVICES hides every GPU
    bad_ordinal,    ///< No GPU has this number or UUID.
    unsupported,    ///< the GPU is older than compute capability 8.0
    no_nvrtc,       ///< NVRTC could not be loaded.
    device_failed,  ///< The GPU's context could not be created.
  };
  Kind kind = Kind::no_driver;
  Message what;  ///< one sentence
  Message fix;   ///< One sentence; empty if no fix is known.

  /// Returns true if no GPU is present or visible, so that a simulation may replace it; false for a fault.
  [[nodiscard]] bool is_gpu_absent() const {
    return kind == Kind::not_built || kind == Kind::no_driver || kind == Kind::no_device || kind == Kind::hidden;
  }
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

struct DoctorCheck {
  std::string name;  ///< "driver", "device", "NVRTC", "CUPTI", "counters", "NVML", "clocks", "cubin cache"
  bool ok = false;
  std::string detail;
  std::string fix;  ///< Empty if the check passed or no fix is known.
};

/// Checks everything that measuring on GPU `ordinal` needs. Never throws. Skips a check whose prerequisite failed.
[[nodiscard]] std::vector<DoctorCheck> check_gpu(int ordinal = 0);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// The GPU as a Device. This header needs no CUDA; a build without CUDA's headers answers every call with
// GpuError::Kind::not_built.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"

namespace attnscope {

/// Why no GPU can be used here, and what to do about it.
struct GpuError {
  enum class Kind {
    not_built,       ///< this program was built without GPU support
    no_driver,       ///< libcuda.so.1 is not there
    driver_failed,   ///< it is there and does not load, does not start, or does not see the GPU that is there
    driver_too_old,  ///< older than the oldest that this program knows how to talk to
    no_device,       ///< the driver sees no GPU
    hidden,          ///< CUDA_VISIBLE_DEVICES hides every GPU
    bad_ordinal,     ///< there are GPUs, but none of that number or UUID
    unsupported,     ///< the GPU is older than compute capability 8.0
    no_nvrtc,        ///< nothing to compile kernels with
    device_failed,   ///< the GPU is there but its context could not be made
  };
  Kind kind = Kind::no_driver;
  Message what;  ///< one sentence
  Message fix;   ///< one sentence; empty when there is nothing to advise

  /// Nothing of a GPU is here for this process, or wanted: a simulation may stand in. Otherwise something is broken.
  [[nodiscard]] bool nothing_here() const {
    return kind == Kind::not_built || kind == Kind::no_driver || kind == Kind::no_device || kind == Kind::hidden;
  }
  /// Both.
  [[nodiscard]] Message message() const;
};

struct GpuOptions {
  int ordinal = 0;                  ///< as the driver numbers them, after CUDA_VISIBLE_DEVICES
  std::string uuid;                 ///< unless empty: the GPU of this UUID, whatever its number now
  std::string arch;                 ///< "sm_90a"; empty: the GPU's own
  std::filesystem::path cache_dir;  ///< for cubins; empty: default_cubin_cache()
  bool counters = true;             ///< prepare CUPTI; what is missing is in Device::counters(), never an error
};

/// A GPU ready to measure. Where a driver, a device or NVRTC is missing, the error says which; where only counters or
/// NVML are missing, the device works without them.
///
/// After Device::usable() has turned false, end the process with std::quick_exit or std::_Exit: the driver's own exit
/// handlers may wait for a kernel that never ends.
[[nodiscard]] Result<std::unique_ptr<Device>, GpuError> open_gpu_device(const GpuOptions& options = {},
                                                                        const Registry& = known_algorithms());

struct GpuListing {
  int ordinal = 0;
  std::string name;
  std::string uuid;
  int compute_major = 0;
  int compute_minor = 0;
  std::int64_t dram_bytes = 0;
};

/// The GPUs that the driver shows this process; makes no context.
[[nodiscard]] Result<std::vector<GpuListing>, GpuError> list_gpus();

}  // namespace attnscope

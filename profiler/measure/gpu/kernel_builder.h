// SPDX-License-Identifier: Apache-2.0
// Compiles kernels into the cubin cache, in parallel. Needs neither a GPU nor CUDA headers.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope {

/// $ATTNSCOPE_CACHE_DIR/cubins, else $XDG_CACHE_HOME/attnscope/cubins, else ~/.cache/attnscope/cubins;
/// empty in a build without GPU support.
[[nodiscard]] std::filesystem::path default_cubin_cache();

/// "fa2 fwd d128 128x64 fp16 causal": source folder, launch name, abbreviated defines.
[[nodiscard]] std::string describe(const KernelLaunch&);

struct BuiltKernel {
  BuildReport report;  ///< report.error: why there is no cubin.
  std::string cubin;
  std::string symbol;  ///< Name of the entry in the cubin.
};

/// Returns whether this program compiles a recorded launch of a built-in kernel from other sources or with other
/// options. False if unknown: without a digest or compiler version, or in a build without GPU support.
[[nodiscard]] bool has_changed(const LaunchRecord&, const DeviceLimits&, const std::string& nvrtc_version);

class KernelBuilder {
 public:
  /// Empty `cache_dir`: default_cubin_cache(). Error: GpuError::Kind::no_nvrtc.
  [[nodiscard]] static Result<std::unique_ptr<KernelBuilder>, GpuError> open(
      const std::filesystem::path& cache_dir = {});
  virtual ~KernelBuilder() = default;

  [[nodiscard]] virtual std::string nvrtc_version() const = 0;
  /// Why kernels cannot be built for `arch` ("sm_80", "sm_90a"), in one sentence; empty if they can.
  [[nodiscard]] virtual Message unsupported_reason(std::string_view arch) const = 0;

  /// Returns the cached kernel, or compiles and caches it. Errors are in the report. Thread-safe. Cancelling
  /// ends nvcc with the error "compile.cancelled".
  [[nodiscard]] virtual BuiltKernel build(std::string_view arch, const KernelLaunch& launch,
                                          const CancelToken& cancel = {}) const = 0;
  /// Manifest of the plan's user-defined kernel (user/user_source.h); null if the kernels are built in or known only
  /// from a results file.
  [[nodiscard]] virtual std::shared_ptr<const StoredManifest> statement_of(
      std::span<const std::shared_ptr<const UserSource>>, bool keep_sources) const = 0;

  /// Builds each distinct source of `launches` once on `threads` threads (0: one per hardware thread), until done or
  /// cancelled. Returns reports in order of first appearance, without sources that were not built. `progress` may be
  /// empty; its calls are serialized.
  [[nodiscard]] std::vector<BuildReport> build_all(std::string_view arch, std::span<const KernelLaunch> launches,
                                                   unsigned threads, const CancelToken& cancel,
                                                   const Device::BuildProgress& progress) const;
};

/// Calls open() and build_all(), for `attnscope kernels build`.
[[nodiscard]] Result<std::vector<BuildReport>, GpuError> build_kernels(std::string_view arch,
                                                                       std::span<const KernelLaunch> launches,
                                                                       unsigned threads, const CancelToken& cancel,
                                                                       const Device::BuildProgress& progress);

}  // namespace attnscope

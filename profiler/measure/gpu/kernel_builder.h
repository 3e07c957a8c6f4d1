// SPDX-License-Identifier: Apache-2.0
// Compiles kernels into the cubin cache, in parallel, with or without a GPU. Needs no CUDA header to include.
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

/// "fa2 fwd d128 128x64 fp16 causal": folder of the source, the launch's name, then the source's defines in short.
[[nodiscard]] std::string describe(const KernelLaunch&);

/// One kernel, compiled or not.
struct BuiltKernel {
  BuildReport report;  ///< report.error says why there is no cubin
  std::string cubin;
};

class KernelBuilder {
 public:
  /// Empty `cache_dir`: default_cubin_cache(). Error: GpuError::Kind::no_nvrtc.
  [[nodiscard]] static Result<std::unique_ptr<KernelBuilder>, GpuError> open(
      const std::filesystem::path& cache_dir = {});
  virtual ~KernelBuilder() = default;

  [[nodiscard]] virtual std::string nvrtc_version() const = 0;
  /// Why kernels cannot be built for `arch` ("sm_80", "sm_90a"), one sentence; empty when they can.
  [[nodiscard]] virtual Message refuses(std::string_view arch) const = 0;

  /// From the cache, or compiled and put there. Never throws for what a source can do wrong. Thread-safe.
  /// `fresh` passes the cache over, for an entry that turned out to be damaged.
  [[nodiscard]] virtual BuiltKernel build(std::string_view arch, const KernelLaunch& launch,
                                          bool fresh = false) const = 0;
  /// What the launches of a plan are stated by (own_source.h); null where they are this program's, or cannot be read.
  [[nodiscard]] virtual std::shared_ptr<const KernelStatement> statement_of(std::span<const KernelLaunch>,
                                                                            bool keep_sources) const = 0;

  /// Builds each distinct source of `launches` once, on `threads` threads (0: one for each hardware thread), until done
  /// or cancelled; reports in the order of first appearance, without those that were not built. `progress` may be
  /// empty; it is called from one thread at a time.
  [[nodiscard]] std::vector<BuildReport> build_all(std::string_view arch, std::span<const KernelLaunch> launches,
                                                   unsigned threads, const CancelToken& cancel,
                                                   const Device::BuildProgress& progress) const;
};

/// What `attnscope kernels build` does: open() and build_all() in one.
[[nodiscard]] Result<std::vector<BuildReport>, GpuError> build_kernels(std::string_view arch,
                                                                       std::span<const KernelLaunch> launches,
                                                                       unsigned threads, const CancelToken& cancel,
                                                                       const Device::BuildProgress& progress,
                                                                       const std::filesystem::path& cache_dir = {});

}  // namespace attnscope

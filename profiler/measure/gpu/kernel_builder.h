// SPDX-License-Identifier: Apache-2.0
// Compiles kernels into the cubin cache, in parallel. Needs no GPU.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"
#include "profiler/measure/gpu/driver/nvcc.h"
#include "profiler/measure/gpu/driver/nvrtc.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/gpu/user/user_source.h"

namespace attnscope {
namespace gpu {

/// All inputs that determine a cubin.
struct CubinKey {
  KernelSource source;
  std::string arch;
  std::string compiler_version;  ///< Nvrtc::version() or Nvcc::version().
  std::vector<std::string> options;
  std::string user_digest = {};  ///< UserSourceText::digest of a source file that is not embedded.

  /// 36 characters. Equal for equal keys and for sources that differ only in ways the compiler ignores (source_text.h).
  [[nodiscard]] std::string digest() const;
};

/// Safe to use from several threads and processes; files appear atomically. If the folder is empty or not writable,
/// every lookup misses.
class CubinCache {
 public:
  explicit CubinCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Empty if absent or if the digest of the cubin does not match.
  [[nodiscard]] std::optional<Compiled> find(const CubinKey&) const;
  /// Returns false on a write error.
  bool store(const CubinKey&, const Compiled&) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace gpu

struct BuiltKernel {
  BuildReport report;  ///< report.error: why there is no cubin.
  std::string cubin;
  std::string symbol;  ///< Name of the entry in the cubin.
};

class KernelBuilder {
 public:
  /// Empty `cache_dir`: default_cubin_cache(). Fails if NVRTC cannot be loaded.
  [[nodiscard]] static Result<std::unique_ptr<KernelBuilder>, GpuError> open(
      const std::filesystem::path& cache_dir = {});
  KernelBuilder(gpu::Nvrtc nvrtc, gpu::CubinCache cache) : nvrtc_(std::move(nvrtc)), cache_(std::move(cache)) {}

  [[nodiscard]] const std::string& nvrtc_version() const { return nvrtc_.version(); }
  /// See Nvrtc.
  [[nodiscard]] Message unsupported_reason(std::string_view arch) const { return nvrtc_.unsupported_reason(arch); }

  /// Returns the cached kernel, or compiles and caches it. Errors are in the report. Thread-safe. Cancelling
  /// ends nvcc with the error "compile.cancelled".
  [[nodiscard]] BuiltKernel build(std::string_view arch, const KernelLaunch& launch,
                                  const CancelToken& cancel = {}) const;
  /// See UserSources.
  [[nodiscard]] std::shared_ptr<const StoredManifest> statement_of(
      std::span<const std::shared_ptr<const UserSource>> sources, bool keep_sources) const {
    return user_sources_.statement_of(sources, keep_sources, nvrtc_.include_folders());
  }

  /// Builds each distinct source of `launches` once on `threads` threads (0: one per hardware thread), until done or
  /// cancelled. Returns reports in order of first appearance, without sources that were not built. `progress` may be
  /// empty; its calls are serialized.
  [[nodiscard]] std::vector<BuildReport> build_all(std::string_view arch, std::span<const KernelLaunch> launches,
                                                   unsigned threads, const CancelToken& cancel,
                                                   const Device::BuildProgress& progress) const;

 private:
  struct CompileFailure {
    KernelSource source;
    std::string arch;
    Message error;
  };
  /// Nvcc::find(), once: nvcc is not replaced during a run.
  [[nodiscard]] Result<gpu::Nvcc, Message> find_nvcc() const;
  /// Error of a previous attempt to build this source; empty if there was none.
  [[nodiscard]] Message previous_failure(const KernelSource& source, std::string_view arch) const;

  gpu::Nvrtc nvrtc_;
  gpu::CubinCache cache_;
  gpu::UserSources user_sources_;
  mutable std::mutex mutex_;
  mutable std::vector<CompileFailure> failures_;
  mutable std::optional<gpu::Nvcc> nvcc_;
};

}  // namespace attnscope

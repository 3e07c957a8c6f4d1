// SPDX-License-Identifier: Apache-2.0
// User-defined kernel in a shared library; assets/own-kernel/attnscope_kernel.h declares its interface.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "assets/own-kernel/attnscope_kernel.h"
#include "kernels/algorithm.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/user/host_launch.h"

namespace attnscope::gpu {

class KernelRunner;

/// A loaded user library. It is never unloaded.
class LibraryKernel {
 public:
  /// Loads the library with RTLD_LOCAL. Throws PointAbort (compile_error) if it does not load, has another interface
  /// version or loads a second CUPTI.
  explicit LibraryKernel(const std::filesystem::path& file);

  [[nodiscard]] const attnscope_kernel& functions() const { return *functions_; }
  /// File name for messages: "my-kernel.so".
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  const attnscope_kernel* functions_ = nullptr;
};

/// Plan that a library prepared for a set of addresses.
class PreparedLibrary final : public HostLaunch {
 public:
  /// Allocates the workspace and calls the library's prepare(). Keeps references to `place` members and the library.
  /// Throws PointAbort for an error status, DriverError for a device fault, LaunchTimeout if prepare() exceeds four
  /// times `limit` (the process should then end). Pre: the device is idle.
  PreparedLibrary(const HostPlace& place, const LibraryKernel& library, const AttentionPlan& plan, const HostCall& call,
                  const BufferResolver& address_of, std::chrono::milliseconds limit);
  /// Waits for the whole context.
  ~PreparedLibrary() override;

  void launch(CUstream stream) override;
  [[nodiscard]] Message stray_write() const override;
  [[nodiscard]] std::int64_t guard_bytes() const override;
  [[nodiscard]] std::chrono::nanoseconds host_time() const override { return host_time_; }

 private:
  struct Call;
  void prepare(std::chrono::milliseconds limit);
  /// Throws unless `status` is OK.
  void check(int status, const char* function) const;

  HostPlace place_;
  const LibraryKernel& library_;
  std::shared_ptr<Call> call_;  ///< Shared with the preparing thread, which may hang.
  DeviceMemory workspace_;      ///< Workspace with guard areas.
  std::int64_t workspace_bytes_ = 0;
  std::chrono::nanoseconds host_time_{0};
};

// Detection of work that a library runs outside the given stream.

struct PendingWork {
  double ns = 0;             ///< Time that the context works after the last event in the stream; 0 or less: none.
  double resolution_ns = 0;  ///< Excess that waiting for an idle context takes, too.
};
/// Measures the work that `enqueue` leaves outside the stream: the shortest of five waits for the context, less the
/// longest wait for an idle one (6 to 24 us on an H100). Both follow a pause of 5 ms, which hides the host's launch
/// time. Pre: the context is idle. Throws DriverError and LaunchTimeout.
[[nodiscard]] PendingWork pending_work(KernelRunner& runner, const std::function<void()>& enqueue,
                                       std::chrono::milliseconds limit);

/// Returns true if `written` returns true while the stream is blocked, so that the work of `enqueue` runs on another
/// stream. Also returns false if `enqueue` takes longer than the block. Pre and errors as above.
[[nodiscard]] bool writes_early(KernelRunner& runner, const std::function<void()>& enqueue,
                                const std::function<bool()>& written, std::chrono::milliseconds limit);

}  // namespace attnscope::gpu

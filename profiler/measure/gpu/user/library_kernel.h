// SPDX-License-Identifier: Apache-2.0
// A user's kernel that is a shared library: assets/own-kernel/attnscope_kernel.h says what it exports.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "assets/own-kernel/attnscope_kernel.h"
#include "kernels/algorithm.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"

namespace attnscope::gpu {

class KernelRunner;

/// A library of a user's; it stays loaded.
class LibraryKernel {
 public:
  /// Loads it beside this program, whose symbols it does not see. Throws PointEnd (compile_error): it does not load, is
  /// of another interface, or brings a second CUPTI.
  explicit LibraryKernel(const std::filesystem::path& file);

  [[nodiscard]] const attnscope_kernel& functions() const { return *functions_; }
  /// "my-kernel.so": for messages.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  const attnscope_kernel* functions_ = nullptr;
};

/// What a library has prepared for a set of addresses.
class PreparedLibrary {
 public:
  using Resolve = std::function<CUdeviceptr(const std::string& buffer)>;
  /// Where it runs.
  struct Place {
    const CudaApi& cuda;
    const Context& context;
    CUstream stream;
    int ordinal;
  };
  /// Keeps references to the place's and the library. Allocates the workspace. Throws PointEnd as the library answers,
  /// DriverError where the device has a fault then, and LaunchTimeout where prepare() takes longer than four times
  /// `limit`, after which nothing of the process can be relied on. Pre: the device is idle.
  PreparedLibrary(const Place& place, const LibraryKernel& library, const AttentionPlan& plan, const HostCall& call,
                  const Resolve& address_of, std::chrono::milliseconds limit);
  PreparedLibrary(const PreparedLibrary&) = delete;
  PreparedLibrary& operator=(const PreparedLibrary&) = delete;
  /// Waits for the whole context.
  ~PreparedLibrary();

  /// Throws PointEnd (as its status says), or DriverError where the device has a fault then.
  void launch(CUstream stream);
  /// What wrote beside its workspace; empty for nothing. Pre: the device is idle.
  [[nodiscard]] Message stray_write() const;
  /// Bytes that this program added beside the workspace, to see stray writes.
  [[nodiscard]] std::int64_t guard_bytes() const;
  /// How long the last launch took on the host.
  [[nodiscard]] std::chrono::nanoseconds host_time() const { return host_time_; }

 private:
  struct Call;
  void prepare(std::chrono::milliseconds limit);
  /// Throws unless `status` is OK.
  void check(int status, const char* function) const;

  Place place_;
  const LibraryKernel& library_;
  std::shared_ptr<Call> call_;  ///< shared with the thread that prepares, which may never end
  DeviceMemory workspace_;      ///< between bytes that nobody is to write
  std::int64_t workspace_bytes_ = 0;
  std::chrono::nanoseconds host_time_{0};
};

// Work that host code leaves outside its stream.

/// Returns the nanoseconds for which the context works after the last event of `enqueue` in the stream. Returns 0 if
/// the shortest of five waits for the context is at most twice the longest wait after an empty delay (6 to 24 us on an
/// H100). Pre: the context is idle. Throws DriverError and LaunchTimeout.
[[nodiscard]] double late_work_ns(KernelRunner& runner, const std::function<void()>& enqueue,
                                  std::chrono::milliseconds limit);

/// Returns true if `written` becomes true while the stream is held: the work of `enqueue` runs on another stream. Also
/// returns false if `enqueue` takes longer than the hold. Pre and errors as above.
[[nodiscard]] bool writes_early(KernelRunner& runner, const std::function<void()>& enqueue,
                                const std::function<bool()>& written, std::chrono::milliseconds limit);

}  // namespace attnscope::gpu

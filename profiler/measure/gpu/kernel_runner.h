// SPDX-License-Identifier: Apache-2.0
// Builds, loads and runs kernels on one device.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/point_abort.h"
#include "profiler/measure/gpu/user/host_launch.h"
#include "profiler/measure/gpu/user/library_kernel.h"

namespace attnscope::gpu {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A kernel loaded into the context, with its attributes from the driver.
struct LoadedKernel {
  Module module;
  CUfunction function = nullptr;
  /// User code on the host launches the kernels: no module and function.
  bool host_code = false;
  std::unique_ptr<const LibraryKernel> library;  ///< set for a shared library
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t local_bytes = 0;  ///< Per thread.
  /// Dynamic shared memory that launches may use. Tiles that compile to the same kernel share the function, so that it
  /// is only ever raised.
  std::int64_t allowed_shared_bytes = 0;
  std::string digest;  ///< See LaunchRecord::digest.
};

/// A launch with its kernel loaded and its arguments resolved.
class PreparedLaunch {
 public:
  /// Throws DriverError if a tensor map cannot be encoded, PointAbort (compile_error) if the arguments of a
  /// user-defined kernel do not match its parameters.
  PreparedLaunch(const CudaApi& cuda, const KernelLaunch& launch, const LoadedKernel& kernel,
                 const BufferResolver& address_of);
  /// `name`: of the launch if empty.
  PreparedLaunch(const KernelLaunch& launch, std::unique_ptr<HostLaunch> host, std::string name = {})
      : launch_(&launch), host_(std::move(host)), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const { return name_.empty() ? launch_->name : name_; }
  [[nodiscard]] std::int64_t runs() const { return launch_->runs; }
  /// See HostLaunch; nothing for kernels.
  void enqueue_before(CUstream stream) {
    if (host_) host_->enqueue_before(stream);
  }
  /// Enqueues the launch. Throws DriverError and the errors of HostLaunch::launch().
  void enqueue(const CudaApi& cuda, CUstream stream);
  /// See HostLaunch; empty and 0 for kernels.
  [[nodiscard]] Message stray_write() const { return host_ ? host_->stray_write() : Message(); }
  [[nodiscard]] std::int64_t guard_bytes() const { return host_ ? host_->guard_bytes() : 0; }
  [[nodiscard]] std::chrono::nanoseconds host_time() const {
    return host_ ? host_->host_time() : std::chrono::nanoseconds(0);
  }

 private:
  const KernelLaunch* launch_;
  const LoadedKernel* kernel_ = nullptr;
  std::unique_ptr<HostLaunch> host_;
  std::string name_;
  std::vector<std::vector<std::byte>> slots_;  ///< Bytes of each argument.
};

class KernelRunner {
 public:
  /// Keeps references to all arguments. Throws PointAbort if the service kernels do not compile, DriverError if the
  /// buffer that clears L2 cannot be allocated.
  KernelRunner(const CudaApi& cuda, const KernelBuilder& builder, std::string arch, CUstream stream,
               const DeviceLimits& limits);

  /// Builds (or finds in the cache) and loads a kernel or library; later calls are lookups. Throws PointAbort:
  /// compile_error, or infeasible if the shared memory is too large.
  const LoadedKernel& load(const KernelLaunch& launch);

  /// Waits for all work in the stream. Throws DriverError, or LaunchTimeout after `limit`.
  void wait(std::chrono::milliseconds limit);
  /// Waits for `event`. With `spin_wait` the thread never sleeps.
  void wait(CUevent event, std::chrono::milliseconds limit, bool spin_wait = false) const;

  /// Clears L2: writes a buffer of twice its size and discards it, so that L2 has no lines of a plan and no dirty
  /// lines. If user-defined kernels are loaded, which may have set lines to persist, uses two kinds of stores. As with
  /// ncu, dirty lines left at the end of a kernel are not counted.
  void enqueue_l2_clear();
  /// Size of the noise buffer: four times L2. Reading twice L2 leaves 0.24% of the dirty lines, in one case 14% (H200).
  [[nodiscard]] std::int64_t noise_bytes() const { return 2 * fill_bytes_; }
  void enqueue_store_noise(CUdeviceptr noise, std::int64_t bytes);
  /// Reads the noise buffer, so that dirty lines in L2 are written back to DRAM. Pre: noise_bytes() were stored at
  /// `noise`, and L2 was cleared since.
  void enqueue_write_back(CUdeviceptr noise);
  void enqueue_delay(std::chrono::nanoseconds length);
  /// Enqueues a kernel that stores clock and time of each SM, before or after (`behind`) the timed launches.
  void enqueue_clock_stamp(bool behind);
  /// SM frequency between the two stamps: cycles divided by time, median over SMs with both stamps; 0 if there are
  /// none. Pre: the stream is idle. Throws DriverError.
  [[nodiscard]] double stamped_clock_hz() const;
  /// Enqueues counts of infinite and NaN elements and of rows of `row_elements` that are all 0; `result` points to two
  /// 64-bit counters.
  void enqueue_count_nonfinite(CUdeviceptr data, std::int64_t count, DType dtype, std::int64_t row_elements,
                               CUdeviceptr result);

  [[nodiscard]] const CudaApi& cuda() const { return cuda_; }
  [[nodiscard]] CUstream stream() const { return stream_; }

 private:
  void launch_service(CUfunction function, unsigned blocks, unsigned threads, void** arguments);
  void sweep(CUfunction function, CUdeviceptr address, std::int64_t bytes);

  const CudaApi& cuda_;
  const KernelBuilder& builder_;
  std::string arch_;
  CUstream stream_;
  const DeviceLimits& limits_;
  std::map<std::string, LoadedKernel> kernels_;
  Event last_;
  std::int64_t fill_bytes_;
  DeviceMemory fill_buffer_;
  CUfunction fill_l2_ = nullptr;
  CUfunction displace_l2_ = nullptr;
  /// True after a user-defined kernel was loaded, since it may have made lines persist in L2.
  bool may_have_persisting_lines_ = false;
  CUfunction discard_l2_ = nullptr;
  CUfunction read_noise_ = nullptr;
  CUfunction delay_ = nullptr;
  CUfunction stamp_clocks_ = nullptr;
  DeviceMemory stamps_;  ///< First stamps before, then stamps after the timed launches.
  CUfunction count_nonfinite_ = nullptr;
};

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
// Kernels on one device: compiled, loaded, launched, waited for.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/point_end.h"
#include "profiler/measure/gpu/user/library_kernel.h"

namespace attnscope::gpu {

/// A kernel in the context, with what the driver says about it.
struct LoadedKernel {
  Module module;
  CUfunction function = nullptr;
  std::unique_ptr<const LibraryKernel> library;  ///< in place of both, where the user's source is one
  int registers = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t local_bytes = 0;  ///< a thread
  std::string digest;            ///< LaunchRecord::digest
};

/// A launch of a plan made ready: kernel loaded, addresses filled in.
class PreparedLaunch {
 public:
  using Resolve = PreparedLibrary::Resolve;
  /// Throws DriverError where a tensor map cannot be encoded.
  PreparedLaunch(const CudaApi& cuda, const KernelLaunch& launch, const LoadedKernel& kernel,
                 const Resolve& address_of);
  /// One that a library makes.
  PreparedLaunch(const KernelLaunch& launch, std::unique_ptr<PreparedLibrary> library)
      : launch_(&launch), library_(std::move(library)) {}

  [[nodiscard]] const std::string& name() const { return launch_->name; }
  [[nodiscard]] std::int64_t runs() const { return launch_->runs; }
  /// Throws DriverError, and what PreparedLibrary::launch() does. Returns when the launch is in the stream.
  void enqueue(const CudaApi& cuda, CUstream stream);
  /// What its library wrote beside its workspace; empty for nothing. Pre: the device is idle.
  [[nodiscard]] Message stray_write() const { return library_ ? library_->stray_write() : Message(); }
  /// Of what preparing it took of the device's memory, what is this program's.
  [[nodiscard]] std::int64_t guard_bytes() const { return library_ ? library_->guard_bytes() : 0; }
  /// What its host code took last, in which the stream must not run dry; 0 where it has none.
  [[nodiscard]] std::chrono::nanoseconds host_time() const {
    return library_ ? library_->host_time() : std::chrono::nanoseconds(0);
  }

 private:
  const KernelLaunch* launch_;
  const LoadedKernel* kernel_ = nullptr;
  std::unique_ptr<PreparedLibrary> library_;
  /// An argument's bytes, at its start; as large as a tensor map, which is the largest.
  struct alignas(64) Slot {
    std::array<std::byte, sizeof(CUtensorMap)> bytes{};
  };
  std::vector<Slot> slots_;
};

class KernelRunner {
 public:
  /// Keeps references to all of them. Throws PointEnd when the service kernels do not compile, DriverError
  /// when the buffer that clears the L2 cannot be had.
  KernelRunner(const CudaApi& cuda, const KernelBuilder& builder, std::string arch, CUstream stream,
               const DeviceLimits& limits);

  /// Compiles (or finds) and loads a kernel, or loads a library; later calls are a lookup. Throws PointEnd:
  /// compile_error, or infeasible when the driver refuses its shared memory.
  const LoadedKernel& load(const KernelLaunch& launch);

  /// Waits until what is in the stream now has run. Throws DriverError, or LaunchTimeout after `limit`.
  void wait(std::chrono::milliseconds limit);
  /// The same up to `event`; `spins`: the thread never sleeps meanwhile.
  void wait(CUevent event, std::chrono::milliseconds limit, bool spins = false) const;

  /// Enqueues what leaves L2 without a line of any plan's and without dirty ones: a buffer of twice its size is
  /// written, then discarded; where users' kernels run, which may have asked L2 to keep lines, in two ways. What a
  /// kernel leaves dirty in L2 at its end is thereby never counted, as under ncu.
  void enqueue_cold_cache();
  /// Bytes of noise that drive everything else out of L2: four times its size. Twice leaves 0.24% of what is dirty
  /// where it is, once 14% (on an H200).
  [[nodiscard]] std::int64_t noise_bytes() const { return 2 * fill_bytes_; }
  /// Enqueues stores of noise, for enqueue_write_back() to read later.
  void enqueue_store_noise(CUdeviceptr noise, std::int64_t bytes);
  /// Enqueues reads of stored noise: what the kernels before left dirty in L2 is written to DRAM. Pre: noise_bytes()
  /// were stored at `noise`, and L2 was made cold since.
  void enqueue_write_back(CUdeviceptr noise);
  /// Enqueues a pause of the stream.
  void enqueue_delay(std::chrono::nanoseconds length);
  /// Enqueues a look at the SMs' clocks, before what is timed or behind it.
  void enqueue_clock_stamp(bool behind);
  /// The SMs' mean frequency between the two looks: cycles over time, the median of the SMs that both saw; 0 where that
  /// is none. Pre: the stream is idle. Throws DriverError.
  [[nodiscard]] double stamped_hz() const;
  /// Enqueues a count of the infinite and NaN values among `count` elements; *result is a 64-bit counter.
  void enqueue_count_nonfinite(CUdeviceptr data, std::int64_t count, DType dtype, CUdeviceptr result);

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
  bool lines_are_kept_ = false;  ///< perhaps: a user's kernel was loaded
  CUfunction discard_l2_ = nullptr;
  CUfunction read_noise_ = nullptr;
  CUfunction delay_ = nullptr;
  CUfunction stamp_clocks_ = nullptr;
  DeviceMemory stamps_;  ///< before, then behind
  CUfunction count_nonfinite_ = nullptr;
};

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
// A buffer beside which nothing is mapped: a kernel that reads or writes past it faults.
#pragma once

#include <cstdint>

#include "profiler/measure/gpu/driver/cuda_driver.h"

namespace attnscope::gpu {

class GuardedBuffer {
 public:
  /// Which end of the buffer is that of the mapped memory, whose granule is 2 MiB on GPUs of today. The buffer begins
  /// at a multiple of 256 bytes, as cuMemAlloc's do and kernels may rely on: at the end, a size that is none leaves a
  /// gap of less than that, where a stray read finds NaN bytes and no fault.
  enum class Flush { end, begin };
  /// All of the mapped memory holds NaN bytes when what is enqueued here has run. Throws DriverError.
  GuardedBuffer(const CudaApi& cuda, CUdevice device, CUstream stream, std::int64_t bytes, Flush flush);
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  /// Pre: nothing that is enqueued uses it.
  ~GuardedBuffer();

  [[nodiscard]] CUdeviceptr address() const { return address_; }
  /// Device memory that a buffer takes. Throws DriverError.
  [[nodiscard]] static std::int64_t mapped_bytes(const CudaApi& cuda, CUdevice device, std::int64_t bytes);

 private:
  void release();

  const CudaApi& cuda_;
  std::size_t granule_;
  std::size_t mapped_bytes_;
  CUmemGenericAllocationHandle memory_ = 0;
  CUdeviceptr reserved_ = 0;  ///< a granule, the mapped memory, a granule
  bool mapped_ = false;
  CUdeviceptr address_ = 0;
};

}  // namespace attnscope::gpu

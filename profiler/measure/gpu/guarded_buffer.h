// SPDX-License-Identifier: Apache-2.0
// Device buffer with unmapped pages on both sides: an access beyond it faults.
#pragma once

#include <cstdint>

#include "profiler/measure/gpu/driver/cuda_driver.h"

namespace attnscope::gpu {

class GuardedBuffer {
 public:
  /// Which end of the buffer touches an unmapped page; the mapping granularity is 2 MiB on current GPUs. The buffer
  /// starts at a multiple of 256 bytes, like those of cuMemAlloc. With `end`, other sizes leave a gap of less than 256
  /// bytes, where a stray read returns NaN instead of a fault.
  enum class GuardSide { end, begin };
  /// Enqueues a memset of the mapped memory to NaN. Throws DriverError.
  GuardedBuffer(const CudaApi& cuda, CUdevice device, CUstream stream, std::int64_t bytes, GuardSide flush);
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  /// Pre: no enqueued work uses the buffer.
  ~GuardedBuffer();

  [[nodiscard]] CUdeviceptr address() const { return address_; }
  /// Device memory that a buffer occupies, in bytes. Throws DriverError.
  [[nodiscard]] static std::int64_t mapped_bytes(const CudaApi& cuda, CUdevice device, std::int64_t bytes);

 private:
  void release();

  const CudaApi& cuda_;
  std::size_t granularity_;
  std::size_t mapped_bytes_;
  CUmemGenericAllocationHandle memory_ = 0;
  CUdeviceptr reserved_ = 0;  ///< Guard page, mapped memory, guard page.
  bool mapped_ = false;
  CUdeviceptr address_ = 0;
};

}  // namespace attnscope::gpu

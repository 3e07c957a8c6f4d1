// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/guarded_buffer.h"

#include <algorithm>

#include "kernels/model/integer.h"

namespace attnscope::gpu {
namespace {

constexpr std::int64_t alignment = 256;

CUmemAllocationProp device_memory(CUdevice device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  return properties;
}

std::size_t allocation_granularity(const CudaApi& cuda, CUdevice device) {
  const CUmemAllocationProp properties = device_memory(device);
  std::size_t granule = 0;
  cuda.check(cuda.cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
             "cuMemGetAllocationGranularity");
  return granule;
}

std::int64_t align_up(std::int64_t bytes, std::int64_t to) {
  return ceil_div(std::max<std::int64_t>(bytes, 1), to) * to;
}

}  // namespace

std::int64_t GuardedBuffer::mapped_bytes(const CudaApi& cuda, CUdevice device, std::int64_t bytes) {
  return align_up(bytes, static_cast<std::int64_t>(allocation_granularity(cuda, device)));
}

GuardedBuffer::GuardedBuffer(const CudaApi& cuda, CUdevice device, CUstream stream, std::int64_t bytes, GuardSide flush)
    : cuda_(cuda),
      granularity_(allocation_granularity(cuda, device)),
      mapped_bytes_(static_cast<std::size_t>(align_up(bytes, static_cast<std::int64_t>(granularity_)))) {
  try {
    const CUmemAllocationProp properties = device_memory(device);
    cuda_.check(cuda_.cuMemCreate(&memory_, mapped_bytes_, &properties, 0), "cuMemCreate");
    cuda_.check(cuda_.cuMemAddressReserve(&reserved_, mapped_bytes_ + 2 * granularity_, 0, 0, 0),
                "cuMemAddressReserve");
    const CUdeviceptr begin = reserved_ + granularity_;
    cuda_.check(cuda_.cuMemMap(begin, mapped_bytes_, 0, memory_, 0), "cuMemMap");
    mapped_ = true;
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    cuda_.check(cuda_.cuMemSetAccess(begin, mapped_bytes_, &access, 1), "cuMemSetAccess");
    cuda_.fill(begin, nan_byte, mapped_bytes_, stream);
    const auto taken = static_cast<std::size_t>(align_up(bytes, alignment));
    address_ = begin + (flush == GuardSide::end ? mapped_bytes_ - taken : 0);
  } catch (...) {
    release();
    throw;
  }
}

GuardedBuffer::~GuardedBuffer() {
  release();
}

void GuardedBuffer::release() {
  if (mapped_) cuda_.cuMemUnmap(reserved_ + granularity_, mapped_bytes_);
  if (reserved_ != 0) cuda_.cuMemAddressFree(reserved_, mapped_bytes_ + 2 * granularity_);
  if (memory_ != 0) cuda_.cuMemRelease(memory_);
}

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
// Load latency by pointer chasing. ATTN_LEVEL: 0 shared memory, 1 L1, 2 L2 or DRAM (by working set).
#include "ceilings/stopwatch.cuh"
#include "device/ceiling_shape.h"

using namespace attnscope::device;

namespace {

/// Pseudorandom permutation of [0, 2^bits); maps 0 to 0.
__device__ __forceinline__ unsigned shuffled(unsigned number, int bits) {
  const unsigned mask = (1u << bits) - 1;
  unsigned x = number & mask;
  x = x * 0x9e3779b1u & mask;
  x ^= x >> (bits + 1) / 2;
  x = x * 0x85ebca6bu & mask;
  x ^= x >> (bits + 1) / 2;
  return x;
}

}  // namespace

// Links 2^bits slots, `stride` bytes apart, into one ring: each slot stores the address of the next.
extern "C" __global__ void attn_ceiling_link(unsigned char* data, int bits, int stride) {
  const unsigned count = 1u << bits;
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
    const long long here = static_cast<long long>(shuffled(k, bits)) * stride;
    const long long next = static_cast<long long>(shuffled(k + 1, bits)) * stride;
    *reinterpret_cast<unsigned long long*>(data + here) = reinterpret_cast<unsigned long long>(data + next);
  }
}

// One thread chases the ring for `iterations` x ceiling_loads_per_iteration loads, starting at slot `first`.
extern "C" __global__ void attn_ceiling_chase(const unsigned char* data, int bits, int stride, int first,
                                              unsigned long long* report, int iterations) {
#if ATTN_LEVEL == 0
  __shared__ unsigned ring[1024];
  unsigned base;
  asm("{.reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t;}" : "=r"(base) : "l"(ring));
  for (unsigned k = 0; k < 1024; ++k) {
    ring[shuffled(k, 10)] = base + 4 * shuffled(k + 1, 10);
  }
  unsigned at = base;
  const Stopwatch begin = Stopwatch::now();
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int u = 0; u < attnscope::ceiling_loads_per_iteration; ++u) {
      asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
    }
  }
  finish(report, begin, at);
#else
  unsigned long long at =
      reinterpret_cast<unsigned long long>(data) + static_cast<unsigned long long>(shuffled(first, bits)) * stride;
  const Stopwatch begin = Stopwatch::now();
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int u = 0; u < attnscope::ceiling_loads_per_iteration; ++u) {
#if ATTN_LEVEL == 1
      asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
#else
      asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
#endif
    }
  }
  finish(report, begin, static_cast<unsigned>(at));
#endif
}

// Empty kernel: measures launch overhead.
extern "C" __global__ void attn_ceiling_nothing() {}

// SPDX-License-Identifier: Apache-2.0
// Read, write and copy bandwidth of DRAM and L2. All accesses bypass L1. Buffers hold noise, since L2 compresses lines
// of one repeated value.
#include "ceilings/stopwatch.cuh"
#include "device/global.cuh"

using namespace attnscope::device;

// ATTN_AT_ONCE: 16-byte loads in flight per thread. ATTN_STREAM: use evict-first (.cs) accesses. The fastest variant
// differs by GPU; the host takes the best one.
#ifndef ATTN_AT_ONCE
#define ATTN_AT_ONCE 4
#endif

namespace {

__device__ __forceinline__ unsigned fold(const uint4& v) {
  return v.x ^ v.y ^ v.z ^ v.w;
}

__device__ __forceinline__ uint4 load(const unsigned char* address) {
#if ATTN_STREAM
  uint4 v;
  asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
#else
  return load_16_bytes(address);
#endif
}

__device__ __forceinline__ void store(unsigned char* address, const uint4& v) {
#if ATTN_STREAM
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
#else
  store_16_bytes(address, v.x, v.y, v.z, v.w);
#endif
}

/// Calls `work` with this thread's byte offset in each chunk of a grid-stride loop, so that the whole GPU accesses
/// nearby addresses at any time. Pre: `bytes` is a multiple of the chunk size.
template <class Work>
__device__ __forceinline__ void for_each_chunk(long long bytes, Work&& work) {
  const long long chunk = 16ll * ATTN_AT_ONCE * blockDim.x;
  for (long long from = chunk * blockIdx.x; from < bytes; from += chunk * gridDim.x) {
    work(from + 16ll * threadIdx.x);
  }
}

}  // namespace

extern "C" __global__ void attn_ceiling_read(const unsigned char* data, long long bytes, unsigned long long* report,
                                             int iterations) {
  const Stopwatch begin = Stopwatch::now();
  const long long step = 16ll * blockDim.x;
  unsigned result = 0;
  for (int i = 0; i < iterations; ++i) {
    for_each_chunk(bytes, [&](long long at) {
      uint4 v[ATTN_AT_ONCE];
#pragma unroll
      for (int u = 0; u < ATTN_AT_ONCE; ++u) {
        v[u] = load(data + at + u * step);
      }
#pragma unroll
      for (int u = 0; u < ATTN_AT_ONCE; ++u) {
        result ^= fold(v[u]);
      }
    });
  }
  finish(report, begin, result);
}

extern "C" __global__ void attn_ceiling_write(unsigned char* data, long long bytes, unsigned long long* report,
                                              int iterations) {
  const Stopwatch begin = Stopwatch::now();
  const long long step = 16ll * blockDim.x;
  for (int i = 0; i < iterations; ++i) {
    for_each_chunk(bytes, [&](long long at) {
#pragma unroll
      for (int u = 0; u < ATTN_AT_ONCE; ++u) {
        const unsigned noise = (static_cast<unsigned>(at + u * step) + i) * 2654435761u;
        store(data + at + u * step, make_uint4(noise, ~noise, noise ^ 0x5555u, noise >> 7));
      }
    });
  }
  finish(report, begin, 0);
}

extern "C" __global__ void attn_ceiling_copy(unsigned char* target, const unsigned char* source, long long bytes,
                                             unsigned long long* report, int iterations) {
  const Stopwatch begin = Stopwatch::now();
  const long long step = 16ll * blockDim.x;
  for (int i = 0; i < iterations; ++i) {
    for_each_chunk(bytes, [&](long long at) {
      uint4 v[ATTN_AT_ONCE];
#pragma unroll
      for (int u = 0; u < ATTN_AT_ONCE; ++u) {
        v[u] = load(source + at + u * step);
      }
#pragma unroll
      for (int u = 0; u < ATTN_AT_ONCE; ++u) {
        store(target + at + u * step, v[u]);
      }
    });
  }
  finish(report, begin, 0);
}

// Each block reads one slice of `slice_bytes` (a multiple of 16) per iteration: always its own, or, if `shared`, a
// different one each time, so that every block eventually reads every slice. All blocks advance by the same random
// number of slices, so no two blocks read one slice at a time, and no block follows another closely enough to hit the
// lines that it brought into L2. Pre: one slice per block; all blocks are resident.
extern "C" __global__ void attn_ceiling_slices(const unsigned char* data, long long slice_bytes, int shared,
                                               unsigned long long* report, int iterations) {
  const Stopwatch begin = Stopwatch::now();
  const long long stride = 16ll * blockDim.x;
  unsigned slice = blockIdx.x;
  unsigned result = 0;
  for (int i = 0; i < iterations; ++i) {
    const unsigned char* const from = data + slice * slice_bytes;
    // A slice need not be a multiple of the block's access width, so all loads are issued before any result is used.
    for (long long at = 16ll * threadIdx.x; at < slice_bytes; at += 4 * stride) {
      uint4 v[4] = {};
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        if (at + u * stride < slice_bytes) {
          v[u] = load_16_bytes(from + at + u * stride);
        }
      }
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        result ^= fold(v[u]);
      }
    }
    if (shared) {
      unsigned random = (i + 1u) * 2654435761u;
      random ^= random >> 15;
      slice = (blockIdx.x + random % gridDim.x) % gridDim.x;
    }
  }
  finish(report, begin, result);
}

// SPDX-License-Identifier: Apache-2.0
// How fast memory can be read and written: beyond the L2, within it, and around its size. All loads and stores pass the
// L1; buffers hold noise, for lines of one value are kept compressed.
#include "ceilings/stopwatch.cuh"
#include "device/global.cuh"

using namespace attnscope::device;

namespace {

constexpr int at_once = 8;  // of 16 bytes, by each thread

__device__ __forceinline__ unsigned fold(const uint4& v) {
  return v.x ^ v.y ^ v.z ^ v.w;
}

}  // namespace

// Reads `bytes` (a multiple of 16), `iterations` times.
extern "C" __global__ void attn_ceiling_read(const unsigned char* data, long long bytes, unsigned long long* report,
                                             int iterations) {
  const Stopwatch begin = Stopwatch::now();
  const long long stride = 16ll * gridDim.x * blockDim.x;
  const long long first = 16ll * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x);
  unsigned result = 0;
  for (int i = 0; i < iterations; ++i) {
    long long at = first;
    for (; at + (at_once - 1) * stride < bytes; at += at_once * stride) {
      uint4 v[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        v[u] = load_16_bytes(data + at + u * stride);
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        result ^= fold(v[u]);
      }
    }
    for (; at < bytes; at += stride) {
      result ^= fold(load_16_bytes(data + at));
    }
  }
  finish(report, begin, result);
}

// Writes `bytes` (a multiple of 16) of noise, `iterations` times.
extern "C" __global__ void attn_ceiling_write(unsigned char* data, long long bytes, unsigned long long* report,
                                              int iterations) {
  const Stopwatch begin = Stopwatch::now();
  const long long stride = 16ll * gridDim.x * blockDim.x;
  const long long first = 16ll * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x);
  for (int i = 0; i < iterations; ++i) {
    for (long long at = first; at < bytes; at += stride) {
      const unsigned noise = (static_cast<unsigned>(at) + i) * 2654435761u;
      store_16_bytes(data + at, noise, ~noise, noise ^ 0x5555u, noise >> 7);
    }
  }
  finish(report, begin, 0);
}

// Copies `bytes` (a multiple of 16), `iterations` times.
extern "C" __global__ void attn_ceiling_copy(unsigned char* target, const unsigned char* source, long long bytes,
                                             unsigned long long* report, int iterations) {
  const Stopwatch begin = Stopwatch::now();
  const long long stride = 16ll * gridDim.x * blockDim.x;
  const long long first = 16ll * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x);
  for (int i = 0; i < iterations; ++i) {
    long long at = first;
    for (; at + (at_once - 1) * stride < bytes; at += at_once * stride) {
      uint4 v[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        v[u] = load_16_bytes(source + at + u * stride);
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        store_16_bytes(target + at + u * stride, v[u].x, v[u].y, v[u].z, v[u].w);
      }
    }
    for (; at < bytes; at += stride) {
      const uint4 v = load_16_bytes(source + at);
      store_16_bytes(target + at, v.x, v.y, v.z, v.w);
    }
  }
  finish(report, begin, 0);
}

// Each block reads one slice (of `slice_bytes`, a multiple of 16) an iteration: always its own where `step` is 0, else
// that of the block `step` further than the last time, so that in time every block reads all of them. As many slices
// as blocks, all of which are on the GPU at once.
extern "C" __global__ void attn_ceiling_slices(const unsigned char* data, long long slice_bytes, int step,
                                               unsigned long long* report, int iterations) {
  const Stopwatch begin = Stopwatch::now();
  const long long stride = 16ll * blockDim.x;
  unsigned slice = blockIdx.x;
  unsigned result = 0;
  for (int i = 0; i < iterations; ++i) {
    const unsigned char* const from = data + slice * slice_bytes;
    // A small slice is no multiple of what the block reads at once: all of it is under way before any of it is used.
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
    slice = (slice + step) % gridDim.x;
  }
  finish(report, begin, result);
}

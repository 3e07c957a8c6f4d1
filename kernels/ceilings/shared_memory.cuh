// SPDX-License-Identifier: Apache-2.0
// Shared-memory read bandwidth of an SM: 16-byte loads per thread without bank conflicts.
#include "ceilings/stopwatch.cuh"
#include "device/ceiling_shape.h"

using namespace attnscope::device;

// Runs `iterations` x ceiling_loads_per_iteration 16-byte loads per thread. Pre: ceiling_shared_threads threads.
extern "C" __global__ void __launch_bounds__(attnscope::ceiling_shared_threads)
    attn_ceiling_shared(unsigned long long* report, int iterations) {
  __shared__ uint4 tile[2048];
  for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) {
    tile[i] = make_uint4(i * 2654435761u, i, ~i, i * 40503u);
  }
  __syncthreads();
  unsigned base;
  asm("{.reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t;}" : "=r"(base) : "l"(tile + threadIdx.x));
  const Stopwatch begin = Stopwatch::now();
  unsigned result = 0;
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint4 v[attnscope::ceiling_loads_per_iteration / 2];
#pragma unroll
      for (int u = 0; u < attnscope::ceiling_loads_per_iteration / 2; ++u) {
        // Volatile in PTX as well: ptxas would merge repeated loads of unchanged memory.
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w)
                     : "r"(base + 2048 * u));
      }
#pragma unroll
      for (int u = 0; u < attnscope::ceiling_loads_per_iteration / 2; ++u) {
        result ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
      }
    }
  }
  finish(report, begin, result);
}

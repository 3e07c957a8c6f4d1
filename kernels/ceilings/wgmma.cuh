// SPDX-License-Identifier: Apache-2.0
// Tensor-core throughput of wgmma (compute capability 9.0) in the dtype of ATTN_BF16 and ATTN_FP8. Two warpgroups per
// SM multiply 64 rows each, with both operands in shared memory as in a GEMM.
#include "ceilings/stopwatch.cuh"
#include "device/ceiling_shape.h"
#include "device/warpgroup.cuh"

using namespace attnscope::device;

// Runs `iterations` products of 64 x wgmma_columns x wgmma_depth per warpgroup. Pre: wgmma_threads threads,
// wgmma_shared_bytes of shared memory.
extern "C" __global__ void __launch_bounds__(attnscope::wgmma_threads, 1)
    attn_ceiling_wgmma(unsigned long long* report, int iterations) {
  constexpr int columns = attnscope::wgmma_columns;
  constexpr int depth = attnscope::wgmma_depth;
  using Left = PanelTile<64, depth>;
  using Right = PanelTile<columns, depth>;
  extern __shared__ unsigned char shared[];
  unsigned base;
  asm("{.reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t;}" : "=r"(base) : "l"(shared));
  const unsigned tiles = (base + 1023u) / 1024u * 1024u;
  constexpr int groups = attnscope::wgmma_threads / warpgroup_threads;
  constexpr unsigned bytes = groups * Left::bytes + Right::bytes;
  for (unsigned at = 4 * threadIdx.x; at < bytes; at += 4 * attnscope::wgmma_threads) {
    const unsigned value = attnscope::ceiling_operand((at + blockIdx.x) * 2654435761u, fp8);
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(tiles + at), "r"(value) : "memory");
  }
  fence_async_proxy();
  __syncthreads();
  const unsigned group = threadIdx.x / warpgroup_threads;
  const unsigned long long a = panel_descriptor(tiles + group * Left::bytes, 16);
  const unsigned long long b = panel_descriptor(tiles + groups * Left::bytes, 16);
  float d[columns / 8][4];
#pragma unroll
  for (int n = 0; n < columns / 8; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      d[n][e] = 0;
    }
  }
  const Stopwatch begin = Stopwatch::now();
  pin(d);
  for (int i = 0; i < iterations; ++i) {
    begin_products();
#pragma unroll
    for (int step = 0; step < depth / 16; ++step) {
      product<columns, true>(d, a + step * 32 / 16, b + step * 32 / 16);
    }
    commit_products();
    wait_products<1>();
  }
  wait_products<0>();
  pin(d);
  float sum = 0;
#pragma unroll
  for (int n = 0; n < columns / 8; ++n) {
    sum += d[n][0] + d[n][1] + d[n][2] + d[n][3];
  }
  finish(report, begin, __float_as_uint(sum));
}

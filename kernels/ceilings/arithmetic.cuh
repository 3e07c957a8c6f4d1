// SPDX-License-Identifier: Apache-2.0
// FP32 throughput of an SM. Each thread runs several independent chains to hide latency.
#include "ceilings/stopwatch.cuh"
#include "device/ceiling_shape.h"

using namespace attnscope::device;

namespace {

constexpr int chains = attnscope::ceiling_chains;

__device__ __forceinline__ unsigned sum_of(const float (&x)[chains]) {
  float sum = 0;
#pragma unroll
  for (int c = 0; c < chains; ++c) {
    sum += x[c];
  }
  return __float_as_uint(sum);
}

}  // namespace

// Runs `iterations` x ceiling_chain_steps FMAs per chain.
extern "C" __global__ void attn_ceiling_fma(unsigned long long* report, int iterations) {
  const Stopwatch begin = Stopwatch::now();
  const float factor = 0.5f + 1e-3f * static_cast<float>(threadIdx.x % 32);
  float x[chains];
#pragma unroll
  for (int c = 0; c < chains; ++c) {
    x[c] = static_cast<float>(c + threadIdx.x);
  }
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int u = 0; u < attnscope::ceiling_chain_steps; ++u) {
#pragma unroll
      for (int c = 0; c < chains; ++c) {
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[c]) : "f"(factor));
      }
    }
  }
  finish(report, begin, sum_of(x));
}

// Runs `iterations` x ceiling_chain_steps ex2 instructions per chain. x = 2^-x converges to about 0.64.
extern "C" __global__ void attn_ceiling_exp2(unsigned long long* report, int iterations) {
  const Stopwatch begin = Stopwatch::now();
  float x[chains];
#pragma unroll
  for (int c = 0; c < chains; ++c) {
    x[c] = 0.01f * static_cast<float>(c + threadIdx.x);
  }
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int u = 0; u < attnscope::ceiling_chain_steps; ++u) {
#pragma unroll
      for (int c = 0; c < chains; ++c) {
        asm volatile("{.reg .f32 t; neg.f32 t, %0; ex2.approx.ftz.f32 %0, t;}" : "+f"(x[c]));
      }
    }
  }
  finish(report, begin, sum_of(x));
}

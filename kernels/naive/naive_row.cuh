// SPDX-License-Identifier: Apache-2.0
// Building blocks of the kernels that process whole rows of S, P and dP.
#pragma once

#include "device/global.cuh"
#include "naive/naive_shape.h"

namespace attnscope::naive {

using namespace device;

/// Sign bits of a packed pair of P; they mark entries dropped by dropout.
constexpr unsigned sign_bits = 0x80008000u;

struct Maximum {
  __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
};

/// Reduces over the `row_warps` warps that share a row; called by every thread of the block. Each call needs separate
/// `scratch` of 32 floats.
template <class Combine>
__device__ __forceinline__ float reduce_row(float value, int row_warps, float* scratch, Combine combine) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  }
  if (row_warps > 1) {  // then the whole block processes one row
    if (threadIdx.x % 32 == 0) {
      scratch[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = scratch[0];
    for (int warp = 1; warp < row_warps; ++warp) {
      value = combine(value, scratch[warp]);
    }
  }
  return value;
}

}  // namespace attnscope::naive

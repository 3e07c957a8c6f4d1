// SPDX-License-Identifier: Apache-2.0
// The fp32 accumulator of dQ in global memory.
//
// It holds, for each instance, groups of 8 rows; in a group, for each 16 columns of d, the 128 elements in the order
// in which a warp holds them: lane (row % 8) * 4 + column % 8 / 2, element column % 16 / 8 * 2 + column % 2. So a warp
// adds 512 contiguous bytes, and from compute capability 9.0 on the elements of a row are whole sectors; before, rows
// share sectors, and those of a ragged end's rows are touched in part.
#pragma once

#include "device/global.cuh"
#include "device/gradient_shape.h"

namespace attnscope::device {

/// Four elements of dq_acc that one lane holds of 8 rows x 16 columns; `block` is the first of the 128. From compute
/// capability 9.0 on they lie side by side and are added by one instruction; before, lanes lie side by side.
struct AccumulatorLane {
#if __CUDA_ARCH__ >= 900
  __device__ __forceinline__ static void add(float* block, int lane, float a, float b, float c, float d) {
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(block + lane * 4), "f"(a), "f"(b), "f"(c), "f"(d)
                 : "memory");
  }
  __device__ __forceinline__ static void store(float* block, int lane, float a, float b, float c, float d) {
    store_16_bytes(block + lane * 4, __float_as_uint(a), __float_as_uint(b), __float_as_uint(c), __float_as_uint(d));
  }
  __device__ __forceinline__ static float4 load(const float* block, int lane) {
    const uint4 v = load_16_bytes(block + lane * 4);
    return {__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w)};
  }
#else
  __device__ __forceinline__ static void add(float* block, int lane, float a, float b, float c, float d) {
    add_one(block + lane, a);
    add_one(block + 32 + lane, b);
    add_one(block + 64 + lane, c);
    add_one(block + 96 + lane, d);
  }
  __device__ __forceinline__ static void store(float* block, int lane, float a, float b, float c, float d) {
    store_float(block + lane, a);
    store_float(block + 32 + lane, b);
    store_float(block + 64 + lane, c);
    store_float(block + 96 + lane, d);
  }
  __device__ __forceinline__ static float4 load(const float* block, int lane) {
    return {load_float(block + lane), load_float(block + 32 + lane), load_float(block + 64 + lane),
            load_float(block + 96 + lane)};
  }

 private:
  __device__ __forceinline__ static void add_one(float* address, float value) {
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory");
  }
#endif
};

/// The sum of two products of packed pairs: what D = rowsum(dO o O) is made of.
__device__ __forceinline__ float dot(unsigned left, unsigned right) {
  const float2 a = unpack(left);
  const float2 b = unpack(right);
  return a.x * b.x + a.y * b.y;
}

/// Floats of dq_acc of one instance.
__device__ __forceinline__ long long accumulator_size(int n_q, int d) {
  constexpr int rows = gradient::accumulator_rows;
  return static_cast<long long>((n_q + rows - 1) / rows * rows) * d;
}

}  // namespace attnscope::device

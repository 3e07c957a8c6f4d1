// SPDX-License-Identifier: Apache-2.0
// The fp32 accumulator of dQ in global memory.
//
// Layout: per instance, groups of 8 rows; per group and 16 columns of d, 128 elements in warp order: lane (row % 8) * 4
// + column % 8 / 2, element column % 16 / 8 * 2 + column % 2. A warp thus adds 512 contiguous bytes. From compute
// capability 9.0, the elements of a row fill whole sectors. Before, rows share sectors, and a partial row group touches
// its sectors in part.
#pragma once

#include "device/global.cuh"
#include "device/gradient_shape.h"

namespace attnscope::device {

/// The four elements of dq_acc that a lane owns in 8 rows x 16 columns; `block` is the first of the 128. From compute
/// capability 9.0, a lane's elements are contiguous and added with one instruction; before, elements are contiguous
/// across lanes.
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

/// Dot product of two packed pairs; a term of D = rowsum(dO o O).
__device__ __forceinline__ float dot(unsigned left, unsigned right) {
  const float2 a = unpack(left);
  const float2 b = unpack(right);
  return a.x * b.x + a.y * b.y;
}

/// Size of an instance's dq_acc in floats.
__device__ __forceinline__ long long accumulator_size(int n_q, int d) {
  constexpr int rows = gradient::accumulator_rows;
  return static_cast<long long>((n_q + rows - 1) / rows * rows) * d;
}

}  // namespace attnscope::device

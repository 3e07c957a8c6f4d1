// SPDX-License-Identifier: Apache-2.0
// Global-memory access from accumulator fragments. Loads and stores bypass L1, so that the SM-L2 traffic equals the
// tile program; stores fill whole 32-byte sectors.
#pragma once

#include "device/element.cuh"

namespace attnscope::device {

__device__ __forceinline__ float load_float(const float* address) {
  float value;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(address) : "memory");
  return value;
}
__device__ __forceinline__ float2 load_pair(const float* address) {
  float2 pair;
  asm volatile("ld.global.cg.v2.f32 {%0, %1}, [%2];" : "=f"(pair.x), "=f"(pair.y) : "l"(address) : "memory");
  return pair;
}
__device__ __forceinline__ uint4 load_16_bytes(const void* address) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address)
               : "memory");
  return v;
}

__device__ __forceinline__ void store_float(float* address, float value) {
  asm volatile("st.global.cg.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory");
}
__device__ __forceinline__ void store_pair(float* address, float x, float y) {
  asm volatile("st.global.cg.v2.f32 [%0], {%1, %2};" ::"l"(address), "f"(x), "f"(y) : "memory");
}
__device__ __forceinline__ void store_8_bytes(void* address, unsigned x, unsigned y) {
  asm volatile("st.global.cg.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void store_16_bytes(void* address, unsigned x, unsigned y, unsigned z, unsigned w) {
  asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}

/// Stores one row of `Tiles` accumulator tiles (8 columns each), held as packed pairs by the four lanes of a quad. The
/// lanes exchange pairs first, so that they write 64 (or 32) contiguous bytes together. All lanes of the warp must call
/// it. `row` points to the row's first element; only columns below `columns` (a multiple of 16) are written.
template <int Tiles>
__device__ __forceinline__ void store_row(Element* row, const unsigned (&pairs)[Tiles], int columns, bool inside) {
  const int t = threadIdx.x % 4;
  const bool odd = t & 1;
  const bool upper = t & 2;
  unsigned eight[Tiles / 2][2];  // columns 4 (t / 2) .. + 3 of tile 2i + t % 2
#pragma unroll
  for (int i = 0; i < Tiles / 2; ++i) {
    const unsigned got = __shfl_xor_sync(0xffffffffu, odd ? pairs[2 * i] : pairs[2 * i + 1], 1);
    eight[i][0] = odd ? got : pairs[2 * i];
    eight[i][1] = odd ? pairs[2 * i + 1] : got;
  }
#pragma unroll
  for (int i = 0; i + 1 < Tiles / 2; i += 2) {
    const unsigned got0 = __shfl_xor_sync(0xffffffffu, upper ? eight[i][0] : eight[i + 1][0], 2);
    const unsigned got1 = __shfl_xor_sync(0xffffffffu, upper ? eight[i][1] : eight[i + 1][1], 2);
    const int column = 16 * i + 8 * t;
    if (inside && column < columns) {
      if (upper) {
        store_16_bytes(row + column, got0, got1, eight[i + 1][0], eight[i + 1][1]);
      } else {
        store_16_bytes(row + column, eight[i][0], eight[i][1], got0, got1);
      }
    }
  }
  if constexpr (Tiles % 4 != 0) {
    constexpr int last = Tiles / 2 - 1;
    const int column = 16 * last + 8 * (t & 1) + 4 * (t >> 1);
    if (inside && column < columns) {
      store_8_bytes(row + column, eight[last][0], eight[last][1]);
    }
  }
}

}  // namespace attnscope::device

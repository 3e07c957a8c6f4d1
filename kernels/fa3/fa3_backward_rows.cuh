// SPDX-License-Identifier: Apache-2.0
// FlashAttention-3 backward, kernels before and after fa3_backward.cuh, one block per tile of Br query rows of each
// head. attn_fa3_backward_dot loads O and dO, stores D = rowsum(dO o O) and clears the tile's dQ accumulator.
// attn_fa3_backward_convert loads the accumulator and stores dQ. The accumulator has whole tiles in the order of the
// main kernel's threads: accumulator fragments of 16 rows x 8 columns.
#include "device/attention.cuh"
#include "device/global.cuh"
#include "fa3/fa3_backward_shape.h"

namespace attnscope::fa3_backward {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int row_chunks = d / 8;  // 16-byte chunks
constexpr int tile_chunks = br * row_chunks;
constexpr int passes = tile_chunks / row_threads;
static_assert(tile_chunks % row_threads == 0 && row_threads % row_chunks == 0 && row_chunks <= 16);

__device__ __forceinline__ float dot(uint4 a, uint4 b) {
  const unsigned left[4] = {a.x, a.y, a.z, a.w};
  const unsigned right[4] = {b.x, b.y, b.z, b.w};
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 x = unpack(left[i]);
    const float2 y = unpack(right[i]);
    sum += x.x * y.x + x.y * y.y;
  }
  return sum;
}

__device__ __forceinline__ void load_floats(float (&v)[4], const float* address) {
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
               : "l"(address)
               : "memory");
}

}  // namespace attnscope::fa3_backward

extern "C" __global__ void __launch_bounds__(attnscope::fa3_backward::row_threads)
    attn_fa3_backward_dot(const unsigned short* o, const unsigned short* dout, float* delta, float* dq_acc, int* turns,
                          int n_q) {
  using namespace attnscope::fa3_backward;
  __shared__ float sums[br];
  const int thread = static_cast<int>(threadIdx.x);
  const int row_tiles = (n_q + br - 1) / br;
  const int instance = static_cast<int>(blockIdx.x) / row_tiles;
  const int tile_row = static_cast<int>(blockIdx.x) % row_tiles * br;
  const long long first = static_cast<long long>(instance) * n_q + tile_row;
  uint4 left[passes];
  uint4 right[passes];
#pragma unroll
  for (int i = 0; i < passes; ++i) {
    const int chunk = i * row_threads + thread;
    left[i] = right[i] = uint4{0, 0, 0, 0};
    if (tile_row + chunk / row_chunks < n_q) {
      left[i] = load_16_bytes(o + first * d + chunk * 8);
      right[i] = load_16_bytes(dout + first * d + chunk * 8);
    }
  }
  float* const accumulator = dq_acc + static_cast<long long>(blockIdx.x) * (br * d);
#pragma unroll
  for (int i = 0; i < 2 * passes; ++i) {
    store_16_bytes(accumulator + (i * row_threads + thread) * 4, 0, 0, 0, 0);
  }
  if (turns != nullptr && thread == 0) {
    turns[blockIdx.x] = 0;
  }
#pragma unroll
  for (int i = 0; i < passes; ++i) {
    float sum = dot(left[i], right[i]);
#pragma unroll
    for (int lanes = 1; lanes < row_chunks; lanes *= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    }
    if (thread % row_chunks == 0) {
      sums[(i * row_threads + thread) / row_chunks] = sum;
    }
  }
  __syncthreads();
  if (thread < br && tile_row + thread < n_q) {
    store_float(delta + first + thread, sums[thread]);
  }
}

extern "C" __global__ void __launch_bounds__(attnscope::fa3_backward::row_threads)
    attn_fa3_backward_convert(const float* dq_acc, unsigned short* dq, int n_q, float scale) {
  using namespace attnscope::fa3_backward;
  const int thread = static_cast<int>(threadIdx.x);
  const int row_tiles = (n_q + br - 1) / br;
  const int instance = static_cast<int>(blockIdx.x) / row_tiles;
  const int tile_row = static_cast<int>(blockIdx.x) % row_tiles * br;
  constexpr int columns = 64;  // per warp: 16 rows x 64 columns
  constexpr int tiles = columns / 8;
  static_assert(br * d == row_threads / 32 * 16 * columns);
  const int warp = thread / 32;
  const int column = warp / (br / 16) * columns;
  const int block_row = warp % (br / 16);
  const int row = tile_row + block_row * 16 + thread % 32 / 4;
  const float* const mine =
      dq_acc + static_cast<long long>(blockIdx.x) * (br * d) + (block_row * d + column) * 16 + thread % 32 * 4;
  float v[tiles][4];
#pragma unroll
  for (int n = 0; n < tiles; ++n) {
    load_floats(v[n], mine + n * 128);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    unsigned pairs[tiles];
#pragma unroll
    for (int n = 0; n < tiles; ++n) {
      pairs[n] = pack(v[n][half * 2] * scale, v[n][half * 2 + 1] * scale);
    }
    store_row(dq + (static_cast<long long>(instance) * n_q + row + half * 8) * d + column, pairs, columns,
              row + half * 8 < n_q);
  }
}

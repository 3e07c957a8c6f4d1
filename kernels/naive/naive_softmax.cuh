// SPDX-License-Identifier: Apache-2.0
// Standard attention, second kernel: P = softmax(mask(S)) by rows. A row is held in registers, so that S is read once
// and P written once.
//
// Tile program of a block: for its rows: load the row of S, store the row of P; both whole strides, masked columns and
// padding are zero in P.
#include "device/global.cuh"
#include "naive/naive_shape.h"

namespace attnscope::naive {

using namespace device;

constexpr int pieces = softmax_pieces;

/// Reduces over the `row_warps` warps that share a row; every thread of the block calls it.
template <class Combine>
__device__ __forceinline__ float reduce_row(float value, int row_warps, float* scratch, Combine combine) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  }
  if (row_warps > 1) {  // then the whole block has one row
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

extern "C" __global__ void __launch_bounds__(1024)
    attn_naive_softmax(const unsigned short* s, unsigned short* p, int instances, int n_q, int n_k, int stride,
                       int row_warps) {
  using namespace attnscope::naive;
  __shared__ float maxima[32];
  __shared__ float sums[32];

  const int rows_per_block = static_cast<int>(blockDim.x) / 32 / row_warps;
  const long long row = static_cast<long long>(blockIdx.x) * rows_per_block + threadIdx.x / 32 / row_warps;
  if (row >= static_cast<long long>(instances) * n_q) {
    return;  // only warps that have a row by themselves come here
  }
  const int row_threads = 32 * row_warps;
  const int thread = static_cast<int>(threadIdx.x) % row_threads;
  s += row * stride;
  p += row * stride;

  int columns = n_k;  // that this row sees
#if ATTN_MASK & 1
  columns = min(n_k, max(0, static_cast<int>(row % n_q) + n_k - n_q + 1));
#endif

  uint4 held[pieces];
  float maximum = minus_infinity;
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    const int column = (i * row_threads + thread) * 8;
    if (column < stride) {
      held[i] = load_16_bytes(s + column);
    }
  }
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    if (i * row_threads * 8 >= stride) {
      break;
    }
    const int column = (i * row_threads + thread) * 8;
    const unsigned words[4] = {held[i].x, held[i].y, held[i].z, held[i].w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float2 pair = unpack(words[w]);
      if (column + 2 * w < columns) {
        maximum = fmaxf(maximum, pair.x);
      }
      if (column + 2 * w + 1 < columns) {
        maximum = fmaxf(maximum, pair.y);
      }
    }
  }
  maximum = reduce_row(maximum, row_warps, maxima, [](float a, float b) { return fmaxf(a, b); });
  const float reference = columns > 0 ? maximum * log2_e : 0.0f;

  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    if (i * row_threads * 8 >= stride) {
      break;
    }
    const int column = (i * row_threads + thread) * 8;
    const unsigned words[4] = {held[i].x, held[i].y, held[i].z, held[i].w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float2 pair = unpack(words[w]);
      sum += column + 2 * w < columns ? exp2_fast(pair.x * log2_e - reference) : 0.0f;
      sum += column + 2 * w + 1 < columns ? exp2_fast(pair.y * log2_e - reference) : 0.0f;
    }
  }
  sum = reduce_row(sum, row_warps, sums, [](float a, float b) { return a + b; });
  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;

#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    const int column = (i * row_threads + thread) * 8;
    if (column < stride) {
      const unsigned words[4] = {held[i].x, held[i].y, held[i].z, held[i].w};
      unsigned out[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const float2 pair = unpack(words[w]);
        out[w] = pack(column + 2 * w < columns ? exp2_fast(pair.x * log2_e - reference) * inverse : 0.0f,
                      column + 2 * w + 1 < columns ? exp2_fast(pair.y * log2_e - reference) * inverse : 0.0f);
      }
      store_16_bytes(p + column, out[0], out[1], out[2], out[3]);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Standard attention, backward: dS for rows that do not fit in one block. Reads the rows of P and dP once for the sum
// of products and once more for dS, which may overwrite dP.
//
// Tile program of block row: for t: load P and dP[row, step columns]; for t: load P and dP[row, step columns], store
// dS[row, step columns].
#include "naive/naive_gradients.cuh"

namespace attnscope::naive {

constexpr int threads = 1024;
constexpr int pieces = long_row_pieces;

}  // namespace attnscope::naive

extern "C" __global__ void __launch_bounds__(attnscope::naive::threads, 1)
    attn_naive_ds_long(const unsigned short* p, const unsigned short* dp, unsigned short* ds, int instances, int n_q,
                       int stride, float kept) {
  using namespace attnscope::naive;
  __shared__ float sums[32];

  const long long row = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  p += row * stride;
  dp += row * stride;
  ds += row * stride;

  float sum = 0.0f;
#pragma unroll 1
  for (int first = thread * 8; first < stride; first += long_row_step) {
    uint4 held_p[pieces] = {};
    uint4 held_dp[pieces] = {};
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const int column = first + i * threads * 8;
      if (column < stride) {
        held_p[i] = load_16_bytes(p + column);
        held_dp[i] = load_16_bytes(dp + column);
      }
    }
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      sum += weighted_sum(held_p[i], held_dp[i], kept);
    }
  }
  sum = reduce_row(sum, threads / 32, sums, Sum());

#pragma unroll 1
  for (int first = thread * 8; first < stride; first += long_row_step) {
    uint4 held_p[pieces];
    uint4 held_dp[pieces];
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const int column = first + i * threads * 8;
      if (column < stride) {
        held_p[i] = load_16_bytes(p + column);
        held_dp[i] = load_16_bytes(dp + column);
      }
    }
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const int column = first + i * threads * 8;
      if (column < stride) {
        store_gradients(ds + column, held_p[i], held_dp[i], sum, kept);
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Standard attention, backward: dS = P o (Z o dP - rowsum(P o Z o dP)), row by row. Rows of both matrices are held in
// registers, so each matrix is read once. dS may overwrite dP.
//
// Tile program of a block, for each of its rows: load the row of P and dP, store the row of dS; whole strides each.
#include "naive/naive_gradients.cuh"

namespace attnscope::naive {

constexpr int pieces = ds_pieces;

}  // namespace attnscope::naive

extern "C" __global__ void __launch_bounds__(1024)
    attn_naive_ds(const unsigned short* p, const unsigned short* dp, unsigned short* ds, int instances, int n_q,
                  int stride, int row_warps, float kept) {
  using namespace attnscope::naive;
  __shared__ float sums[32];

  const int rows_per_block = static_cast<int>(blockDim.x) / 32 / row_warps;
  const long long row = static_cast<long long>(blockIdx.x) * rows_per_block + threadIdx.x / 32 / row_warps;
  if (row >= static_cast<long long>(instances) * n_q) {
    return;  // only whole warps that own a row by themselves exit here
  }
  const int row_threads = 32 * row_warps;
  const int thread = static_cast<int>(threadIdx.x) % row_threads;
  const long long start = row * stride;

  uint4 held_p[pieces] = {};
  uint4 held_dp[pieces] = {};
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    const int column = (i * row_threads + thread) * 8;
    if (column < stride) {
      held_p[i] = load_16_bytes(p + start + column);
      held_dp[i] = load_16_bytes(dp + start + column);
    }
  }
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    if (i * row_threads * 8 >= stride) {
      break;
    }
    sum += weighted_sum(held_p[i], held_dp[i], kept);
  }
  sum = reduce_row(sum, row_warps, sums, Sum());
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    const int column = (i * row_threads + thread) * 8;
    if (column < stride) {
      store_gradients(ds + start + column, held_p[i], held_dp[i], sum, kept);
    }
  }
}

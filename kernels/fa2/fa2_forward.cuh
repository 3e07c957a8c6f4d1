// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 forward (arXiv 2307.08691, Algorithm 1): one block for each row tile of each head.
//
// Tile program of block (i, head):
//   load Q_i; for j = 0 .. Tc_i - 1: load K_j, load V_j; store O_i, store LSE_i
// Tc_i counts the key tiles that any row of tile i sees; where it is 0, Q_i is not loaded either. Causal launches hand
// out the longest row tiles first.
//
// K and V have one buffer each: V_j arrives during S = Q K_j^T, K_{j+1} during O += P V_j.
#include "device/attention.cuh"
#include "device/global.cuh"
#include "fa2/fa2_shape.h"

namespace attnscope::fa2 {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;
constexpr bool causal = (ATTN_MASK & 1) != 0;

constexpr int warp_rows = rows_per_warp(br, d);
constexpr int m_tiles = warp_rows / 16;
constexpr int block_threads = threads(br, d);
constexpr int chunk = chunk_columns(br, bc, d);

using Tile = SharedTile<d>;

}  // namespace attnscope::fa2

extern "C" __global__ void __launch_bounds__(attnscope::fa2::block_threads, 1)
    attn_fa2_forward(const unsigned short* q, const unsigned short* k, const unsigned short* v, unsigned short* o,
                     float* lse, int instances, int group, int n_q, int n_k, float scale) {
  using namespace attnscope::fa2;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned shared_q = shared_address(shared);
  const unsigned shared_k = shared_q + br * Tile::row_bytes;
  const unsigned shared_v = shared_k + bc * Tile::row_bytes;

  const int row_tiles = (n_q + br - 1) / br;
  const int block = static_cast<int>(blockIdx.x);
#if ATTN_HEADS_FASTEST
  const int instance = block % instances;
  const int launch_tile = block / instances;
#else
  const int instance = block / row_tiles;
  const int launch_tile = block % row_tiles;
#endif
  const int tile_row = (causal ? row_tiles - 1 - launch_tile : launch_tile) * br;

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp_row = thread / 32 * warp_rows;
  const long long query_row = static_cast<long long>(instance) * n_q + tile_row;
  long long key_at = static_cast<long long>(instance / group) * n_k * d;  // first element of K_j and V_j

  QueryRows<m_tiles, d, causal> rows;
  rows.q = Tile::lane_left(shared_q + warp_row * Tile::row_bytes, lane);
  rows.k = Tile::lane_right(shared_k, lane);
  rows.v = Tile::lane_left(shared_v, lane);
  rows.first_row = tile_row + warp_row;
  rows.n_k = n_k;
  rows.diagonal = n_k - n_q;
  rows.scale = scale * log2_e;
#pragma unroll
  for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      rows.statistics.maximum[m][half] = minus_infinity;
      rows.statistics.sum[m][half] = 0.0f;
    }
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      rows.o[m][n][0] = rows.o[m][n][1] = rows.o[m][n][2] = rows.o[m][n][3] = 0.0f;
    }
  }

  // Keys that the tile's last row sees.
  const int keys = causal ? max(0, min(n_q, tile_row + br) + n_k - n_q) : n_k;
  if (keys > 0) {
    Tile::copy_rows<br, block_threads>(shared_q, q + query_row * d, d, n_q - tile_row, thread);
    Tile::copy_rows<bc, block_threads>(shared_k, k + key_at, d, n_k, thread);
    commit_copies();
  }
#pragma unroll 1
  for (int column = 0; column < keys; column += bc) {
    wait_copies<0>();
    __syncthreads();  // K_j is there, and no warp reads V_{j-1} any more
    Tile::copy_rows<bc, block_threads>(shared_v, v + key_at, d, n_k - column, thread);
    commit_copies();
    key_at += bc * d;
    rows.attend<bc, chunk>(
        column, [](int) {},
        [&](int index) {
          if (index == 0) {
            wait_copies<0>();
          }
          if (index == 0 || index == last_chunk(bc, chunk)) {
            __syncthreads();  // V_j is there; after the last chunk no warp reads K_j any more
          }
          if (index == last_chunk(bc, chunk) && column + bc < keys) {
            Tile::copy_rows<bc, block_threads>(shared_k, k + key_at, d, n_k - column - bc, thread);
            commit_copies();
          }
        });
  }

#pragma unroll
  for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = quad_sum(rows.statistics.sum[m][half]);
      const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
      const int row = rows.row(m, half);
      const long long matrix_row = static_cast<long long>(instance) * n_q + row;
      unsigned pairs[d / 8];
#pragma unroll
      for (int n = 0; n < d / 8; ++n) {
        pairs[n] = pack(rows.o[m][n][half * 2] * inverse, rows.o[m][n][half * 2 + 1] * inverse);
      }
      store_row(o + matrix_row * d, pairs, d, row < n_q);
      if (row < n_q && lane % 4 == 0) {
        const float maximum = rows.statistics.maximum[m][half] * scale;
        store_float(lse + matrix_row, sum > 0.0f ? maximum + __log2f(sum) * ln_2 : minus_infinity);
      }
    }
  }
}

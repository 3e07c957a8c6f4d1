// SPDX-License-Identifier: Apache-2.0
// Standard attention, first kernel: S = scale Q K^T, one br x bc tile per block, stored in 16 bits; also dP = dO V^T,
// with dO as Q and V as K.
//
// Tile program of block (i, j, head): load Q_i, load K_j, store S_ij. The last column tile also stores the zeros
// between n_k and the row stride.
#include "device/attention.cuh"
#include "device/global.cuh"
#include "device/trace.cuh"
#include "naive/naive_shape.h"

namespace attnscope::naive {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;

constexpr int warp_rows = qk_rows_per_warp(br);
constexpr int m_tiles = warp_rows / 16;
constexpr int block_threads = qk_threads(br);
constexpr int chunk = qk_chunk_columns(br, bc);

using Tile = SharedTile<d>;

/// Computes and stores S of this warp's rows and `Width` keys. `s` points to the tile's first element; `columns`:
/// remaining columns of the row.
template <int Width>
__device__ __forceinline__ void score_chunk(unsigned q, unsigned k, Element* s, int stride, int row, int rows,
                                            int columns, float scale) {
  float tile[m_tiles][Width / 8][4];
  scores<m_tiles, Width, d>(tile, q, k);
#pragma unroll
  for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + m * 16 + half * 8;
      unsigned pairs[Width / 8];
#pragma unroll
      for (int n = 0; n < Width / 8; ++n) {
        pairs[n] = pack_finite(tile[m][n][half * 2] * scale, tile[m][n][half * 2 + 1] * scale);
      }
      store_row(s + static_cast<long long>(r) * stride, pairs, columns, r < rows);
    }
  }
}

}  // namespace attnscope::naive

extern "C" __global__ void __launch_bounds__(attnscope::naive::block_threads, 1)
    attn_naive_qk(const unsigned short* q, const unsigned short* k, unsigned short* s, int instances, int group,
                  int n_q, int n_k, int stride, float scale) {
  using namespace attnscope::naive;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned shared_q = shared_address(shared);
  const unsigned shared_k = shared_q + br * Tile::row_bytes;

  const int row_tiles = (n_q + br - 1) / br;
  const unsigned block = blockIdx.x;
#if ATTN_HEADS_FASTEST
  const int instance = static_cast<int>(block % instances);
  const int row_tile = static_cast<int>(block / instances % row_tiles);
  const int column_tile = static_cast<int>(block / instances / row_tiles);
#else
  const int column_tiles = (n_k + bc - 1) / bc;
  const int row_tile = static_cast<int>(block % row_tiles);
  const int column_tile = static_cast<int>(block / row_tiles % column_tiles);
  const int instance = static_cast<int>(block / row_tiles / column_tiles);
#endif
  const int tile_row = row_tile * br;
  const int tile_column = column_tile * bc;

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp_row = thread / 32 * warp_rows;
  const long long query_row = static_cast<long long>(instance) * n_q + tile_row;
  const long long key_row = static_cast<long long>(instance / group) * n_k + tile_column;
  trace_load(thread == 0, TraceTarget::q, query_row, min(br, n_q - tile_row));
  trace_load(thread == 0, TraceTarget::k, key_row, min(bc, n_k - tile_column));
  Tile::copy_rows<br, block_threads>(shared_q, q + query_row * d, d, n_q - tile_row, thread);
  Tile::copy_rows<bc, block_threads>(shared_k, k + key_row * d, d, n_k - tile_column, thread);
  commit_copies();
  wait_copies<0>();
  __syncthreads();

  s += query_row * stride + tile_column;
  const unsigned lane_q = Tile::left_lane_address(shared_q + warp_row * Tile::row_bytes, lane);
  const unsigned lane_k = Tile::right_lane_address(shared_k, lane);
  const int row = warp_row + lane / 4;
  const int columns = stride - tile_column;
#pragma unroll 1
  for (int column = 0; column + chunk <= bc; column += chunk) {
    score_chunk<chunk>(lane_q, lane_k + column * Tile::row_bytes, s + column, stride, row, n_q - tile_row,
                       columns - column, scale);
  }
  if constexpr (bc % chunk > 0) {
    constexpr int column = bc / chunk * chunk;
    score_chunk<bc % chunk>(lane_q, lane_k + column * Tile::row_bytes, s + column, stride, row, n_q - tile_row,
                            columns - column, scale);
  }
}

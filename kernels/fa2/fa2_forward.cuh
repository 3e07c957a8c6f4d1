// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 forward (arXiv 2307.08691, Algorithm 1): one block per row tile of each head.
//
// Tile program of block (i, head):
//   load Q_i; for each key tile j that a row of tile i sees, in order: load K_j, load V_j; store O_i, store LSE_i
// If no key is visible, Q_i is not loaded either. Causal launches interleave heads and start with their longest row
// tiles (device/head_blocks_shape.h).
//
// K and V have one buffer each: V_j loads during S = Q K_j^T, K_{j+1} during O += P V_j.
#include "device/global.cuh"
#include "device/head_blocks_shape.h"
#include "device/query_rows.cuh"
#include "device/trace.cuh"
#include "fa2/fa2_shape.h"

namespace attnscope::fa2 {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;

#if defined(ATTN_WARPS)
constexpr int warps = ATTN_WARPS;
#else
constexpr int warps = 0;
#endif
constexpr int warp_rows = rows_per_warp(br, d, warps);
constexpr int m_tiles = warp_rows / 16;
constexpr int block_threads = threads(br, d, warps);
constexpr int chunk = chunk_columns(br, bc, d, warps, has_dropout);

using Tile = SharedTile<d>;

}  // namespace attnscope::fa2

extern "C" __global__ void __launch_bounds__(attnscope::fa2::block_threads, 1)
    attn_fa2_forward(const unsigned short* q, const unsigned short* k, const unsigned short* v, unsigned short* o,
                     float* lse, int instances, int group, int n_q, int n_k, float scale, int heads_q, int left,
                     int right, const int* key_lengths, const unsigned char* block_mask, int mask_block, int keep,
                     unsigned seed) {
  using namespace attnscope::fa2;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned shared_q = shared_address(shared);
  const unsigned shared_k = shared_q + br * Tile::row_bytes;
  const unsigned shared_v = shared_k + bc * Tile::row_bytes;

  const int row_tiles = (n_q + br - 1) / br;
  const int block = static_cast<int>(blockIdx.x);
  const int heads_per_group = ATTN_HEADS_FASTEST ? instances : attnscope::interleaved_heads(n_k);
  const auto place = ATTN_HEADS_FASTEST || last_rows_first
                         ? attnscope::head_block(block, row_tiles, instances, heads_per_group, last_rows_first)
                         : attnscope::head_block(block, row_tiles, false);
  const int instance = place.instance;
  const int tile_row = place.tile * br;

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp_row = thread / 32 * warp_rows;
  const long long query_row = static_cast<long long>(instance) * n_q + tile_row;
  const Visibility view = visibility(instance / heads_q, n_q, n_k, left, right, key_lengths, block_mask, mask_block);

  QueryRows<m_tiles, d, true> rows;
  rows.q = Tile::left_lane_address(shared_q + warp_row * Tile::row_bytes, lane);
  rows.k = Tile::right_lane_address(shared_k, lane);
  rows.v = Tile::left_lane_address(shared_v, lane);
  rows.first_row = tile_row + warp_row;
  rows.view = view;
  rows.scale = scale * log2_e;
  rows.dropout = dropout_of(instance, keep, seed);
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

  const int last_row = min(n_q, tile_row + br) - 1;
  const int end = view.key_end(last_row);
  const int first = view.first_key_tile<bc>(tile_row, last_row);
  // First element of K_j and V_j.
  long long key_at = (static_cast<long long>(instance / group) * n_k + first) * d;
  if (first < end) {
    trace_load(thread == 0, TraceTarget::q, query_row, min(br, n_q - tile_row));
    trace_load(thread == 0, TraceTarget::k, key_at / d, min(bc, view.length - first));
    Tile::copy_rows<br, block_threads>(shared_q, q + query_row * d, d, n_q - tile_row, thread);
    Tile::copy_rows<bc, block_threads>(shared_k, k + key_at, d, view.length - first, thread);
    commit_copies();
  }
#pragma unroll 1
  for (int column = first, next; column < end; column = next) {
    wait_copies<0>();
    __syncthreads();  // K_j has arrived, and no warp reads V_{j-1} anymore
    trace_load(thread == 0, TraceTarget::v, key_at / d, min(bc, view.length - column));
    Tile::copy_rows<bc, block_threads>(shared_v, v + key_at, d, view.length - column, thread);
    commit_copies();
    next = view.next_key_tile<bc>(tile_row, column + bc, end);
    key_at += (next - column) * static_cast<long long>(d);
    rows.attend<bc, chunk>(
        column, [](int) {},
        [&](int index) {
          if (index == 0) {
            wait_copies<0>();
          }
          if (index == 0 || index == last_chunk(bc, chunk)) {
            __syncthreads();  // V_j has arrived; after the last chunk no warp reads K_j anymore
          }
          if (index == last_chunk(bc, chunk) && next < end) {
            trace_load(thread == 0, TraceTarget::k, key_at / d, min(bc, view.length - next));
            Tile::copy_rows<bc, block_threads>(shared_k, k + key_at, d, view.length - next, thread);
            commit_copies();
          }
        });
  }

#pragma unroll
  for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = quad_sum(rows.statistics.sum[m][half]);
      const float inverse = sum > 0.0f ? (has_dropout ? rows.dropout.scale : 1.0f) / sum : 0.0f;
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

// SPDX-License-Identifier: Apache-2.0
// Standard attention, backward: dV = P^T dO, one bc x d tile per block; also dK = scale dS^T Q, with dS as P and Q as
// dO. With dropout, entries of P with the sign bit set count as zero.
//
// Tile program of block (j, K/V head):
//   for t = 0 .. ceil(rows / step) - 1: load P[step rows, columns of j], load dO[step rows]; store dV_j
// The rows are those of all query heads that share the K/V head. They are contiguous, so the sum over them stays on
// chip. The columns of P end at its row stride.
#include "naive/naive_product.cuh"

namespace attnscope::naive {

constexpr int d = ATTN_D;
constexpr int bc = ATTN_BC;

constexpr int warp_keys = tn_rows_per_warp(bc, d);
constexpr int m_tiles = warp_keys / 16;
constexpr int block_threads = tn_threads(bc, d);

using TileP = SharedTile<bc>;
using TileX = SharedTile<d>;
constexpr int bytes_p = tn_step * TileP::row_bytes;
constexpr int stage_bytes = bytes_p + tn_step * TileX::row_bytes;

}  // namespace attnscope::naive

extern "C" __global__ void __launch_bounds__(attnscope::naive::block_threads, 1)
    attn_naive_tn(const unsigned short* p, const unsigned short* dout, unsigned short* dv, int kv_instances, int group,
                  int n_q, int n_k, int stride, float factor) {
  using namespace attnscope::naive;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned base = shared_address(shared);

  const int block = static_cast<int>(blockIdx.x);
#if ATTN_HEADS_FASTEST
  const int kv_instance = block % kv_instances;
  const int tile_column = block / kv_instances * bc;
#else
  const int column_tiles = (n_k + bc - 1) / bc;
  const int kv_instance = block / column_tiles;
  const int tile_column = block % column_tiles * bc;
#endif
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp_key = thread / 32 * warp_keys;
  const long long rows = static_cast<long long>(group) * n_q;
  p += kv_instance * rows * stride + tile_column;
  dout += kv_instance * rows * d;

  long long remaining = rows;  // rows to load
  int load_at = 0;             // buffer of the next load
  const auto load_step = [&] {
    if (remaining > 0) {
      const unsigned stage = base + load_at * stage_bytes;
      const int inside = static_cast<int>(min(remaining, static_cast<long long>(tn_step)));
      TileP::copy_block<tn_step, block_threads>(stage, p, stride, inside, (stride - tile_column) / 8,
                                                force_recompute(thread));
      TileX::copy_rows<tn_step, block_threads>(stage + bytes_p, dout, d, inside, thread);
    }
    commit_copies();  // an empty group at the end keeps the wait counts constant
    remaining -= tn_step;
    p += static_cast<long long>(tn_step) * stride;
    dout += tn_step * d;
    load_at = load_at + 1 == tn_stages ? 0 : load_at + 1;
  };

  float acc[m_tiles][d / 8][4];
#pragma unroll
  for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      acc[m][n][0] = acc[m][n][1] = acc[m][n][2] = acc[m][n][3] = 0.0f;
    }
  }
#pragma unroll
  for (int i = 0; i < tn_stages - 1; ++i) {
    load_step();
  }
  const int steps = static_cast<int>((rows + tn_step - 1) / tn_step);
  int stage_index = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_copies<tn_stages - 2>();
    __syncthreads();  // this step has arrived, and no warp reads the buffer that is loaded next
    load_step();
    const unsigned stage = base + stage_index * stage_bytes;
    stage_index = stage_index + 1 == tn_stages ? 0 : stage_index + 1;
    // Both operands are stored by query rows (the summed dimension), so both are loaded transposed.
    const unsigned lane_p = TileP::right_lane_address(stage, force_recompute(lane));
    const unsigned lane_x = TileX::left_lane_address(stage + bytes_p, force_recompute(lane));
#pragma unroll
    for (int inner = 0; inner < tn_step / 16; ++inner) {
      unsigned a[m_tiles][4];
#pragma unroll
      for (int m = 0; m < m_tiles; ++m) {
        load_matrices_transposed(a[m],
                                 TileP::advance_columns(lane_p, warp_key / 16 + m) + inner * 16 * TileP::row_bytes);
#if ATTN_DROPOUT
        drop_negative(a[m]);
#endif
      }
#pragma unroll
      for (int n = 0; n < d / 16; ++n) {
        unsigned b[4];
        load_matrices_transposed(b, TileX::advance_columns(lane_x, n) + inner * 16 * TileX::row_bytes);
#pragma unroll
        for (int m = 0; m < m_tiles; ++m) {
          mma(acc[m][2 * n], a[m], b[0], b[1]);
          mma(acc[m][2 * n + 1], a[m], b[2], b[3]);
        }
      }
    }
  }

  const long long key_row = static_cast<long long>(kv_instance) * n_k + tile_column;
#pragma unroll
  for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = warp_key + m * 16 + half * 8 + lane / 4;
      unsigned pairs[d / 8];
#pragma unroll
      for (int n = 0; n < d / 8; ++n) {
        pairs[n] = pack(acc[m][n][half * 2] * factor, acc[m][n][half * 2 + 1] * factor);
      }
      store_row(dv + (key_row + key) * d, pairs, d, tile_column + key < n_k);
    }
  }
}

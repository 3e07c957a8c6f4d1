// SPDX-License-Identifier: Apache-2.0
// Standard attention, third kernel: O = P V, one br x d tile per block; also dQ = scale dS K, with dS as P and K as V.
// With dropout, entries of P with the sign bit set count as zero.
//
// Tile program of block (i, head):
//   for t = 0 .. ceil(stride / step) - 1: load P[rows of i, step columns], load V[step rows]; store O_i
// The columns of P end at its row stride, the rows of V at n_k.
#include "naive/naive_product.cuh"

namespace attnscope::naive {

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;

constexpr int warp_rows = pv_rows_per_warp(br, d);
constexpr int m_tiles = warp_rows / 16;
constexpr int row_warps = br / warp_rows;
constexpr int column_warps = pv_column_warps(br, d);
constexpr int block_threads = pv_threads(br, d);
constexpr int stages = pv_stages(br, d, sizeof(device::Element));

using TileP = SharedTile<pv_step>;
using TileV = SharedTile<d>;
constexpr int bytes_p = br * TileP::row_bytes;
constexpr int stage_bytes = bytes_p + pv_step * TileV::row_bytes;

}  // namespace attnscope::naive

extern "C" __global__ void __launch_bounds__(attnscope::naive::block_threads, 1)
    attn_naive_pv(const unsigned short* p, const unsigned short* v, unsigned short* o, int instances, int group,
                  int n_q, int n_k, int stride, float factor) {
  using namespace attnscope::naive;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned base = shared_address(shared);

  const int row_tiles = (n_q + br - 1) / br;
  const int block = static_cast<int>(blockIdx.x);
#if ATTN_HEADS_FASTEST
  const int instance = block % instances;
  const int tile_row = block / instances * br;
#else
  const int instance = block / row_tiles;
  const int tile_row = block % row_tiles * br;
#endif
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp_row = thread / 32 % row_warps * warp_rows;
  const int warp_column = thread / 32 / row_warps;  // in units of 16 columns
  const long long query_row = static_cast<long long>(instance) * n_q + tile_row;
  p += query_row * stride;
  v += static_cast<long long>(instance / group) * n_k * d;

  const int steps = (stride + pv_step - 1) / pv_step;
  int loaded = 0;   // next step to load
  int load_at = 0;  // buffer of that step
  const auto load_step = [&] {
    if (loaded < steps) {
      const unsigned stage = base + load_at * stage_bytes;
      const int column = loaded * pv_step;
      TileP::copy_block<br, block_threads>(stage, p + column, stride, n_q - tile_row, (stride - column) / 8,
                                           force_recompute(thread));
      TileV::copy_rows<pv_step, block_threads>(stage + bytes_p, v + static_cast<long long>(column) * d, d, n_k - column,
                                               thread);
    }
    commit_copies();  // an empty group at the end keeps the wait counts constant
    ++loaded;
    load_at = load_at + 1 == stages ? 0 : load_at + 1;
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
  for (int i = 0; i < stages - 1; ++i) {
    load_step();
  }
  int stage_index = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    wait_copies<stages - 2>();
    __syncthreads();  // this step has arrived, and no warp reads the buffer that is loaded next
    load_step();
    const unsigned stage = base + stage_index * stage_bytes;
    stage_index = stage_index + 1 == stages ? 0 : stage_index + 1;
    const unsigned lane_p = TileP::left_lane_address(stage + warp_row * TileP::row_bytes, force_recompute(lane));
    const unsigned lane_v = TileV::left_lane_address(stage + bytes_p, force_recompute(lane));
#pragma unroll
    for (int part = 0; part < pv_step / 16 / column_warps; ++part) {
      const int inner = part * column_warps + (column_warps == 1 ? 0 : warp_column);
      unsigned a[m_tiles][4];
#pragma unroll
      for (int m = 0; m < m_tiles; ++m) {
        load_matrices(a[m], TileP::advance_columns(lane_p, inner) + m * 16 * TileP::row_bytes);
#if ATTN_DROPOUT
        drop_negative(a[m]);
#endif
      }
#pragma unroll
      for (int n = 0; n < d / 16; ++n) {
        unsigned b[4];
        load_matrices_transposed(b, TileV::advance_columns(lane_v, n) + inner * 16 * TileV::row_bytes);
#pragma unroll
        for (int m = 0; m < m_tiles; ++m) {
          mma(acc[m][2 * n], a[m], b[0], b[1]);
          mma(acc[m][2 * n + 1], a[m], b[2], b[3]);
        }
      }
    }
  }

  if constexpr (column_warps > 1) {
    // Sums the partial results of warps that share rows, using the stages' shared memory.
    wait_copies<0>();
    __syncthreads();
    constexpr int words = m_tiles * (d / 8) * 4;  // per thread
    float* const others = reinterpret_cast<float*>(shared) + thread % (32 * row_warps);
    constexpr int spacing = 32 * row_warps;
    if (warp_column > 0) {
#pragma unroll
      for (int i = 0; i < words; ++i) {
        others[((warp_column - 1) * words + i) * spacing] = acc[i / (d / 2)][i % (d / 2) / 4][i % 4];
      }
    }
    __syncthreads();
    if (warp_column > 0) {
      return;
    }
#pragma unroll
    for (int i = 0; i < words; ++i) {
#pragma unroll
      for (int other = 0; other < column_warps - 1; ++other) {
        acc[i / (d / 2)][i % (d / 2) / 4][i % 4] += others[(other * words + i) * spacing];
      }
    }
  }
#pragma unroll
  for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row + m * 16 + half * 8 + lane / 4;
      unsigned pairs[d / 8];
#pragma unroll
      for (int n = 0; n < d / 8; ++n) {
        pairs[n] = pack(acc[m][n][half * 2] * factor, acc[m][n][half * 2 + 1] * factor);
      }
      store_row(o + (query_row + row) * d, pairs, d, tile_row + row < n_q);
    }
  }
}

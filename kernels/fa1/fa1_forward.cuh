// SPDX-License-Identifier: Apache-2.0
// FlashAttention forward as published (arXiv 2205.14135v2, Algorithm 1): K and V in the outer loop, Q in the inner one,
// and O, l, m read from and written to global memory at every inner step. One block for each head.
//
// Tile program of a block:
//   store o_acc = 0, l = 0, m = -inf for all rows (line 2); causal: store o = 0 for the leading row tiles no key tile
//   touches
//   for j = 0 .. Tc - 1: load K_j, load V_j
//     for i = i0(j) .. Tr - 1: load Q_i, o_acc_i, l_i, m_i; store o_acc_i (in the last j that touches tile i: the
//     16-bit o_i instead), l_i, m_i
// i0 is 0; causal: the first row tile with a row that sees key j Bc, as the published code skips the others.
//
// A warp owns the same rows of every Q tile and never waits for another one inside the inner loop. O, l and m are read
// by the thread that wrote them, or after a block barrier.
#include "device/attention.cuh"
#include "device/global.cuh"
#include "fa1/fa1_shape.h"

namespace attnscope::fa1 {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;
constexpr bool causal = (ATTN_MASK & 1) != 0;

constexpr int block_threads = threads(br, d);
constexpr int block_warps = block_threads / 32;
constexpr int slices = slices_per_warp(br);
constexpr int chunk = chunk_columns(br, bc, d);

using Tile = SharedTile<d>;

/// O, l and m of a thread's two rows as they lie in memory: O in accumulator layout, normalised.
struct RowState {
  float o[d / 8][4];
  float l[2];
  float m[2];
};
/// Where registers allow, the next rows' state is loaded during the work on the present ones.
constexpr bool state_ahead = d <= 64;

/// Zeros `bytes` bytes, a multiple of 16, by the whole block.
__device__ __forceinline__ void fill(void* address, long long bytes, int thread) {
  for (long long at = thread * 16LL; at < bytes; at += block_threads * 16LL) {
    store_16_bytes(static_cast<unsigned char*>(address) + at, 0, 0, 0, 0);
  }
}

}  // namespace attnscope::fa1

extern "C" __global__ void __launch_bounds__(attnscope::fa1::block_threads, 1)
    attn_fa1_forward(const unsigned short* q, const unsigned short* k, const unsigned short* v, unsigned short* o,
                     float* o_acc, float* l, float* m, int instances, int group, int n_q, int n_k, float scale) {
  using namespace attnscope::fa1;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned shared_q = shared_address(shared);
  const unsigned shared_k = shared_q + br * Tile::row_bytes;
  const unsigned shared_v = shared_k + bc * Tile::row_bytes;

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int instance = static_cast<int>(blockIdx.x);
  const long long query_row = static_cast<long long>(instance) * n_q;
  const long long key_row = static_cast<long long>(instance / group) * n_k;
  q += query_row * d;
  o += query_row * d;
  o_acc += query_row * d;
  l += query_row;
  m += query_row;
  k += key_row * d;
  v += key_row * d;

  fill(o_acc, 4LL * n_q * d, thread);
  if (causal && n_q > n_k) {
    fill(o, 2LL * ((n_q - n_k) / br * br) * d, thread);
  }
  for (int row = thread; row < n_q; row += block_threads) {
    store_float(l + row, 0.0f);
    store_float(m + row, minus_infinity);
  }

  QueryRows<1, d, causal> rows;
  rows.k = Tile::lane_right(shared_k, lane);
  rows.v = Tile::lane_left(shared_v, lane);
  rows.n_k = n_k;
  rows.diagonal = n_k - n_q;
  rows.scale = scale * log2_e;

  // Units of a warp's work, in order: slice u % slices of row tile u / slices.
  const int warp = thread / 32;
  const auto row_in_tile = [&](int unit) { return (unit % slices * block_warps + warp) * warp_rows; };
  const auto first_row = [&](int unit) { return unit / slices * br + row_in_tile(unit); };
  const auto exists = [&](int unit) { return row_in_tile(unit) < br && first_row(unit) < n_q; };

  const auto load_query = [&](int unit) {
    if (exists(unit)) {
      const int row = first_row(unit);
      Tile::copy_rows<warp_rows, 32>(shared_q + row_in_tile(unit) * Tile::row_bytes,
                                     q + static_cast<long long>(row) * d, d, n_q - row, recomputed(lane));
    }
    commit_copies();
  };
  const auto load_state = [&](int unit, float(&target)[d / 8][4], float(&sum)[2], float(&maximum)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row(unit) + half * 8 + lane / 4;
      const bool inside = row_in_tile(unit) < br && row < n_q;
      const float* source = o_acc + static_cast<long long>(row) * d + lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < d / 8; ++n) {
        const float2 pair = inside ? load_pair(source + n * 8) : float2{0.0f, 0.0f};
        target[n][half * 2] = pair.x;
        target[n][half * 2 + 1] = pair.y;
      }
      sum[half] = inside ? load_float(l + row) : 0.0f;
      maximum[half] = inside ? load_float(m + row) : minus_infinity;
    }
  };

  const int units = (n_q + br - 1) / br * slices;
#pragma unroll 1
  for (int column = 0; column < n_k; column += bc) {
    const int first_unit = causal ? max(0, column - rows.diagonal) / br * slices : 0;
    __syncthreads();  // no warp reads the old K and V, and all have stored l and m
    const int copier = recomputed(thread);
    Tile::copy_rows<bc, block_threads>(shared_k, k, d, n_k - column, copier);
    Tile::copy_rows<bc, block_threads>(shared_v, v, d, n_k - column, copier);
    k += bc * d;
    v += bc * d;
#pragma unroll 1
    for (int slice = 0; slice < slices; ++slice) {
      load_query(first_unit + slice);
    }
    RowState next;
    if (state_ahead) {
      load_state(first_unit, next.o, next.l, next.m);
    }
    wait_copies<0>();
    __syncthreads();

#pragma unroll 1
    for (int unit = first_unit; unit < units; ++unit) {
      float(&maximum)[2] = rows.statistics.maximum[0];
      float old_sum[2];
      if (state_ahead) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
          for (int n = 0; n < d / 8; ++n) {
            rows.o[0][n][half * 2] = next.o[n][half * 2];
            rows.o[0][n][half * 2 + 1] = next.o[n][half * 2 + 1];
          }
          old_sum[half] = next.l[half];
          maximum[half] = next.m[half];
        }
        if (unit + 1 < units) {
          load_state(unit + 1, next.o, next.l, next.m);
        }
      } else {
        load_state(unit, rows.o[0], old_sum, maximum);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        rows.statistics.sum[0][half] = lane % 4 == 0 ? old_sum[half] : 0.0f;
      }
      wait_copies<0>();
      __syncwarp();  // the unit's rows of Q are there
      rows.q = Tile::lane_left(shared_q + row_in_tile(unit) * Tile::row_bytes, lane);
      rows.first_row = first_row(unit);

      rows.attend<bc, chunk>(
          column,
          [&](int index) {
            if (index == 0) {  // as late as possible: o_acc may still be on its way during the first product
#pragma unroll
              for (int n = 0; n < d / 8; ++n) {
                rows.o[0][n][0] *= old_sum[0];
                rows.o[0][n][1] *= old_sum[0];
                rows.o[0][n][2] *= old_sum[1];
                rows.o[0][n][3] *= old_sum[1];
              }
            }
            if (index == last_chunk(bc, chunk) && unit + slices < units) {
              __syncwarp();  // all lanes have read the unit's rows of Q
              load_query(unit + slices);
            }
          },
          [](int) {});

      const int keys =
          causal ? min(n_q, (unit / slices + 1) * br) + rows.diagonal : n_k;  // seen by the tile's last row
      const bool finished = column + bc >= keys;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = rows.row(0, half);
        const bool inside = row_in_tile(unit) < br && row < n_q;
        const float sum = quad_sum(rows.statistics.sum[0][half]);
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        if (finished) {
          unsigned pairs[d / 8];
#pragma unroll
          for (int n = 0; n < d / 8; ++n) {
            pairs[n] = pack(rows.o[0][n][half * 2] * inverse, rows.o[0][n][half * 2 + 1] * inverse);
          }
          store_row(o + static_cast<long long>(row) * d, pairs, d, inside);
        } else if (inside) {
          float* target = o_acc + static_cast<long long>(row) * d + lane % 4 * 2;
#pragma unroll
          for (int n = 0; n < d / 8; ++n) {
            store_pair(target + n * 8, rows.o[0][n][half * 2] * inverse, rows.o[0][n][half * 2 + 1] * inverse);
          }
        }
        if (inside && lane % 4 == 0) {
          store_float(l + row, sum);
          store_float(m + row, maximum[half]);
        }
      }
    }
  }
}

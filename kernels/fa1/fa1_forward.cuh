// SPDX-License-Identifier: Apache-2.0
// FlashAttention forward as published (arXiv 2205.14135v2, Algorithm 1): K and V in the outer loop, Q in the inner
// loop, and O, l, m read from and written to global memory in every inner step. One block per head.
//
// Tile program of a block:
//   store o_acc = 0, l = 0, m = -inf for all rows (line 2); store o = 0 for the row tiles that see no key
//   for each key tile j that any row sees: load K_j, load V_j
//     for each row tile i that sees a key of it: load Q_i, o_acc_i, l_i, m_i; store o_acc_i (in the last j that tile i
//     sees: the 16-bit o_i instead), l_i, m_i
// Tiles without any unmasked pair are skipped, as in the published code.
//
// A warp owns the same rows of every Q tile of its team and never waits for another warp inside the inner loop. O, l
// and m are read by the thread that wrote them, or after a block barrier. Team t of T processes every T-th row tile of
// a pass, starting at the t-th.
#include "device/global.cuh"
#include "device/query_rows.cuh"
#include "device/trace.cuh"
#include "fa1/fa1_shape.h"

namespace attnscope::fa1 {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;

#if defined(ATTN_TEAMS)
constexpr int teams = ATTN_TEAMS;
#else
constexpr int teams = 1;
#endif
constexpr int block_threads = threads(br, teams);
constexpr int team_warps = warps(br);
constexpr int slices = slices_per_warp(br);
constexpr int chunk = chunk_columns(br, bc, d, has_dropout);

using Tile = SharedTile<d>;

/// O, l and m of a thread's two rows as stored in memory: O normalized, in accumulator layout.
struct RowState {
  float o[d / 8][4];
  float l[2];
  float m[2];
};
/// If registers allow, the state of the next rows is loaded during the work on the current ones.
constexpr bool prefetch_state = d <= 64;

__device__ __forceinline__ void fill(void* address, long long bytes, int thread) {
  for (long long at = thread * 16LL; at < bytes; at += block_threads * 16LL) {
    store_16_bytes(static_cast<unsigned char*>(address) + at, 0, 0, 0, 0);
  }
}

}  // namespace attnscope::fa1

extern "C" __global__ void __launch_bounds__(attnscope::fa1::block_threads, 1)
    attn_fa1_forward(const unsigned short* q, const unsigned short* k, const unsigned short* v, unsigned short* o,
                     float* o_acc, float* l, float* m, int instances, int group, int n_q, int n_k, float scale,
                     int heads_q, int left, int right, const int* key_lengths, const unsigned char* block_mask,
                     int mask_block, int keep, unsigned seed) {
  using namespace attnscope::fa1;
  extern __shared__ __align__(1024) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32 % team_warps;
  const int team = thread / 32 / team_warps;
  const unsigned shared_k = shared_address(shared) + teams * br * Tile::row_bytes;
  const unsigned shared_v = shared_k + bc * Tile::row_bytes;
  const unsigned shared_q = shared_address(shared) + team * br * Tile::row_bytes;

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

  const Visibility view = visibility(instance / heads_q, n_q, n_k, left, right, key_lengths, block_mask, mask_block);
  const auto last_row = [&](int tile) { return min(n_q, (tile + 1) * br) - 1; };

  fill(o_acc, 4LL * n_q * d, thread);
  if (ATTN_MASK != 0) {
#pragma unroll 1
    for (int tile = 0; tile * br < n_q; ++tile) {
      const int last = last_row(tile);
      if (view.first_key_tile<bc>(tile * br, last) >= view.key_end(last)) {
        fill(o + static_cast<long long>(tile) * br * d, 2LL * (last + 1 - tile * br) * d, thread);
      }
    }
  }
  for (int row = thread; row < n_q; row += block_threads) {
    store_float(l + row, 0.0f);
    store_float(m + row, minus_infinity);
  }

  QueryRows<1, d> rows;
  rows.k = Tile::right_lane_address(shared_k, lane);
  rows.v = Tile::left_lane_address(shared_v, lane);
  rows.view = view;
  rows.scale = scale * log2_e;
  rows.dropout = dropout_of(instance, keep, seed);

  // Work units of a warp, in order: slice u % slices of row tile u / slices.
  const auto row_in_tile = [&](int unit) { return (unit % slices * team_warps + warp) * warp_rows; };
  const auto first_row = [&](int unit) { return unit / slices * br + row_in_tile(unit); };
  const auto exists = [&](int unit) { return row_in_tile(unit) < br && first_row(unit) < n_q; };

  const auto load_query = [&](int unit) {
    if (exists(unit)) {
      const int row = first_row(unit);
      trace_load(lane == 0, TraceTarget::q, query_row + row, min(warp_rows, n_q - row));
      Tile::copy_rows<warp_rows, 32>(shared_q + row_in_tile(unit) * Tile::row_bytes,
                                     q + static_cast<long long>(row) * d, d, n_q - row, force_recompute(lane));
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

#pragma unroll 1
  for (int column = 0; column < view.length; column += bc, k += bc * d, v += bc * d) {
    const int tiles = (view.row_end(column + bc - 1) + br - 1) / br;
    const int first_tile = view.next_row_tile<br>(column, view.row_begin(column) / br, tiles);
    if (ATTN_MASK != 0 && first_tile >= tiles) {
      continue;
    }
    // Returns the `steps`-th visited row tile after `tile`.
    const auto tile_after = [&](int tile, int steps) {
      if (!has_block_mask) {
        return tile + steps;
      }
      for (; steps > 0; --steps) {
        tile = view.next_row_tile<br>(column, tile + 1, tiles);
      }
      return tile;
    };
    const int units = tiles * slices;
    const int first_unit = tile_after(first_tile, team) * slices;
    __syncthreads();  // no warp reads the old K and V, and all have stored l and m
    const int copy_thread = force_recompute(thread);
    trace_load(thread == 0, TraceTarget::k, key_row + column, min(bc, view.length - column));
    trace_load(thread == 0, TraceTarget::v, key_row + column, min(bc, view.length - column));
    Tile::copy_rows<bc, block_threads>(shared_k, k, d, view.length - column, copy_thread);
    Tile::copy_rows<bc, block_threads>(shared_v, v, d, view.length - column, copy_thread);
    commit_copies();  // a team without a row tile commits no further groups
    if (first_unit < units) {
#pragma unroll 1
      for (int slice = 0; slice < slices; ++slice) {
        load_query(first_unit + slice);
      }
    }
    RowState next;
    if (prefetch_state && first_unit < units) {
      load_state(first_unit, next.o, next.l, next.m);
    }
    wait_copies<0>();
    __syncthreads();

#pragma unroll 1
    for (int unit = first_unit, next_unit; unit < units; unit = next_unit) {
      // Unit of the same slice in the team's next row tile. The next unit of this warp is the next slice of the current
      // tile, or the first slice of that next tile.
      const int next_tile_unit = tile_after(unit / slices, teams) * slices + unit % slices;
      next_unit = unit % slices < slices - 1 ? unit + 1 : next_tile_unit - unit % slices;
      float(&maximum)[2] = rows.statistics.maximum[0];
      float old_sum[2];
      if (prefetch_state) {
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
        if (next_unit < units) {
          load_state(next_unit, next.o, next.l, next.m);
        }
      } else {
        load_state(unit, rows.o[0], old_sum, maximum);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        rows.statistics.sum[0][half] = lane % 4 == 0 ? old_sum[half] : 0.0f;
      }
      wait_copies<0>();
      __syncwarp();  // the unit's rows of Q have arrived
      rows.q = Tile::left_lane_address(shared_q + row_in_tile(unit) * Tile::row_bytes, lane);
      rows.first_row = first_row(unit);

      rows.attend<bc, chunk>(
          column,
          [&](int index) {
            if (index == 0) {  // delayed, since o_acc may still be loading during the first product
#pragma unroll
              for (int n = 0; n < d / 8; ++n) {
                rows.o[0][n][0] *= old_sum[0];
                rows.o[0][n][1] *= old_sum[0];
                rows.o[0][n][2] *= old_sum[1];
                rows.o[0][n][3] *= old_sum[1];
              }
            }
            if (index == last_chunk(bc, chunk) && next_tile_unit < units) {
              __syncwarp();  // all lanes have read the unit's rows of Q
              load_query(next_tile_unit);
            }
          },
          [](int) {});

      const int keys = view.key_end(last_row(unit / slices));
      const bool finished = view.next_key_tile<bc>(unit / slices * br, column + bc, keys) >= keys;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = rows.row(0, half);
        const bool inside = row_in_tile(unit) < br && row < n_q;
        const float sum = quad_sum(rows.statistics.sum[0][half]);
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        if (finished) {
          const float weight = has_dropout ? inverse * rows.dropout.scale : inverse;
          unsigned pairs[d / 8];
#pragma unroll
          for (int n = 0; n < d / 8; ++n) {
            pairs[n] = pack(rows.o[0][n][half * 2] * weight, rows.o[0][n][half * 2 + 1] * weight);
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

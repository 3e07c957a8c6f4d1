// SPDX-License-Identifier: Apache-2.0
// FlashAttention backward as published (arXiv 2205.14135v2, Algorithm 4): K and V in the outer loop, Q in the inner
// loop, and dQ read from and written to global memory in every inner step. One block per K/V head, so that dK and dV
// are summed over its query heads on chip.
//
// Tile program of a block:
//   store dq_acc = 0 for all rows; store dq = 0 for the row tiles that no key tile visits
//   for j = 0 .. Tc - 1: load K_j, V_j (if any row tile sees keys of tile j)
//     for each query head of the group, for each row tile i that sees keys of tile j:
//       load Q_i, O_i, dO_i, l_i, m_i, dq_acc_i; store dq_acc_i (in the last j that visits tile i: dq_i instead)
//     store dK_j, dV_j
//
// D is computed from O and dO in every inner step, as in the paper. A thread always owns the same elements of dQ, so it
// reads dq_acc values that it wrote itself or that a block barrier ordered.
#include "device/gradient.cuh"

namespace attnscope::fa1_backward {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;

constexpr int block_threads = gradient::threads(br, bc, d);
constexpr int stages = gradient::stages(br, bc, d, sizeof(Element), 3);
constexpr int rows_per_thread = (br + block_threads - 1) / block_threads;

constexpr bool wide = d > 192;

using Tile = SharedTile<d>;
using Scores = SharedTile<bc>;

/// Returns whether the row tile visits any key tile of [first_tile, end_tile).
__device__ __forceinline__ bool any_visited(const Visibility& sees, int first_row, int first_tile, int end_tile) {
  if (!has_block_mask) {
    return first_tile < end_tile;
  }
  for (int tile = first_tile; tile < end_tile; ++tile) {
    if (sees.visited(first_row, tile * bc)) {
      return true;
    }
  }
  return false;
}

/// Computes D of the Q tile's rows in shared memory, four lanes per row.
__device__ __forceinline__ void compute_delta(unsigned o, unsigned dout, unsigned delta, int thread) {
#pragma unroll 1
  for (int row = thread / 4; row < br; row += block_threads / 4) {
    float sum = 0.0f;
#pragma unroll
    for (int first = 0; first < Tile::chunks; first += 4) {
      const int chunk = first + thread % 4;
      if (Tile::chunks % 4 == 0 || chunk < Tile::chunks) {
        unsigned left[4];
        unsigned right[4];
        load_shared_16_bytes(left, o + Tile::offset(row, chunk));
        load_shared_16_bytes(right, dout + Tile::offset(row, chunk));
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          sum += dot(left[i], right[i]);
        }
      }
    }
    // br is a multiple of 16 and a warp covers 8 adjacent rows, so all lanes are active.
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    if (thread % 4 == 0) {
      store_shared_float(delta + row * 4, sum);
    }
  }
}

}  // namespace attnscope::fa1_backward

extern "C" __global__ void __launch_bounds__(attnscope::fa1_backward::block_threads, 1)
    attn_fa1_backward(const unsigned short* q, const unsigned short* k, const unsigned short* v,
                      const unsigned short* o, const unsigned short* dout, const float* l, const float* m,
                      float* dq_acc, unsigned short* dq, unsigned short* dk, unsigned short* dv, int instances,
                      int group, int n_q, int n_k, float scale, int heads_q, int left, int right,
                      const int* key_lengths, const unsigned char* block_mask, int mask_block, int keep,
                      unsigned seed) {
  using namespace attnscope;
  using namespace attnscope::fa1_backward;
  using Work = TileGradients<br, bc, d>;
  extern __shared__ __align__(1024) unsigned char shared[];
  constexpr int query_bytes = br * Tile::row_bytes;
  constexpr int stage_bytes = 3 * query_bytes;  // Q, dO, O
  const unsigned shared_k = shared_address(shared);
  const unsigned shared_v = shared_k + bc * Tile::row_bytes;
  const unsigned shared_p = shared_v + bc * Tile::row_bytes;
  const unsigned shared_ds = shared_p + br * Scores::row_bytes;
  const unsigned shared_q = shared_ds + br * Scores::row_bytes;
  const unsigned shared_rows = shared_q + stages * stage_bytes;  // per stage: exponents, D

  const int kv_instance = static_cast<int>(blockIdx.x);
  const int first_instance = kv_instance * group;
  const int end_instance = min(first_instance + group, instances);
  const int thread = static_cast<int>(threadIdx.x);
  const Visibility sees =
      visibility(first_instance / heads_q, n_q, n_k, left, right, key_lengths, block_mask, mask_block);
  const DropoutStream dropout{keep, seed};

#pragma unroll 1
  for (int instance = first_instance; instance < end_instance; ++instance) {
    const int lane = thread % 32;
    for (int row = thread / 32 * 8; row < n_q; row += block_threads / 4) {
      for (int column = 0; column < d; column += 16) {
        if (row + lane / 4 < n_q) {
          AccumulatorLane::store(dq_acc + instance * accumulator_size(n_q, d) + static_cast<long long>(row) * d +
                                     column * gradient::accumulator_rows,
                                 lane, 0.0f, 0.0f, 0.0f, 0.0f);
        }
      }
    }
    for (int row = 0; row < n_q; row += br) {
      const int end_key = sees.key_end(min(row + br, n_q) - 1);
      const int begin_key = sees.key_begin(row);
      if (begin_key < end_key && any_visited(sees, row, begin_key / bc, (end_key + bc - 1) / bc)) {
        continue;
      }
      unsigned short* target = dq + (static_cast<long long>(instance) * n_q + row) * d;
      for (int at = thread * 8; at < min(br, n_q - row) * d; at += block_threads * 8) {
        store_16_bytes(target + at, 0, 0, 0, 0);
      }
    }
  }

  Work work;
  work.k = shared_k;
  work.v = shared_v;
  work.p = shared_p;
  work.ds = shared_ds;
  work.thread = thread;
  work.scale = scale * log2_e;

  const auto load_queries = [&](int instance, int row, int stage) {
    const long long at = (static_cast<long long>(instance) * n_q + row) * d;
    const unsigned target = shared_q + stage * stage_bytes;
    const int copy_thread = force_recompute(thread);
    Tile::copy_rows<br, block_threads>(target, q + at, d, n_q - row, copy_thread);
    Tile::copy_rows<br, block_threads>(target + query_bytes, dout + at, d, n_q - row, copy_thread);
    Tile::copy_rows<br, block_threads>(target + 2 * query_bytes, o + at, d, n_q - row, copy_thread);
    commit_copies();
  };
  float row_sum[rows_per_thread];
  float row_maximum[rows_per_thread];
  const auto load_rows = [&](int instance, int row) {
#pragma unroll
    for (int i = 0; i < rows_per_thread; ++i) {
      const int at = i * block_threads + thread;
      const bool inside = at < br && row + at < n_q;
      const long long from = static_cast<long long>(instance) * n_q + row + at;
      row_sum[i] = inside ? load_float(l + from) : 0.0f;
      row_maximum[i] = inside ? load_float(m + from) : 0.0f;
    }
  };
  // Exponent for P = exp(scale (S - m)) / l with one exp2.
  const auto store_rows = [&](int stage) {
#pragma unroll
    for (int i = 0; i < rows_per_thread; ++i) {
      const int at = i * block_threads + thread;
      if (at < br) {
        store_shared_float(shared_rows + (stage * 2 * br + at) * 4,
                           row_sum[i] > 0.0f ? row_maximum[i] * work.scale + __log2f(row_sum[i]) : -minus_infinity);
      }
    }
  };

#pragma unroll 1
  for (int first_key = 0; first_key < n_k; first_key += bc) {
    work.first_key = first_key;
    work.clear();
    const long long key_at = (static_cast<long long>(kv_instance) * n_k + first_key) * d;
    const int end_row = first_key < sees.length ? sees.row_end(first_key + bc - 1) : 0;
    const auto visited_from = [&](int row) {
      while (has_block_mask && row < end_row && !sees.visited(row, first_key)) {
        row += br;
      }
      return row;
    };
    const int begin_row = visited_from(end_row > 0 ? sees.row_begin(first_key) / br * br : 0);

    __syncthreads();  // no warp uses the previous K/V tile, and dq_acc is initialized
    int instance = begin_row < end_row ? first_instance : end_instance;
    int row = begin_row;
    int stage = 0;
    if (instance < end_instance) {
      const int copy_thread = force_recompute(thread);
      Tile::copy_rows<bc, block_threads>(shared_k, k + key_at, d, sees.length - first_key, copy_thread);
      Tile::copy_rows<bc, block_threads>(shared_v, v + key_at, d, sees.length - first_key, copy_thread);
      load_queries(instance, row, 0);
      load_rows(instance, row);
      store_rows(0);
    }

#pragma unroll 1
    while (instance < end_instance) {
      wait_copies<0>();
      __syncthreads();  // the Q tile has arrived, and no warp uses the previous one
      int next_instance = instance;
      int next_row = visited_from(row + br);
      if (next_row >= end_row) {
        next_row = begin_row;
        ++next_instance;
      }
      const bool more = next_instance < end_instance;
      const int next_stage = stages == 2 ? stage ^ 1 : 0;
      if (more) {
        if (stages == 2) {
          load_queries(next_instance, next_row, next_stage);
        }
        load_rows(next_instance, next_row);
      }
      const unsigned tile_q = shared_q + stage * stage_bytes;
      const unsigned tile_dout = tile_q + query_bytes;
      const unsigned tile_rows = shared_rows + stage * 8 * br;
      compute_delta(tile_dout + query_bytes, tile_dout, tile_rows + 4 * br, force_recompute(thread));
      work.differentiate(tile_q, tile_dout, tile_rows, tile_rows + 4 * br, sees, row, instance, dropout,
                         [] { __syncthreads(); });  // D is ready
      __syncthreads();                              // P and dS are ready

      // Current dQ; loaded during the products for dV and dK if registers allow.
      Work::QueryPart::Accumulator sum;
      Work::QueryPart::clear(sum);
      float* accumulator = dq_acc + instance * accumulator_size(n_q, d) + static_cast<long long>(row) * d;
      const int lane = work.lane();
      const auto load_sum = [&] {
        work.each_query_block([&](int block_row, int column, int i, int n, int half) {
          if (row + block_row + lane / 4 < n_q) {
            const float4 old =
                AccumulatorLane::load(accumulator + block_row * d + column * gradient::accumulator_rows, lane);
            sum[i][2 * n][half * 2] = old.x;
            sum[i][2 * n][half * 2 + 1] = old.y;
            sum[i][2 * n + 1][half * 2] = old.z;
            sum[i][2 * n + 1][half * 2 + 1] = old.w;
          }
        });
      };
      if (!wide) {
        load_sum();
      }
      work.add_values(tile_dout);
      work.add_keys(tile_q);
      if (more) {
        if (stages == 1) {
          __syncthreads();  // no warp reads Q and dO anymore
          load_queries(next_instance, next_row, 0);
        }
        store_rows(next_stage);
      }
      if (wide) {
        load_sum();
      }
      work.add_queries(sum);

      const int end_tile = (sees.key_end(min(row + br, n_q) - 1) + bc - 1) / bc;
      if (any_visited(sees, row, first_key / bc + 1, end_tile)) {
        work.each_query_block([&](int block_row, int column, int i, int n, int half) {
          if (row + block_row + lane / 4 < n_q) {
            AccumulatorLane::store(accumulator + block_row * d + column * gradient::accumulator_rows, lane,
                                   sum[i][2 * n][half * 2], sum[i][2 * n][half * 2 + 1], sum[i][2 * n + 1][half * 2],
                                   sum[i][2 * n + 1][half * 2 + 1]);
          }
        });
      } else {
        work.store_queries(dq + (static_cast<long long>(instance) * n_q + row) * d, sum, n_q - row, scale);
      }
      instance = next_instance;
      row = next_row;
      stage = next_stage;
    }
    work.store_keys(dk + key_at, dv + key_at, n_k - first_key, scale, 256.0f / static_cast<float>(keep));
  }
}

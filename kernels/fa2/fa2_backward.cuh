// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 backward (arXiv 2307.08691, Algorithm 2): one block per K/V tile of each K/V head.
//
// Tile program of block (j, K/V head):
//   load K_j, V_j
//   for each query head of the group, for each Q tile i that sees keys of tile j:
//     load Q_i, dO_i, LSE_i, D_i; add dS K_j to dq_acc_i in L2
//   store dK_j, dV_j
// If no Q tile sees tile j, only zeros are stored. Under a causal mask the first K/V tiles are seen by the most rows.
//
// ATTN_DETERMINISTIC: blocks add to a Q tile's dq_acc in launch order, so that a block waits only for blocks of lower
// index, which started before it. The order is that of their K/V tiles; with a right bound the last tile goes first,
// since its block reaches the Q tile first. turns[instance, i] counts the blocks that have added.
#include "device/gradient.cuh"
#include "device/head_blocks_shape.h"

namespace attnscope::fa2_backward {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;

constexpr int block_threads = gradient::threads(br, bc, d);
constexpr int stages = gradient::stages(br, bc, d, sizeof(Element), 2);
constexpr int rows_per_thread = (br + block_threads - 1) / block_threads;

using Tile = SharedTile<d>;
using Scores = SharedTile<bc>;

constexpr bool last_keys_first = ATTN_DETERMINISTIC && bounded_right;
/// Earlier key tiles are seen by more rows, so several heads are interleaved, longest tiles first.
constexpr bool interleave_heads = !ATTN_DETERMINISTIC && last_rows_first;

/// Number of K/V tiles that add to the Q tile before `key_tile`. Called by one warp.
__device__ __forceinline__ int turn_index(const Visibility& sees, int first_row, int key_tile, int lane) {
  const int first = last_keys_first ? key_tile + 1 : sees.key_begin(first_row) / bc;
  const int end = last_keys_first ? (sees.key_end(min(first_row + br, sees.n_q) - 1) + bc - 1) / bc : key_tile;
  if (!has_block_mask) {
    return end - first;
  }
  int before = 0;
  for (int tile = first; tile < end; tile += 32) {
    const bool adds = tile + lane < end && sees.visited(first_row, (tile + lane) * bc);
    before += __popc(__ballot_sync(0xffffffffu, adds));
  }
  return before;
}

}  // namespace attnscope::fa2_backward

extern "C" __global__ void __launch_bounds__(attnscope::fa2_backward::block_threads, 1)
    attn_fa2_backward(const unsigned short* q, const unsigned short* k, const unsigned short* v,
                      const unsigned short* dout, const float* lse, const float* delta, float* dq_acc,
                      unsigned short* dk, unsigned short* dv, int* turns, int instances, int group, int n_q, int n_k,
                      float scale, int heads_q, int left, int right, const int* key_lengths,
                      const unsigned char* block_mask, int mask_block, int keep, unsigned seed) {
  using namespace attnscope;
  using namespace attnscope::fa2_backward;
  extern __shared__ __align__(1024) unsigned char shared[];
  constexpr int query_bytes = br * Tile::row_bytes;
  constexpr int stage_bytes = 2 * query_bytes;  // Q, dO
  const unsigned shared_k = shared_address(shared);
  const unsigned shared_v = shared_k + bc * Tile::row_bytes;
  const unsigned shared_p = shared_v + bc * Tile::row_bytes;
  const unsigned shared_ds = shared_p + br * Scores::row_bytes;
  const unsigned shared_q = shared_ds + br * Scores::row_bytes;
  const unsigned shared_rows = shared_q + stages * stage_bytes;  // per stage: exponents, D

  const int key_tiles = (n_k + bc - 1) / bc;
  const int block = static_cast<int>(blockIdx.x);
  const int kv_instances = instances / group;
  const int heads_per_group = ATTN_HEADS_FASTEST ? kv_instances : interleaved_heads(n_k);
  const HeadBlock<int> place = ATTN_HEADS_FASTEST || interleave_heads
                                   ? head_block(block, key_tiles, kv_instances, heads_per_group, last_keys_first)
                                   : head_block(block, key_tiles, last_keys_first);
  const int kv_instance = place.instance;
  const int key_tile = place.tile;
  const int first_key = key_tile * bc;
  const int thread = static_cast<int>(threadIdx.x);
  const long long key_at = (static_cast<long long>(kv_instance) * n_k + first_key) * d;
  const Visibility sees =
      visibility(kv_instance * group / heads_q, n_q, n_k, left, right, key_lengths, block_mask, mask_block);
  const DropoutStream dropout{keep, seed};

  TileGradients<br, bc, d> work;
  work.k = shared_k;
  work.v = shared_v;
  work.p = shared_p;
  work.ds = shared_ds;
  work.thread = thread;
  work.first_key = first_key;
  work.scale = scale * log2_e;
  work.clear();

  // First rows of the visited Q tiles, one query head after another.
  const int end_row = first_key < sees.length ? sees.row_end(first_key + bc - 1) : 0;
  const auto visited_from = [&](int row) {
    while (has_block_mask && row < end_row && !sees.visited(row, first_key)) {
      row += br;
    }
    return row;
  };
  const int begin_row = visited_from(end_row > 0 ? sees.row_begin(first_key) / br * br : 0);

  if (begin_row < end_row) {
    const auto load_queries = [&](int instance, int row, int stage) {
      const long long at = (static_cast<long long>(instance) * n_q + row) * d;
      const unsigned target = shared_q + stage * stage_bytes;
      Tile::copy_rows<br, block_threads>(target, q + at, d, n_q - row, thread);
      Tile::copy_rows<br, block_threads>(target + query_bytes, dout + at, d, n_q - row, thread);
      commit_copies();
    };
    float row_lse[rows_per_thread];
    float row_delta[rows_per_thread];
    const auto load_rows = [&](int instance, int row) {
#pragma unroll
      for (int i = 0; i < rows_per_thread; ++i) {
        const int at = i * block_threads + thread;
        const bool inside = at < br && row + at < n_q;
        const long long from = static_cast<long long>(instance) * n_q + row + at;
        row_lse[i] = inside ? load_float(lse + from) : minus_infinity;
        row_delta[i] = inside ? load_float(delta + from) : 0.0f;
      }
    };
    const auto store_rows = [&](int stage) {
#pragma unroll
      for (int i = 0; i < rows_per_thread; ++i) {
        const int at = i * block_threads + thread;
        const unsigned target = shared_rows + (stage * 2 * br + at) * 4;
        if (at < br) {
          store_shared_float(target, row_lse[i] == minus_infinity ? -minus_infinity : row_lse[i] * log2_e);
          store_shared_float(target + br * 4, row_delta[i]);
        }
      }
    };

    int instance = kv_instance * group;
    const int end_instance = instance + group;
    int row = begin_row;
    int stage = 0;
    Tile::copy_rows<bc, block_threads>(shared_k, k + key_at, d, sees.length - first_key, thread);
    Tile::copy_rows<bc, block_threads>(shared_v, v + key_at, d, sees.length - first_key, thread);
    load_queries(instance, row, 0);
    load_rows(instance, row);
    store_rows(0);
#if ATTN_DETERMINISTIC
    int* turn = nullptr;
#endif

#pragma unroll 1
    while (instance < end_instance) {
      wait_copies<0>();
      __syncthreads();  // the Q tile has arrived, and no warp uses the previous one
#if ATTN_DETERMINISTIC
      if (turn != nullptr && thread == 0) {
        asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
      }
      turn = turns + static_cast<long long>(instance) * ((n_q + br - 1) / br) + row / br;
#endif
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
      const unsigned tile_rows = shared_rows + stage * 8 * br;
      work.differentiate(tile_q, tile_q + query_bytes, tile_rows, tile_rows + 4 * br, sees, row, instance, dropout,
                         [] {});
      __syncthreads();  // P and dS are ready
      work.add_values(tile_q + query_bytes);
      work.add_keys(tile_q);
      if (more) {
        if (stages == 1) {
          __syncthreads();  // no warp reads Q and dO anymore
          load_queries(next_instance, next_row, 0);
        }
        store_rows(next_stage);
      }

      using QueryPart = TileGradients<br, bc, d>::QueryPart;
      QueryPart::Accumulator dq;
      QueryPart::clear(dq);
      work.add_queries(dq);
#if ATTN_DETERMINISTIC
      if (thread < 32) {
        const int expected = turn_index(sees, row, key_tile, thread);
        int now = 0;
        do {
          asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(now) : "l"(turn) : "memory");
        } while (now < expected);
      }
      __syncthreads();  // all earlier blocks have added
#endif
      float* target = dq_acc + instance * accumulator_size(n_q, d) + static_cast<long long>(row) * d;
      const int lane = work.lane();
      work.each_query_block([&](int block_row, int column, int m, int n, int half) {
        if (row + block_row + lane / 4 < n_q) {
          AccumulatorLane::add(target + block_row * d + column * gradient::accumulator_rows, lane,
                               dq[m][2 * n][half * 2], dq[m][2 * n][half * 2 + 1], dq[m][2 * n + 1][half * 2],
                               dq[m][2 * n + 1][half * 2 + 1]);
        }
      });
#if ATTN_DETERMINISTIC
      __threadfence();
#endif
      instance = next_instance;
      row = next_row;
      stage = next_stage;
    }
#if ATTN_DETERMINISTIC
    __syncthreads();
    if (thread == 0) {
      asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
    }
#endif
  }
  work.store_keys(dk + key_at, dv + key_at, n_k - first_key, scale, 256.0f / static_cast<float>(keep));
}

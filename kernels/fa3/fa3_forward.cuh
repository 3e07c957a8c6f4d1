// SPDX-License-Identifier: Apache-2.0
// FlashAttention-3 forward (arXiv 2407.08608, Algorithms 1 and 2; sm_90a): one block for each row tile of each head,
// with the tile program of fa2_forward.cuh.
//
// Warpgroup 0 loads K (two warps) and V (the other two) into rings of buffers; each other warpgroup owns 64 query rows.
// S of block j + 1 is queued on the tensor cores before O += P V of block j, and the softmax of j + 1 runs under that.
// The warpgroups take turns at queueing, so that one's softmax falls into the other's products.
#include "device/attention.cuh"
#include "device/dropout.cuh"
#include "device/global.cuh"
#include "device/row_blocks_shape.h"
#include "device/trace.cuh"
#include "device/visibility.cuh"
#include "device/warpgroup.cuh"
#include "fa3/fa3_shape.h"

namespace attnscope::fa3 {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;

constexpr int block_threads = threads(br);
constexpr int groups = consumers(br);
#if defined(ATTN_STAGES)
constexpr int ring = stages(br, bc, d, sizeof(Element), ATTN_STAGES);
#else
constexpr int ring = stages(br, bc, d, sizeof(Element));
#endif
constexpr int copy_threads = 64;  // of K; and as many of V
constexpr bool take_turns = groups > 1;

using QTile = PanelTile<br, d>;
using KvTile = PanelTile<bc, d>;

/// Position in a ring of buffers, and the parity of the barrier phase that goes with it.
struct RingPlace {
  unsigned stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == ring) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// One of the rings: barriers say when a buffer is filled and when it is free again.
struct Ring {
  unsigned tiles;
  unsigned barriers;

  __device__ __forceinline__ unsigned tile(unsigned stage) const { return tiles + stage * KvTile::bytes; }
  __device__ __forceinline__ unsigned filled(unsigned stage) const { return barriers + 16 * stage; }
  __device__ __forceinline__ unsigned freed(unsigned stage) const { return barriers + 16 * stage + 8; }

  __device__ __forceinline__ void init() const {
    for (int stage = 0; stage < ring; ++stage) {
      barrier_init(filled(stage), copy_threads / 32);
      barrier_init(freed(stage), groups * 4);
    }
  }

  /// Copies the key tiles that row tile `tile_row` visits from `first` to `end`, as buffers become free; `matrix`
  /// begins with the row of key 0, which is row `row_0` of all instances'.
  __device__ __forceinline__ void fill(Traced of, const Element* matrix, long long row_0, const Visibility& view,
                                       int tile_row, int first, int end, int thread) const {
    RingPlace at{0, 1};  // a fresh barrier lets the parity before its first phase pass
#pragma unroll 1
    for (int column = first; column < end; column = view.next_key_tile<bc>(tile_row, column + bc, end)) {
      barrier_wait(freed(at.stage), at.parity);
      trace_load(thread == 0, of, row_0 + column, min(bc, view.length - column));
      KvTile::copy_rows<bc, copy_threads>(tile(at.stage), matrix + static_cast<long long>(column) * d,
                                          view.length - column, thread);
      commit_copies();
      wait_copies<0>();
      fence_shared_for_products();
      __syncwarp();
      if (thread % 32 == 0) {
        barrier_arrive(filled(at.stage));
      }
      at.advance();
    }
  }

  __device__ __forceinline__ void wait(const RingPlace& at) const {
    barrier_wait(filled(at.stage), at.parity);
  }
  /// Every warp of a warpgroup calls it once its products have read the buffer.
  __device__ __forceinline__ void release(const RingPlace& at) const {
    if (threadIdx.x % 32 == 0) {
      barrier_arrive(freed(at.stage));
    }
  }
};

/// This thread's two rows, g and g + 8 of its warp's 16: scores, statistics and accumulator.
struct ThreadRows {
  float o[d / 8][4];
  float s[bc / 8][4];
  unsigned p[bc / 8][2];
  float maximum[2];
  float sum[2];
  float correction[2];

  /// Scores of keys that a row does not see; `row` is the first of the two.
  __device__ __forceinline__ void mask(int row, int column, const Visibility& view) {
    const int first = column + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int begin = view.first(row + half * 8) - first;
      const int end = view.last(row + half * 8) - first;
#pragma unroll
      for (int n = 0; n < bc / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          if (n * 8 + e >= end || (bounded_left && n * 8 + e < begin)) {
            s[n][half * 2 + e] = minus_infinity;
          }
        }
      }
    }
  }

  /// s = exp(scale * (s - maximum)), and what earlier sums and products under the old maximum are multiplied by;
  /// `scale` is in units of log2(e).
  __device__ __forceinline__ void online_softmax(float scale) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float before = maximum[half];
      float largest[2] = {fmaxf(before, s[0][half * 2]), s[0][half * 2 + 1]};
#pragma unroll
      for (int n = 1; n < bc / 8; ++n) {
        largest[0] = fmaxf(largest[0], s[n][half * 2]);
        largest[1] = fmaxf(largest[1], s[n][half * 2 + 1]);
      }
      float after = fmaxf(largest[0], largest[1]);
      after = fmaxf(after, __shfl_xor_sync(0xffffffffu, after, 1));
      after = fmaxf(after, __shfl_xor_sync(0xffffffffu, after, 2));
      const float reference = after == minus_infinity ? 0.0f : after * scale;
      correction[half] = exp2_fast(before * scale - reference);
      float part[2] = {0.0f, 0.0f};
#pragma unroll
      for (int n = 0; n < bc / 8; ++n) {
        part[0] += s[n][half * 2] = exp2_fast(s[n][half * 2] * scale - reference);
        part[1] += s[n][half * 2 + 1] = exp2_fast(s[n][half * 2 + 1] * scale - reference);
      }
      maximum[half] = after;
      sum[half] = sum[half] * correction[half] + (part[0] + part[1]);
    }
  }

  __device__ __forceinline__ void rescale() {
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      o[n][0] *= correction[0];
      o[n][1] *= correction[0];
      o[n][2] *= correction[1];
      o[n][3] *= correction[1];
    }
  }

  __device__ __forceinline__ void pack_scores() {
#pragma unroll
    for (int n = 0; n < bc / 8; ++n) {
      p[n][0] = pack(s[n][0], s[n][1]);
      p[n][1] = pack(s[n][2], s[n][3]);
    }
  }
};

}  // namespace attnscope::fa3

extern "C" __global__ void __launch_bounds__(attnscope::fa3::block_threads, attnscope::fa3::blocks_per_sm(ATTN_BR))
    attn_fa3_forward(const unsigned short* q, const unsigned short* k, const unsigned short* v, unsigned short* o,
                     float* lse, int instances, int group, int n_q, int n_k, float scale, int heads_q, int left,
                     int right, const int* key_lengths, const unsigned char* block_mask, int mask_block, int keep,
                     unsigned seed) {
  using namespace attnscope::fa3;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned shared_q = shared_address(shared);
  const unsigned shared_k = shared_q + QTile::bytes;
  const unsigned shared_v = shared_k + ring * KvTile::bytes;
  const unsigned barriers = shared_v + ring * KvTile::bytes;
  const Ring keys_ring{shared_k, barriers};
  const Ring values_ring{shared_v, barriers + 16 * ring};

  const int row_tiles = (n_q + br - 1) / br;
  const int block = static_cast<int>(blockIdx.x);
#if ATTN_HEADS_FASTEST
  const int instance = block % instances;
  const int tile_row = (last_rows_first ? row_tiles - 1 - block / instances : block / instances) * br;
#else
  const attnscope::RowBlock<int> place =
      attnscope::row_block(block, row_tiles, instances, attnscope::heads_in_turn(n_k), last_rows_first);
  const int instance = place.instance;
  const int tile_row = place.tile * br;
#endif
  const Visibility view = visibility(instance / heads_q, n_q, n_k, left, right, key_lengths, block_mask, mask_block);
  const int last_row = min(n_q, tile_row + br) - 1;
  const int end = view.key_end(last_row);
  const int first = view.first_key_tile<bc>(tile_row, last_row);

  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    keys_ring.init();
    values_ring.init();
  }
  __syncthreads();

  if (thread < warpgroup_threads) {
    give_registers<producer_registers(br)>();
    const long long key_0 = static_cast<long long>(instance / group) * n_k;
    if (thread < copy_threads) {
      keys_ring.fill(Traced::k, k + key_0 * d, key_0, view, tile_row, first, end, thread);
    } else {
      values_ring.fill(Traced::v, v + key_0 * d, key_0, view, tile_row, first, end, thread - copy_threads);
    }
  } else {
    take_registers<consumer_registers(br)>();
    const int mine = __shfl_sync(0xffffffffu, thread / warpgroup_threads, 0) - 1;
    const int group_row = tile_row + mine * 64;
    const int warp_row = group_row + thread % warpgroup_threads / 32 * 16;
    const int row = warp_row + thread % 32 / 4;
    const long long matrix_row = static_cast<long long>(instance) * n_q + row;

    ThreadRows rows;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      rows.maximum[half] = minus_infinity;
      rows.sum[half] = 0.0f;
    }
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      rows.o[n][0] = rows.o[n][1] = rows.o[n][2] = rows.o[n][3] = 0.0f;
    }

    const Dropout dropout = dropout_of(instance, keep, seed);
    if (first < end) {
      const float scale_log2 = scale * log2_e;
      // Numbered barriers: 1 .. groups say whose turn it is, the next ones join each group over its rows of Q.
      const int turn = 1 + mine;
      const int next_turn = 1 + (mine + 1) % groups;
      const unsigned my_q = shared_q + mine * 64 * QTile::row_bytes;
      trace_load(thread % warpgroup_threads == 0 && group_row < n_q, Traced::q,
                 static_cast<long long>(instance) * n_q + group_row, min(64, n_q - group_row));
      QTile::copy_rows<64, warpgroup_threads>(my_q, q + (static_cast<long long>(instance) * n_q + group_row) * d,
                                              n_q - group_row, thread % warpgroup_threads);
      commit_copies();
      wait_copies<0>();
      fence_shared_for_products();
      numbered_wait(1 + groups + mine, warpgroup_threads);
      if (take_turns && mine == groups - 1) {
        numbered_arrive(1, 2 * warpgroup_threads);
      }

      const unsigned long long q_rows = panel_descriptor(my_q, 16);
      const unsigned long long k_first = panel_descriptor(shared_k, 16);
      const unsigned long long v_first = panel_descriptor(shared_v, KvTile::panel_bytes);
      const auto softmax = [&](int column) {
        if (!view.whole(warp_row, 16, column, bc)) {
          rows.mask(row, column, view);
        }
        rows.online_softmax(scale_log2);
      };
      const auto pack_scores = [&](int column) {
        rows.pack_scores();
        if constexpr (dropping) {
          drop<bc, bc % 32 == 0>(rows.p, warp_row, column, dropout);
        }
      };

      RingPlace key_at;
      RingPlace value_at;
      keys_ring.wait(key_at);
      pin(rows.s);
      products_begin();
      queue_scores<bc, d, br>(rows.s, q_rows, k_first);
      commit_products();
      wait_products<0>();
      pin(rows.s);
      keys_ring.release(key_at);
      key_at.advance();
      softmax(first);
      pack_scores(first);

      int column = view.next_key_tile<bc>(tile_row, first + bc, end);
#pragma unroll 1
      while (column < end) {
        keys_ring.wait(key_at);
        if (take_turns) {
          numbered_wait(turn, 2 * warpgroup_threads);
        }
        pin(rows.s);
        pin(rows.o);
        pin(rows.p);
        products_begin();
        queue_scores<bc, d, br>(rows.s, q_rows, k_first + key_at.stage * (KvTile::bytes / 16));
        commit_products();
        values_ring.wait(value_at);
        products_begin();
        queue_values<bc, d>(rows.o, rows.p, v_first + value_at.stage * (KvTile::bytes / 16));
        commit_products();
        const int next = view.next_key_tile<bc>(tile_row, column + bc, end);
        if (take_turns && (mine < groups - 1 || next < end)) {  // the last one's last turn has no taker
          numbered_arrive(next_turn, 2 * warpgroup_threads);
        }
        wait_products<1>();
        pin(rows.s);
        keys_ring.release(key_at);
        key_at.advance();
        softmax(column);
        wait_products<0>();
        pin(rows.o);
        pin(rows.p);
        values_ring.release(value_at);
        value_at.advance();
        rows.rescale();
        pack_scores(column);
        column = next;
      }

      values_ring.wait(value_at);
      pin(rows.o);
      pin(rows.p);
      products_begin();
      queue_values<bc, d>(rows.o, rows.p, v_first + value_at.stage * (KvTile::bytes / 16));
      commit_products();
      wait_products<0>();
      pin(rows.o);
    }

#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = quad_sum(rows.sum[half]);
      const float inverse = sum > 0.0f ? (dropping ? dropout.scale : 1.0f) / sum : 0.0f;
      const bool inside = row + half * 8 < n_q;
      unsigned pairs[d / 8];
#pragma unroll
      for (int n = 0; n < d / 8; ++n) {
        pairs[n] = pack(rows.o[n][half * 2] * inverse, rows.o[n][half * 2 + 1] * inverse);
      }
      store_row(o + (matrix_row + half * 8) * d, pairs, d, inside);
      if (inside && thread % 4 == 0) {
        const float maximum = rows.maximum[half] * scale;
        store_float(lse + matrix_row + half * 8, sum > 0.0f ? maximum + __log2f(sum) * ln_2 : minus_infinity);
      }
    }
  }
}

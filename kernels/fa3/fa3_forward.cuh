// SPDX-License-Identifier: Apache-2.0
// FlashAttention-3 forward (arXiv 2407.08608, Algorithms 1 and 2; sm_90a), with the tile program of fa2_forward.cuh:
//
//   for each row tile Q that the block takes:          one atomic per tile; the blocks fill the GPU once
//     P = softmax(Q K_0^T)
//     for the key tiles j = 1, 2, ...:
//       queue S = Q K_j^T, then O += P V_(j-1)          softmax(S) overlaps the product P V
//       P = softmax(S)
//     O += P V_last, then O / l
//
// One thread of warpgroup 0 issues the loads of Q, K and V. Each other warpgroup owns 64 query rows and skips key tiles
// that only rows of other warpgroups see. The warpgroups queue products in turn (ping-pong scheduling), so that the
// softmax of one overlaps the products of another.
//
// With 8-bit operands (ATTN_FP8), Q, K and V are e4m3, V is transposed, and each block of rows has a scale
// (fa3_quantise.cuh). fa3_forward_fp8.cuh has the differences.
//
// Shared memory: Q | ring of K | ring of V (8-bit: with rows of ones) | O, unless it reuses Q's buffer | barriers |
// current row tiles | scales (8-bit).

// Under these masks ptxas serializes the 8-bit products (C7511). With an additional bound it does not, so one is added
// that never takes effect.
#if ATTN_FP8 && ATTN_D == 128 && ATTN_MASK == 2
#define ATTN_GIVEN_MASK 2
#undef ATTN_MASK
#define ATTN_MASK 3
#elif ATTN_FP8 && ATTN_D == 128 && ATTN_MASK == 4
#define ATTN_GIVEN_MASK 4
#undef ATTN_MASK
#define ATTN_MASK 6
#elif ATTN_FP8 && ATTN_D == 128 && ATTN_MASK == 12
#define ATTN_GIVEN_MASK 12
#undef ATTN_MASK
#define ATTN_MASK 14
#else
#define ATTN_GIVEN_MASK ATTN_MASK
#endif
#include "device/attention.cuh"
#include "device/dropout.cuh"
#include "device/global.cuh"
#include "device/head_blocks_shape.h"
#include "device/tensor_copy.cuh"
#include "device/trace.cuh"
#include "device/visibility.cuh"
#include "fa3/fa3_shape.h"

namespace attnscope::fa3 {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;

constexpr int block_threads = threads(br);
constexpr int groups = consumers(br);
#if defined(ATTN_STAGES)
constexpr int ring = stages(br, bc, d, operand_bytes, ATTN_STAGES);
#else
constexpr int ring = stages(br, bc, d, operand_bytes);
#endif
constexpr bool use_turns = groups > 1;
constexpr bool separate_o = fits_separate_o(br, bc, d, operand_bytes, ring);
static_assert(separate_o || !fp8);

template <bool Transposed>
struct ValueTileOf {
  using Tile = PanelTile<bc, d>;
};
template <>
struct ValueTileOf<true> {
  using Tile = PanelTile<d + ones_rows(1), bc, 1>;
};
using QTile = PanelTile<br, d, operand_bytes>;
using KeyTile = PanelTile<bc, d, operand_bytes>;
using ValueTile = ValueTileOf<fp8>::Tile;
using GroupTile = PanelTile<group_rows, d, operand_bytes>;  ///< a warpgroup's part of Q ...
using OutTile = PanelTile<group_rows, d>;                   ///< ... and of O

/// 8-bit scale records per head: one per group_rows rows of Q and one per bc keys of K and V, with the scale and the
/// maximum row norm (not for V).
struct Scales {
  const float4* q;
  const float4* k;
  const float4* v;
};

struct Arguments {
  const TensorMap& q;
  const TensorMap& k;
  const TensorMap& v;
  const TensorMap& o;
  Scales scales;
  float* lse;
  int instances;
  int group;
  int n_q;
  int n_k;
  float scale;
  int heads_q;
  int left;
  int right;
  const int* key_lengths;
  const unsigned char* block_mask;
  int mask_block;
  int keep;
  unsigned seed;
  unsigned* taken;  ///< row tiles taken by blocks beyond their first; 0 before and after the launch

  __device__ __forceinline__ int row_tiles() const { return (n_q + br - 1) / br; }
  __device__ __forceinline__ Visibility view(int instance) const {
    return visibility(padded_keys ? instance / heads_q : 0, n_q, n_k, left, right, key_lengths, block_mask, mask_block);
  }
};

/// Row tile, and the range [first, end) of keys that its rows see; empty if equal.
struct RowTile {
  int instance;  ///< negative after the last tile
  int row;
  int first;
  int end;
};

/// Index in a ring of buffers and the parity of its barrier phase.
struct RingPosition {
  unsigned stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == ring) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// Ring of buffers; barriers signal when a buffer is filled or free.
struct Ring {
  unsigned tiles;
  unsigned barriers;
  unsigned scales;  ///< 8-bit only: 16 bytes per buffer

  __device__ __forceinline__ unsigned filled(unsigned stage) const { return barriers + 16 * stage; }
  __device__ __forceinline__ unsigned freed(unsigned stage) const { return barriers + 16 * stage + 8; }

  __device__ __forceinline__ void init() const {
    for (int stage = 0; stage < ring; ++stage) {
      barrier_init(filled(stage), 1);
      barrier_init(freed(stage), groups * 4);
    }
  }
  /// Issues the load of a Tile from (row, column) once its buffer is free.
  template <class Tile>
  __device__ __forceinline__ void load(RingPosition& at, const TensorMap& map, const float4* scale, int row,
                                       int instance, int column = 0) const {
    barrier_wait(freed(at.stage), at.parity);
    barrier_arrive_expect_tx(filled(at.stage), bc * d * operand_bytes + (fp8 ? 16 : 0));
    if (fp8) {
      load_16_bytes_async(filled(at.stage), scale_of(at), scale);
    }
    load_boxes<Tile>(tiles + at.stage * Tile::bytes, Tile::panel_bytes, map, filled(at.stage), row, instance, column);
    at.advance();
  }
  __device__ __forceinline__ unsigned scale_of(const RingPosition& at) const { return scales + 16 * at.stage; }
  __device__ __forceinline__ void wait(const RingPosition& at) const { barrier_wait(filled(at.stage), at.parity); }
  /// Called by every warp of a warpgroup once its products have read the buffer.
  __device__ __forceinline__ void release(RingPosition& at) const {
    if (threadIdx.x % 32 == 0) {
      barrier_arrive(freed(at.stage));
    }
    at.advance();
  }
};

/// Shared-memory layout. Each warpgroup has separate barriers for its rows of Q, so that none waits for another's last
/// product.
struct Shared {
  unsigned q;
  Ring keys;
  Ring values;
  unsigned o;
  unsigned q_barriers;
  unsigned q_scales;
  RowTile* taken;

  __device__ __forceinline__ explicit Shared(unsigned char* base) {
    q = shared_address(base);
    const unsigned k = q + QTile::bytes;
    const unsigned v = k + ring * KeyTile::bytes;
    const unsigned behind = v + ring * ValueTile::bytes;
    o = separate_o ? behind : q;
    const unsigned barriers = behind + (separate_o ? groups * OutTile::bytes : 0);
    q_barriers = barriers + 32 * ring;
    q_scales = q_barriers + 32 * groups;
    keys = {k, barriers, q_scales + 16 * groups};
    values = {v, barriers + 16 * ring, keys.scales + 16 * ring};
    taken = reinterpret_cast<RowTile*>(base + (q_barriers - q) + 16 * groups);
  }
  __device__ __forceinline__ unsigned q_filled(int of_group) const { return q_barriers + 16 * of_group; }
  __device__ __forceinline__ unsigned q_freed(int of_group) const { return q_barriers + 16 * of_group + 8; }

  __device__ __forceinline__ void init() const {
    keys.init();
    values.init();
    for (int i = 0; i < groups; ++i) {
      barrier_init(q_filled(i), 1);
      barrier_init(q_freed(i), warpgroup_threads);
    }
    fence_barrier_init();
  }
};

#if ATTN_FP8
/// Fills the rows of ones below V in each buffer once; the copies do not overwrite them.
__device__ __forceinline__ void fill_ones(const Shared& shared) {
  constexpr unsigned bytes = ones_rows(1) * ValueTile::row_bytes;
  for (unsigned at = threadIdx.x * 16; at < ring * ValueTile::panels * bytes; at += block_threads * 16) {
    fill_16_bytes(shared.values.tiles + at / bytes * ValueTile::panel_bytes + d * ValueTile::row_bytes + at % bytes,
                  e4m3_ones);
  }
  fence_async_proxy();
}
#endif

/// Announces the row tile to each warpgroup and loads its rows of Q, once the warpgroup has released the previous ones.
__device__ __forceinline__ void announce_tile(const Arguments& a, const Shared& shared, const RowTile& tile,
                                              unsigned parity) {
#pragma unroll 1
  for (int i = 0; i < groups; ++i) {
    barrier_wait(shared.q_freed(i), parity);
    shared.taken[i] = tile;
    if (tile.first < tile.end && tile.row + i * group_rows < a.n_q) {
      barrier_arrive_expect_tx(shared.q_filled(i), GroupTile::bytes + (fp8 ? 16 : 0));
      if (fp8) {
        const int blocks = (a.n_q + group_rows - 1) / group_rows;
        load_16_bytes_async(shared.q_filled(i), shared.q_scales + 16 * i,
                            a.scales.q + tile.instance * blocks + tile.row / group_rows + i);
      }
      // With 8-bit operands and d 128, ptxas serializes the products (C7511) if Q is loaded with a cache policy.
      load_boxes<QTile, !fp8>(shared.q + i * GroupTile::panel_bytes, QTile::panel_bytes, a.q, shared.q_filled(i),
                              tile.row + i * group_rows, tile.instance);
    } else {
      barrier_arrive(shared.q_filled(i));
    }
  }
}

/// Producer thread: takes row tiles until none is left and issues their loads as buffers become free.
__device__ __forceinline__ void produce(const Arguments& a, const Shared& shared) {
  const int row_tiles = a.row_tiles();
  const int tiles = row_tiles * a.instances;
  RingPosition key_at{0, 1};  // waiting on a fresh barrier with the opposite parity returns at once
  RingPosition value_at{0, 1};
  unsigned q_parity = 1;
  int next_taken = 0;
#pragma unroll 1
  for (int taken = static_cast<int>(blockIdx.x); taken < tiles; taken = next_taken, q_parity ^= 1) {
    // atomicInc wraps after as many increments as there are row tiles, so the counter ends at 0.
    next_taken = static_cast<int>(gridDim.x + atomicInc(a.taken, tiles - 1));
#if ATTN_HEADS_FASTEST
    const int instance = taken % a.instances;
    const int row = (last_rows_first ? row_tiles - 1 - taken / a.instances : taken / a.instances) * br;
#else
    const auto place = last_rows_first ? head_block(taken, row_tiles, a.instances, interleaved_heads(a.n_k), true)
                                       : head_block(taken, row_tiles, false);
    const int instance = place.instance;
    const int row = place.tile * br;
#endif
    const Visibility view = a.view(instance);
    const int last_row = min(a.n_q, row + br) - 1;
    const RowTile tile{instance, row, view.first_key_tile<bc>(row, last_row), view.key_end(last_row)};
    const int kv = instance / a.group;
    const int scales_before = kv * ((a.n_k + bc - 1) / bc);
    const auto load_keys = [&](int column) {
      trace_load(true, taken, TraceTarget::k, static_cast<long long>(kv) * a.n_k + column, min(bc, a.n_k - column));
      shared.keys.load<KeyTile>(key_at, a.k, a.scales.k + scales_before + column / bc, column, kv);
    };

    trace_load(tile.first < tile.end, taken, TraceTarget::q, static_cast<long long>(instance) * a.n_q + row,
               last_row - row + 1);
    if (tile.first < tile.end) {
      load_keys(tile.first);
    }
    announce_tile(a, shared, tile, q_parity);
#pragma unroll 1
    for (int column = tile.first; column < tile.end;) {
      const int next = view.next_key_tile<bc>(row, column + bc, tile.end);
      if (next < tile.end) {
        load_keys(next);
      }
      trace_load(true, taken, TraceTarget::v, static_cast<long long>(kv) * a.n_k + column, min(bc, a.n_k - column));
      if constexpr (fp8) {
        shared.values.load<ValueTile>(value_at, a.v, a.scales.v + scales_before + column / bc, 0, kv, column);
      } else {
        shared.values.load<ValueTile>(value_at, a.v, nullptr, column, kv);
      }
      column = next;
    }
  }
  announce_tile(a, shared, {-1, 0, 0, 0}, q_parity);
}

/// Sets scores of keys hidden from a thread's two rows to minus infinity; `row` is the first row.
__device__ __forceinline__ void mask_scores(float (&s)[bc / 8][4], int row, int column, const Visibility& view) {
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

/// State that a consumer warpgroup keeps across row tiles. Multiplier (16-bit or 8-bit) adds the loop over key tiles,
/// Consumer the rest.
template <class Rows>
struct Group {
  const Arguments& a;
  const Shared& shared;
  const int mine;  ///< index of the warpgroup
  RingPosition key_at{};
  RingPosition value_at{};
  Rows rows;

  // Named barriers: 1 .. groups pass the turn, the next `groups` synchronize each warpgroup.
  __device__ __forceinline__ void acquire_turn() const {
    if (use_turns) {
      named_barrier_sync(1 + mine, 2 * warpgroup_threads);
    }
  }
  __device__ __forceinline__ void release_turn() const {
    if (use_turns) {
      named_barrier_arrive(1 + (mine + 1) % groups, 2 * warpgroup_threads);
    }
  }
  __device__ __forceinline__ void join() const { named_barrier_sync(1 + groups + mine, warpgroup_threads); }

  /// Called by every thread, since each has read the row tile.
  __device__ __forceinline__ void release_q() const { barrier_arrive(shared.q_freed(mine)); }
  __device__ __forceinline__ unsigned long long k_tile() const {
    return panel_descriptor<KeyTile::row_bytes>(shared.keys.tiles, 16) + key_at.stage * (KeyTile::bytes / 16);
  }
  __device__ __forceinline__ unsigned long long v_tile() const {
    return panel_descriptor<ValueTile::row_bytes>(shared.values.tiles, fp8 ? 16 : ValueTile::panel_bytes) +
           value_at.stage * (ValueTile::bytes / 16);
  }

  __device__ __forceinline__ void queue_s() {
    pin(rows.s);
    begin_products();
    queue_scores<bc, d, br>(rows.s, panel_descriptor<QTile::row_bytes>(shared.q + mine * GroupTile::panel_bytes, 16),
                            k_tile());
    commit_products();
  }
};

}  // namespace attnscope::fa3

#if ATTN_FP8
#include "fa3/fa3_forward_fp8.cuh"
#else
#include "fa3/fa3_forward_rows.cuh"
#endif

namespace attnscope::fa3 {

struct Consumer : Multiplier {
  /// Multiplies the key tiles that the group's rows see (from the tile's first to before `seen`) and releases the rest
  /// unread. `row` is the group's first row.
  __device__ __forceinline__ void multiply(const RowTile& tile, int row, int seen) {
    const Visibility view = a.view(tile.instance);
    int column = tile.first;
    if (column < seen) {
      column = multiply_seen(tile, row, column, seen);
    } else if (separate_o) {
      release_q();
    }
#pragma unroll 1
    while (column < tile.end) {
      shared.keys.wait(key_at);
      acquire_turn();
      release_turn();
      shared.keys.release(key_at);
      shared.values.wait(value_at);
      shared.values.release(value_at);
      column = view.next_key_tile<bc>(tile.row, column + bc, tile.end);
    }
  }

  /// Stores O / l and LSE of the group's rows from `row`. If O has a separate buffer, the next row tile does not wait
  /// for the bulk store.
  __device__ __forceinline__ void store(int instance, int row) {
    const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
    const int thread_row = row + thread / 32 * 16 + thread % 32 / 4;
    float inverse[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = fp8 ? rows.sum[half] : quad_sum(rows.sum[half]);
      inverse[half] = sum > 0.0f ? (has_dropout ? dropout_of(instance, a.keep, a.seed).scale : 1.0f) / sum : 0.0f;
      if (thread_row + half * 8 < a.n_q && thread % 4 == 0) {
        store_float(a.lse + static_cast<long long>(instance) * a.n_q + thread_row + half * 8,
                    sum > 0.0f ? rows.log_reference(half, a.scale) + __log2f(sum) * ln_2 : minus_infinity);
      }
    }
    if (separate_o && thread == 0) {
      wait_bulk_store_reads();
    }
    join();
    constexpr unsigned stride = separate_o ? OutTile::panel_bytes : QTile::panel_bytes;
    const unsigned o_tile_address = shared.o + mine * (separate_o ? OutTile::bytes : OutTile::panel_bytes);
    unsigned pairs[d / 8][2];
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      pairs[n][0] = pack(rows.o[n][0] * inverse[0], rows.o[n][1] * inverse[0]);
      pairs[n][1] = pack(rows.o[n][2] * inverse[1], rows.o[n][3] * inverse[1]);
    }
    store_panels<OutTile, stride>(o_tile_address + (thread / 32 * 16 + thread % 16) * OutTile::row_bytes, pairs);
    fence_async_proxy();
    join();
    if (thread == 0 && row < a.n_q) {
      store_boxes<OutTile>(a.o, o_tile_address, stride, row, instance);
    }
    if (!separate_o) {
      if (thread == 0) {
        wait_bulk_store_reads();
      }
      join();
      release_q();
    }
    __syncwarp();  // without it the compiler assumes a diverged warp from here on and computes addresses per lane
  }

  __device__ __forceinline__ void run() {
    if (use_turns && mine == groups - 1) {
      release_turn();
    }
    unsigned q_parity = 0;
#pragma unroll 1
    while (true) {
      barrier_wait(shared.q_filled(mine), q_parity);
      q_parity ^= 1;
      const RowTile read = shared.taken[mine];
      // Broadcasts values that are equal in all lanes, so that the compiler keeps addresses in uniform registers.
      const RowTile tile{__shfl_sync(0xffffffffu, read.instance, 0), __shfl_sync(0xffffffffu, read.row, 0),
                         __shfl_sync(0xffffffffu, read.first, 0), __shfl_sync(0xffffffffu, read.end, 0)};
      if (tile.instance < 0) {
        break;
      }
      const int row = tile.row + mine * group_rows;
      rows.clear();
      multiply(tile, row, row < a.n_q ? a.view(tile.instance).key_end(min(a.n_q, row + group_rows) - 1) : 0);
      store(tile.instance, row);
    }
    if (threadIdx.x % warpgroup_threads == 0) {
      wait_bulk_store_reads();
    }
    if (use_turns && mine == 0) {
      acquire_turn();  // waits for the turn that the last warpgroup passed
    }
  }
};

}  // namespace attnscope::fa3

namespace attnscope::fa3 {

/// Maps an unlimited side to a bound that no row reaches, if a mask bit was added above.
__device__ __forceinline__ int bound_of(int side) {
  return ATTN_MASK != ATTN_GIVEN_MASK && side < 0 ? 1 << 30 : side;
}

}  // namespace attnscope::fa3

extern "C" __global__ void __launch_bounds__(attnscope::fa3::block_threads, attnscope::fa3::blocks_per_sm(ATTN_BR))
    attn_fa3_forward(const __grid_constant__ attnscope::device::TensorMap q,
                     const __grid_constant__ attnscope::device::TensorMap k,
                     const __grid_constant__ attnscope::device::TensorMap v,
                     const __grid_constant__ attnscope::device::TensorMap o, const float4* q_scales,
                     const float4* k_scales, const float4* v_scales, float* lse, unsigned* taken, int instances,
                     int group, int n_q, int n_k, float scale, int heads_q, int left, int right, const int* key_lengths,
                     const unsigned char* block_mask, int mask_block, int keep, unsigned seed) {
  using namespace attnscope::fa3;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const Shared shared(shared_bytes);
  const Arguments arguments{q,
                            k,
                            v,
                            o,
                            {q_scales, k_scales, v_scales},
                            lse,
                            instances,
                            group,
                            n_q,
                            n_k,
                            scale,
                            heads_q,
                            bound_of(left),
                            bound_of(right),
                            key_lengths,
                            block_mask,
                            mask_block,
                            keep,
                            seed,
                            taken};
  if (threadIdx.x == 0) {
    shared.init();
    prefetch_tensor_map(q);
    prefetch_tensor_map(k);
    prefetch_tensor_map(v);
    prefetch_tensor_map(o);
  }
#if ATTN_FP8
  fill_ones(shared);
#endif
  __syncthreads();
  if (threadIdx.x < warpgroup_threads) {
    decrease_registers<producer_registers(br, operand_bytes)>();
    if (threadIdx.x == 0) {
      produce(arguments, shared);
    }
  } else {
    increase_registers<consumer_registers(br, operand_bytes)>();
    const int mine = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / warpgroup_threads, 0) - 1;
    Consumer{{{arguments, shared, mine}}}.run();
  }
}

// SPDX-License-Identifier: Apache-2.0
// FlashAttention-3 backward (arXiv 2407.08608, Appendix B.1; sm_90a): one block per K/V tile of each K/V head loops
// over the query tiles that see it, of all query heads that share the head:
//
//   load K_j and V_j, if any query sees them
//   for each query tile i, in ascending order:          Q_i, LSE_i, dO_i and D_i come through rings of buffers
//     S^T = K_j Q_i^T, P^T = exp(S^T - LSE_i);  dV_j += P^T dO_i
//     dS^T = P^T o (V_j dO_i^T - D_i);          dK_j += dS^T Q_i
//     dQ_i += dS K_j, in the fp32 accumulator in global memory
//   store dK_j and dV_j
//
// Shared memory: K | V | dS | ring of Q | ring of dO | LSE and D of their rows | dQ (deterministic only) | barriers |
// first row tile.
//
// The dQ accumulator (cleared and converted by fa3_backward_rows.cuh) has whole tiles, including the last: the counters
// show 4 Br d bytes written per addition and none read. Q and dO are loaded in boxes of whole tiles. LSE and D are
// loaded 32 rows at a time, so a head that does not start at a sector (n_q not a multiple of 8) costs one more sector
// per 32 rows. ATTN_DETERMINISTIC adds polling with 4-byte accesses to `turns`.
//
// In warpgroup 0, one thread issues copies of Q, one of dO, and a warp loads LSE and D. Each other warpgroup owns 64
// keys; its threads keep the first columns of V and K in registers (v_register_columns, k_register_columns). Scores are
// computed transposed, so that dV and dK read P^T and, at d 64, dS^T from registers. dS passes through shared memory
// once, since both warpgroups need it for dQ_i. dQ_i is added from registers; in a deterministic pass, a thread of
// warpgroup 0 adds it from shared memory. Products are queued ahead of independent arithmetic, but none is in flight at
// the loop's back edge, where ptxas would serialize all of them.
#include "device/attention.cuh"
#include "device/dq_accumulator.cuh"
#include "device/global.cuh"
#include "device/head_blocks_shape.h"
#include "device/mma.cuh"
#include "device/tensor_copy.cuh"
#include "device/visibility.cuh"
#include "device/warpgroup.cuh"
#include "fa3/fa3_backward_scores.cuh"
#include "fa3/fa3_backward_shape.h"

namespace attnscope::fa3_backward {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;
#if defined(ATTN_DETERMINISTIC) && ATTN_DETERMINISTIC
constexpr bool deterministic = true;
#else
constexpr bool deterministic = false;
#endif

constexpr int ring = stages;
constexpr int copy_threads = 32;  // for LSE and D
constexpr int consumer_threads = consumers * warpgroup_threads;
static_assert(supported_tile(br, bc, d));
constexpr int halves = br / 64;  // P, dP and dS are computed for 64 queries at a time
// dQ_i is split over the warpgroups by rows if there are 128, else by columns: 64 x 64 each.
constexpr bool split_dq_by_rows = br == 128;
constexpr int dq_floats = 64 * 64 / 4;  // per warp
constexpr unsigned dq_bytes = br * d * 4;
// If dK and dV leave no registers for dS^T, it is read from shared memory.
constexpr bool tight = d == 128;
// In a deterministic pass, blocks add to a tile in launch order, so that none waits for a block that cannot start yet.
// With a right bound the last keys go first, since their blocks reach the tile first; else the first keys do.
constexpr bool last_keys_first = deterministic && bounded_right;
// Earlier key tiles are seen by more rows, so several heads are interleaved, longest tiles first.
constexpr bool interleave_heads = !deterministic && last_rows_first;

using RowTile = PanelTile<br, d>;
using KeyTile = PanelTile<bc, d>;
using ScoreTile = PanelTile<br, bc>;

constexpr float plus_infinity = __builtin_bit_cast(float, 0x7f800000u);

__device__ __forceinline__ int load_shared_int(unsigned address) {
  int value;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}
__device__ __forceinline__ void store_shared(unsigned address, int value) {
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ __forceinline__ void store_shared(unsigned address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}
__device__ __forceinline__ void store_shared_16_bytes(unsigned address, const float (&v)[4]) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
               : "memory");
}
/// Like force_recompute(), for a float. An overload would hide the template and convert integers to float.
__device__ __forceinline__ float read_again(float value) {
  asm volatile("" : "+f"(value));
  return value;
}

/// Ring index and barrier parity of the block's visit number `visit`.
__device__ __forceinline__ unsigned stage_of(unsigned visit) {
  return visit % ring;
}
__device__ __forceinline__ unsigned parity_of(unsigned visit) {
  return visit / ring % 2;
}

struct Arguments {
  const Element* k;
  const Element* v;
  float* dq_acc;
  int* turns;
  int n_q;
  int n_k;
  float scale;
  int left;
  int right;
};

/// Key tile of a block, and the range [first, last) of row tiles that see any of its keys, in each head that shares
/// them.
struct Block {
  int kv_instance;
  int tile;
  int instance;   ///< first query head
  int length;     ///< unpadded keys of the instance
  int row_tiles;  ///< per head
  int first = 0;
  int last = 0;
  int visits;

  __device__ __forceinline__ Block(const HeadBlock<int>& place, int group, int heads_q, const Arguments& a,
                                   const int* key_lengths) {
    kv_instance = place.instance;
    tile = place.tile;
    instance = kv_instance * group;
    row_tiles = (a.n_q + br - 1) / br;
    const Visibility view = visibility(instance / heads_q, a.n_q, a.n_k, a.left, a.right, key_lengths, nullptr, 0);
    length = view.length;
    if (tile * bc < length) {
      const int first_row = view.row_begin(tile * bc);
      const int last_row = view.row_end(tile * bc + bc - 1);
      if (first_row < last_row) {
        first = first_row / br;
        last = (last_row + br - 1) / br;
      }
    }
    visits = group * (last - first);
  }
  /// Number of blocks that add to a row tile before this one.
  __device__ __forceinline__ int turn(const Arguments& a, int row_tile) const {
    const int first_key = row_tile * br + length - a.n_q;  // on the tile's first diagonal
    return last_keys_first ? (min(length, min(first_key + br, length) + a.right) - 1) / bc - tile
                           : tile - (bounded_left ? max(0, (first_key - a.left) / bc) : 0);
  }
};

/// Iterates over the row tiles of a block's visits, one head after another.
struct Walk {
  const Arguments& a;
  const Block& block;
  const unsigned first_address;  ///< shared address of Block::first, for which no register is left
  int instance;
  int tile;

  __device__ __forceinline__ Walk(const Arguments& arguments, const Block& of, unsigned first_in_shared)
      : a(arguments), block(of), first_address(first_in_shared), instance(of.instance), tile(of.first) {}
  __device__ __forceinline__ void advance() {
    if (++tile == (bounded_left ? block.last : (a.n_q + br - 1) / br)) {
      tile = load_shared_int(first_address);
      ++instance;
    }
  }
};

/// Ring of row tiles of Q with LSE, or of dO with D. Threads that store or read shared memory all arrive themselves:
/// one arrival per warp after __syncwarp would suffice and is no faster, but compute-sanitizer does not recognize the
/// ordering.
struct Ring {
  unsigned tiles;
  unsigned numbers;
  unsigned barriers;

  __device__ __forceinline__ unsigned tile(unsigned stage) const { return tiles + stage * RowTile::bytes; }
  __device__ __forceinline__ unsigned number(unsigned stage) const { return numbers + stage * br * 4; }
  __device__ __forceinline__ unsigned filled(unsigned stage) const { return barriers + 16 * stage; }
  __device__ __forceinline__ unsigned freed(unsigned stage) const { return barriers + 16 * stage + 8; }

  __device__ __forceinline__ void init() const {
    for (int stage = 0; stage < ring; ++stage) {
      barrier_init(filled(stage), 1 + copy_threads);
      barrier_init(freed(stage), consumer_threads);
    }
  }

  /// Issues copies of the visited tiles as buffers become free; called by one thread.
  __device__ __forceinline__ void fill(const TensorMap& map, Walk walk, int visits) const {
#pragma unroll 1
    for (unsigned at = 0; static_cast<int>(at) < visits; ++at, walk.advance()) {
      wait_freed(at);
      barrier_arrive_expect_tx(filled(stage_of(at)), RowTile::bytes);
      load_boxes<RowTile>(tile(stage_of(at)), RowTile::panel_bytes, map, filled(stage_of(at)), walk.tile * br,
                          walk.instance);
    }
  }

  __device__ __forceinline__ void wait_freed(unsigned visit) const {
    // Waiting on a fresh barrier with the opposite parity returns at once.
    barrier_wait(freed(stage_of(visit)), parity_of(visit) ^ 1);
  }
  __device__ __forceinline__ void wait(unsigned visit) const {
    barrier_wait(filled(stage_of(visit)), parity_of(visit));
  }
  /// Called by every consumer once it and its products have read the buffer.
  __device__ __forceinline__ void release(unsigned visit) const {
    barrier_arrive(freed(stage_of(visit)));
  }
};

/// Loads LSE and D of the visited tiles, like Ring::fill for the tiles. LSE becomes the term subtracted in exp2's
/// argument; it is infinite for rows that see no key or do not exist, so that their P is 0.
__device__ __forceinline__ void load_row_statistics(const Ring& q_ring, const Ring& dout_ring, const float* lse,
                                                    const float* delta, Walk walk, int visits, int n_q, int lane) {
#pragma unroll 1
  for (unsigned at = 0; static_cast<int>(at) < visits; ++at, walk.advance()) {
    q_ring.wait_freed(at);
    dout_ring.wait_freed(at);
    const int first = walk.tile * br + lane;
    const int rows_before = walk.instance * n_q;  // fits in int for any GPU memory
    float number[br / 32];
    float sum[br / 32];
#pragma unroll
    for (int i = 0; i < br / 32; ++i) {
      const bool inside = first + i * 32 < n_q;
      number[i] = inside ? load_float(lse + (rows_before + first) + i * 32) : minus_infinity;
      sum[i] = inside ? load_float(delta + (rows_before + first) + i * 32) : 0.0f;
    }
    const unsigned place = (stage_of(at) * br + lane) * 4;
#pragma unroll
    for (int i = 0; i < br / 32; ++i) {
      store_shared(q_ring.numbers + place + i * 128, number[i] == minus_infinity ? plus_infinity : number[i] * log2_e);
      store_shared(dout_ring.numbers + place + i * 128, sum[i]);
    }
    barrier_arrive(q_ring.filled(stage_of(at)));
    barrier_arrive(dout_ring.filled(stage_of(at)));
  }
}

__device__ __forceinline__ void store_gradient(Element* rows, const float (&gradient)[d / 8][4], float scale, int key,
                                               int n_k) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    unsigned pairs[d / 8];
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      pairs[n] = pack(gradient[n][half * 2] * scale, gradient[n][half * 2 + 1] * scale);
    }
    store_row(rows + static_cast<long long>(key + half * 8) * d, pairs, d, key + half * 8 < n_k);
  }
}

/// Adds contiguous floats in shared memory to global memory with a bulk reduction.
__device__ __forceinline__ void add_bulk(float* global, unsigned shared, unsigned bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;\n"
      "cp.async.bulk.commit_group;" ::"l"(global),
      "r"(shared), "r"(bytes)
      : "memory");
}

__device__ __forceinline__ HeadBlock<int> place_of(int block, int key_tiles, int kv_instances, int n_k) {
  return interleave_heads ? head_block(block, key_tiles, kv_instances, interleaved_heads(n_k), false)
                          : head_block(block, key_tiles, last_keys_first);
}

/// Waits until `before` blocks have added to a tile of the accumulator, as counted in `turn`; orders the following bulk
/// reduction after them.
__device__ __forceinline__ void wait_turn(const int* turn, int before) {
  int count;
  do {
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(count) : "l"(turn) : "memory");
  } while (count < before);
  asm volatile("fence.proxy.async.global;" ::: "memory");
}
/// Increments `turn` once this thread's bulk reductions are complete.
__device__ __forceinline__ void release_turn(int* turn) {
  asm volatile(
      "cp.async.bulk.wait_group 0;\n"
      "fence.proxy.async.global;\n"
      "fence.acq_rel.gpu;\n"
      "red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turn)
      : "memory");
}

struct Shared {
  unsigned k;
  unsigned v;
  unsigned ds;
  Ring q;
  Ring dout;
  unsigned dq;  ///< deterministic only
  unsigned ds_barriers;
  unsigned dq_barriers;
  unsigned first;  ///< address of Block::first

  __device__ __forceinline__ explicit Shared(unsigned base) {
    k = base;
    v = k + KeyTile::bytes;
    ds = v + KeyTile::bytes;
    const unsigned q_tiles = ds + ds_buffers * ScoreTile::bytes;
    const unsigned dout_tiles = q_tiles + ring * RowTile::bytes;
    const unsigned q_numbers = dout_tiles + ring * RowTile::bytes;
    const unsigned dout_numbers = q_numbers + ring * br * 4;
    dq = dout_numbers + ring * br * 4;
    const unsigned barriers = dq + (deterministic ? dq_buffers * dq_bytes : 0);
    q = {q_tiles, q_numbers, barriers};
    dout = {dout_tiles, dout_numbers, barriers + 16 * ring};
    ds_barriers = barriers + 32 * ring;
    dq_barriers = ds_barriers + 8 * ds_buffers;
    first = dq_barriers + 16 * dq_buffers;
  }
  __device__ __forceinline__ unsigned ds_of(unsigned visit) const { return ds + visit % ds_buffers * ScoreTile::bytes; }
  __device__ __forceinline__ unsigned dq_of(unsigned visit) const { return dq + visit % dq_buffers * dq_bytes; }
  __device__ __forceinline__ unsigned ds_written(unsigned visit) const {
    return ds_barriers + 8 * (visit % ds_buffers);
  }
  __device__ __forceinline__ unsigned dq_written(unsigned visit) const {
    return dq_barriers + 16 * (visit % dq_buffers);
  }
  __device__ __forceinline__ unsigned dq_sent(unsigned visit) const { return dq_written(visit) + 8; }

  __device__ __forceinline__ void init() const {
    q.init();
    dout.init();
    for (int i = 0; i < ds_buffers; ++i) {
      barrier_init(ds_written(i), consumers * 4);
    }
    for (int i = 0; i < dq_buffers; ++i) {
      barrier_init(dq_written(i), consumers * 4);
      barrier_init(dq_sent(i), 1);
    }
    fence_barrier_init();
  }
};

/// Adds dQ of each visit to the accumulator in the block's turn. Runs in a separate thread, so that no product waits
/// for the reduction or for a turn.
__device__ __forceinline__ void add_dq_in_order(const Arguments& a, const Shared& shared, const Block& block) {
  Walk walk(a, block, shared.first);
#pragma unroll 1
  for (unsigned at = 0; static_cast<int>(at) < block.visits; ++at, walk.advance()) {
    const int tile = walk.instance * block.row_tiles + walk.tile;
    barrier_wait(shared.dq_written(at), at / dq_buffers % 2);
    wait_turn(a.turns + tile, block.turn(a, walk.tile));
    add_bulk(a.dq_acc + static_cast<long long>(tile) * (br * d), shared.dq_of(at), dq_bytes);
    wait_bulk_store_reads();
    barrier_arrive(shared.dq_sent(at));
    release_turn(a.turns + tile);
  }
}

struct Consumer {
  const Arguments& a;
  const Shared& shared;
  const Block& block;
  const int mine;  ///< index of the warpgroup
  /// first key of the warp, numbered so that the last key is n_q - 1 (query i is aligned with key i)
  const int warp_key;
  Walk walk;
  unsigned at = 0;  ///< visit number
  float dk[d / 8][4];
  float dv[d / 8][4];
  float s[br / 8][4];
  float dp[8][4];
  float dq[8][4];
  unsigned k[4][4];  ///< first k_register_columns(d) columns of its 64 keys
  unsigned v[4][4];
  unsigned p[8][2];
  unsigned ds[8][2];

  // Recomputed at each use: the loop has no registers to keep them in.
  __device__ __forceinline__ static int thread() {
    return force_recompute(static_cast<int>(threadIdx.x)) - warpgroup_threads;
  }
  __device__ __forceinline__ static unsigned statistics_offset(int half) { return half * 256 + thread() % 4 * 8; }
  __device__ __forceinline__ unsigned ds_store_address(int half) const {
    const int now = thread();
    return shared.ds_of(at) + half * 64 * ScoreTile::row_bytes + now / warpgroup_threads * ScoreTile::panel_bytes +
           (now / 16 % 2 * 8 + now % 8) * 128 + (((now / 32 % 4 * 2 + now / 8 % 2) ^ (now % 8)) << 4);
  }
  __device__ __forceinline__ static unsigned half_tile(const Ring& of, unsigned visit, int half) {
    return of.tile(stage_of(visit)) + half * 64 * RowTile::row_bytes;
  }

  __device__ __forceinline__ void queue_s(unsigned visit) {
    begin_products();
    queue_new_scores<br, d, bc, k_register_columns(d) / 16>(
        s, k, panel_descriptor(shared.k + mine * (64 * KeyTile::row_bytes), 16),
        panel_descriptor(shared.q.tile(stage_of(visit)), 16));
    commit_products();
  }
  __device__ __forceinline__ void queue_dp(int half) {
    begin_products();
    queue_new_scores<64, d, bc, v_register_columns(d) / 16>(
        dp, v, panel_descriptor(shared.v + mine * (64 * KeyTile::row_bytes), 16),
        panel_descriptor(half_tile(shared.dout, at, half), 16));
    commit_products();
  }
  __device__ __forceinline__ void queue_dv(int half) {
    pin(dv);
    pin(p);
    begin_products();
    queue_values<64, d>(dv, p, panel_descriptor(half_tile(shared.dout, at, half), RowTile::panel_bytes));
    commit_products();
  }
  __device__ __forceinline__ void queue_dk(int half) {
    const unsigned long long right = panel_descriptor(half_tile(shared.q, at, half), RowTile::panel_bytes);
    pin(dk);
    if constexpr (tight) {
      begin_products();
      queue_transposed<br, d>(dk, panel_descriptor(shared.ds_of(at) + mine * ScoreTile::panel_bytes, 16), right);
    } else {
      pin(ds);
      begin_products();
      queue_values<64, d>(dk, ds, right);
    }
    commit_products();
  }
  __device__ __forceinline__ void queue_dq() {
    begin_products();
    queue_columns<64, bc, br, d>(
        dq, panel_descriptor(shared.ds_of(at) + (split_dq_by_rows ? mine * (64 * ScoreTile::row_bytes) : 0), 16),
        panel_descriptor(shared.k + (split_dq_by_rows ? 0 : mine * KeyTile::panel_bytes), 16));
    commit_products();
  }
  /// Queues S of the next visit, or commits an empty group.
  __device__ __forceinline__ void queue_next_s() {
    if (static_cast<int>(at) + 1 < block.visits) {
      shared.q.wait(at + 1);
      queue_s(at + 1);
    } else {
      begin_products();
      commit_products();
    }
  }

  __device__ __forceinline__ void exponentiate(int half) {
    const int first = walk.tile * br + half * 64;
    const int aligned = warp_key - first;
    if (warp_key + 16 > a.n_q || (bounded_right && aligned + 15 > a.right) || (bounded_left && aligned + a.left < 63)) {
      mask_scores(s + half * 8, warp_key + thread() % 32 / 4, first, a.n_q, a.left, a.right);
    }
    exponentials(s + half * 8, p, shared.q.number(stage_of(at)) + statistics_offset(half),
                 read_again(a.scale) * log2_e);
  }
  __device__ __forceinline__ void differentiate(int half) {
    pin(dp);
    score_gradients(ds, s + half * 8, dp, shared.dout.number(stage_of(at)) + statistics_offset(half),
                    ds_store_address(half));
  }

  /// Loads 16 Held columns of the group's keys or values as left operand.
  template <int Held>
  __device__ __forceinline__ static void hold(unsigned (&rows)[4][4], unsigned tile) {
    const int row = thread() / 32 * 16 + thread() % 16;
#pragma unroll
    for (int step = 0; step < Held; ++step) {
      load_matrices(rows[step],
                    tile + row * KeyTile::row_bytes + KeyTile::place(row % 8, step * 2 + thread() % 32 / 16));
    }
  }
  /// Adds dQ of the visit in accumulator order, one contiguous part per warp.
  __device__ __forceinline__ void send_dq() {
    pin(dq);
    const int now = thread();
    const int part = split_dq_by_rows ? now / 32 : now / 32 % 4 * 2 + now / warpgroup_threads;
    if constexpr (deterministic) {
      const unsigned place = shared.dq_of(at) + part * (dq_floats * 4) + now % 32 * 16;
      barrier_wait(shared.dq_sent(at), at / dq_buffers % 2 ^ 1);
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        store_shared_16_bytes(place + n * 512, dq[n]);
      }
      fence_async_proxy();
      __syncwarp();
      if (now % 32 == 0) {
        barrier_arrive(shared.dq_written(at));
      }
    } else {
      float* const place =
          a.dq_acc + static_cast<long long>(walk.instance * block.row_tiles + walk.tile) * (br * d) + part * dq_floats;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        AccumulatorLane::add(place + n * 128, now % 32, dq[n][0], dq[n][1], dq[n][2], dq[n][3]);
      }
    }
  }

  /// Computes P and dS of the visit's rows and writes dS to shared memory. Queues dV and, if dK reads dS from
  /// registers, dK of all but the last 64 rows.
  __device__ __forceinline__ void compute_scores() {
    shared.dout.wait(at);
    queue_dp(0);
    exponentiate(0);
    queue_dv(0);
    wait_products<1>();  // dP
    differentiate(0);
    if constexpr (halves == 2) {
      queue_dp(1);
      queue_dk(0);
      wait_products<2>();  // dV
      pin(dv);
      pin(p);
      exponentiate(1);
      queue_dv(1);
      wait_products<1>();  // dP, dK
      pin(dk);
      pin(ds);
      differentiate(1);
    }
    fence_async_proxy();
    __syncwarp();
    if (thread() % 32 == 0) {
      barrier_arrive(shared.ds_written(at));
    }
  }
  /// Computes dQ and dK of the visit and S of the next one; dQ is sent while S is computed.
  __device__ __forceinline__ void compute_gradients() {
    // This barrier also implies that both warpgroups have finished reading the dS of two tiles before.
    barrier_wait(shared.ds_written(at), at / ds_buffers % 2);
    queue_dq();
    queue_dk(halves - 1);
    wait_products<2>();  // dV
    pin(dv);
    pin(p);
    shared.dout.release(at);
    queue_next_s();
    wait_products<2>();  // dQ
    send_dq();
    wait_products<0>();  // dK, S
    pin(dk);
    if constexpr (!tight) {
      pin(ds);
    }
    pin(s);
    shared.q.release(at);
  }

  __device__ __forceinline__ void run() {
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      dk[n][0] = dk[n][1] = dk[n][2] = dk[n][3] = 0.0f;
      dv[n][0] = dv[n][1] = dv[n][2] = dv[n][3] = 0.0f;
    }
    if (block.visits == 0) {
      return;
    }
    const int tile_key = block.tile * bc;
    const long long first = (static_cast<long long>(block.kv_instance) * a.n_k + tile_key) * d;
    KeyTile::copy_rows<bc, consumer_threads>(shared.k, a.k + first, block.length - tile_key, thread());
    commit_copies();
    KeyTile::copy_rows<bc, consumer_threads>(shared.v, a.v + first, block.length - tile_key, thread());
    commit_copies();
    wait_copies<1>();  // K, for the first scores
    fence_async_proxy();
    named_barrier_sync(1, consumer_threads);
    hold<k_register_columns(d) / 16>(k, shared.k);
    shared.q.wait(0);
    queue_s(0);
    wait_copies<0>();
    fence_async_proxy();
    named_barrier_sync(1, consumer_threads);
    hold<v_register_columns(d) / 16>(v, shared.v);
    wait_products<0>();
    pin(s);
#pragma unroll 1
    while (true) {
      compute_scores();
      compute_gradients();
      walk.advance();
      if (static_cast<int>(++at) == block.visits) {
        break;
      }
    }
  }
};

}  // namespace attnscope::fa3_backward

extern "C" __global__ void __launch_bounds__(attnscope::fa3_backward::threads, 1)
    attn_fa3_backward(const __grid_constant__ attnscope::device::TensorMap q, const unsigned short* k,
                      const unsigned short* v, const __grid_constant__ attnscope::device::TensorMap dout,
                      const float* lse, const float* delta, float* dq_acc, unsigned short* dk, unsigned short* dv,
                      int* turns, int instances, int group, int n_q, int n_k, float scale, int heads_q, int left,
                      int right, const int* key_lengths, const unsigned char* block_mask, int mask_block, int keep,
                      unsigned seed) {
  using namespace attnscope::fa3_backward;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const Shared shared(shared_address(shared_bytes));
  const Arguments arguments{k, v, dq_acc, turns, n_q, n_k, scale, left, right};
  const int key_tiles = (n_k + bc - 1) / bc;
  const Block block(place_of(static_cast<int>(blockIdx.x), key_tiles, instances / group, n_k), group, heads_q,
                    arguments, key_lengths);

  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    shared.init();
    store_shared(shared.first, block.first);
  }
  __syncthreads();

  if (thread < warpgroup_threads) {
    decrease_registers<producer_registers>();
    const Walk walk(arguments, block, shared.first);
    if (thread == 0) {
      shared.q.fill(q, walk, block.visits);
    } else if (thread == 32) {
      shared.dout.fill(dout, walk, block.visits);
    } else if (thread / 32 == 2) {
      load_row_statistics(shared.q, shared.dout, lse, delta, walk, block.visits, n_q, thread % 32);
    } else if (deterministic && thread == 96) {
      add_dq_in_order(arguments, shared, block);
    }
  } else {
    increase_registers<consumer_registers>();
    const int mine = __shfl_sync(0xffffffffu, thread / warpgroup_threads, 0) - 1;
    const int warp = thread % warpgroup_threads / 32;
    Consumer consumer{arguments,
                      shared,
                      block,
                      mine,
                      block.tile * bc + mine * 64 + warp * 16 - (block.length - n_q),
                      Walk(arguments, block, shared.first)};
    consumer.run();

    const auto now = place_of(force_recompute(static_cast<int>(blockIdx.x)), key_tiles, instances / group, n_k);
    const int key = now.tile * bc + Consumer::thread() / 32 * 16 + Consumer::thread() % 32 / 4;
    const long long first = static_cast<long long>(now.instance) * n_k * d;
    store_gradient(dv + first, consumer.dv, 1.0f, key, n_k);
    store_gradient(dk + first, consumer.dk, scale, key, n_k);
  }
}

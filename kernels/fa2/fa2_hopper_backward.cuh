// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 backward (arXiv 2307.08691, Algorithm 2) for Hopper (sm_90a): one block for each K/V tile of each
// K/V head; it walks the query tiles that see the tile, of all query heads that share the head.
//
// Tile program of a block: K_j and V_j once; for each query tile i in ascending order Q_i, LSE_i, dO_i, D_i are loaded
// and the tile's share of dQ_i is added to an accumulator in global memory; dK_j and dV_j are stored at the end.
// The accumulator holds whole tiles (Br rows, also the last one) in the order in which the threads hold them.
//
// Warpgroup 0 loads Q with LSE (two warps) and dO with D (the other two) into rings of buffers; each other warpgroup
// owns 64 keys. Scores are computed transposed, so that P^T and dS^T are in registers what dV += P^T dO and
// dK += dS^T Q read; dS goes through shared memory once, where both warpgroups need it for dQ_i = dS K. Products are
// queued ahead of the arithmetic they do not depend on: S of tile i + 1 and dK of tile i run while dQ_i is written out,
// dP under the exponentials.
#include "device/attention.cuh"
#include "device/global.cuh"
#include "device/warpgroup.cuh"
#include "fa2/fa2_hopper_backward_shape.h"

namespace attnscope::fa2_hopper_backward {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;
constexpr bool bound_right = (ATTN_MASK & 1) != 0;
constexpr bool bound_left = (ATTN_MASK & 2) != 0;
constexpr bool given_lengths = (ATTN_MASK & 4) != 0;
#if defined(ATTN_DETERMINISTIC) && ATTN_DETERMINISTIC
constexpr bool in_turns = true;
#else
constexpr bool in_turns = false;
#endif

constexpr int ring = stages;
constexpr int copy_threads = 64;  // of Q; and as many of dO
constexpr int consumer_threads = consumers * warpgroup_threads;
static_assert(supported_tile(br, bc, d));
constexpr int halves = br / 64;  // scores are computed for 64 queries at a time
// dQ_i is shared out by rows where there are 128, else by columns: 64 x 64 for each warpgroup.
constexpr bool dq_by_rows = br == 128;
constexpr int dq_floats = 64 * 64 / 4;  // of each warp
// Where dK and dV leave no registers for dS^T, it is read from shared memory, and dQ_i is written out at once.
constexpr bool tight = d == 128;
// In turns, blocks add to a tile in the order of their launch, so that none waits for one that cannot start yet. Under
// a right bound the last keys, whose blocks begin nearest to the tile, go first; else the first keys do.
constexpr bool last_keys_first = in_turns && bound_right;

using RowTile = PanelTile<br, d>;
using KeyTile = PanelTile<bc, d>;
using ScoreTile = PanelTile<br, bc>;

constexpr float plus_infinity = __builtin_bit_cast(float, 0x7f800000u);

__device__ __forceinline__ void store_shared(unsigned address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}
__device__ __forceinline__ float2 load_shared_pair(unsigned address) {
  float2 pair;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(pair.x), "=f"(pair.y) : "r"(address) : "memory");
  return pair;
}
/// Four 8 x 8 matrices of 16-bit elements, transposed; lane l passes the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void store_matrices_transposed(unsigned address, unsigned r0, unsigned r1, unsigned r2,
                                                          unsigned r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r0),
               "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}
__device__ __forceinline__ void store_shared_16_bytes(unsigned address, const float (&v)[4]) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
               : "memory");
}
/// As recomputed() of whole numbers.
__device__ __forceinline__ float recomputed(float value) {
  asm volatile("" : "+f"(value));
  return value;
}

/// Place in a ring of buffers of the block's visit number `visit`, and the parity of the barrier phase that goes with
/// it.
__device__ __forceinline__ unsigned stage_of(unsigned visit) {
  return visit % ring;
}
__device__ __forceinline__ unsigned parity_of(unsigned visit) {
  return visit / ring % 2;
}

/// The tiles [first, last) of query rows that a block visits, in each of `heads` heads.
struct Visit {
  int heads;
  int first;
  int last;
};

/// One of the rings: tiles of rows, and a number for each row.
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
      barrier_init(filled(stage), copy_threads / 32);
      barrier_init(freed(stage), consumers * 4);
    }
  }

  /// Copies the visited tiles and numbers as buffers become free. LSE turns into what exp2's argument lacks, infinite
  /// for rows that see no key or do not exist: their P is 0. Written for few registers: `rows` and `row_numbers` are
  /// the first visited tile's, `inside` the rows that the head has from there on.
  template <bool Lse>
  __device__ __forceinline__ void fill(const Element* rows, const float* row_numbers, int visits, int visits_of_head,
                                       int inside, int skipped, int thread) const {
    constexpr int at_once = copy_threads / 8;
    const unsigned place = thread / 8 * RowTile::row_bytes + ((thread % 8 ^ thread / 8 % 8) << 4);
    rows += thread / 8 * d + thread % 8 * 8;
    row_numbers += thread;
    int left = inside;
#pragma unroll 1
    for (unsigned at = 0; static_cast<int>(at) < visits; ++at) {
      barrier_wait(freed(stage_of(at)), parity_of(at) ^ 1);  // a fresh barrier lets the parity before its first pass
      float value[br / copy_threads];
#pragma unroll
      for (int i = 0; i < br / copy_threads; ++i) {
        value[i] = Lse ? minus_infinity : 0.0f;
        if (i * copy_threads + thread < left) {
          value[i] = load_float(row_numbers + i * copy_threads);
        }
      }
#pragma unroll
      for (int first = 0; first < br; first += at_once) {
        const bool exists = thread / 8 < left - first;
#pragma unroll
        for (int panel = 0; panel < d / 64; ++panel) {
          copy_async(tile(stage_of(at)) + place + panel * RowTile::panel_bytes + first * RowTile::row_bytes,
                     rows + first * d + panel * 64, exists);
        }
      }
      commit_copies();
#pragma unroll
      for (int i = 0; i < br / copy_threads; ++i) {
        if (Lse) {
          value[i] = value[i] == minus_infinity ? plus_infinity : value[i] * log2_e;
        }
        store_shared(number(stage_of(at)) + (i * copy_threads + thread) * 4, value[i]);
      }
      wait_copies<0>();
      fence_shared_for_products();
      __syncwarp();
      if (thread % 32 == 0) {
        barrier_arrive(filled(stage_of(at)));
      }
      rows += br * d;
      row_numbers += br;
      left -= br;
      if (left <= inside - visits_of_head * br) {  // on to the next head
        left = inside;
        rows += skipped * d;
        row_numbers += skipped;
      }
    }
  }

  __device__ __forceinline__ void wait(unsigned visit) const {
    barrier_wait(filled(stage_of(visit)), parity_of(visit));
  }
  /// Every warp of a warpgroup calls it once its products have read the buffer.
  __device__ __forceinline__ void release(unsigned visit) const {
    if (threadIdx.x % 32 == 0) {
      barrier_arrive(freed(stage_of(visit)));
    }
  }
};

/// Descriptor of an operand, built where it is used: kept across the loop, descriptors would cost the registers that
/// the accumulators need.
__device__ __forceinline__ unsigned long long operand(unsigned address, unsigned leading) {
  return panel_descriptor(recomputed(address), leading);
}

// A thread holds two keys, g and g + 8 of its warp's 16, of the transposed scores against 64 queries.

/// Scores that do not exist: of keys beyond the last, and of queries outside what the mask lets see the key. Keys are
/// counted so that the last one is n_q - 1, `row` is the first of the queries.
__device__ __forceinline__ void mask_scores(float (&s)[8][4], int key, int row, int n_q, int left, int right) {
  const int column = row + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int on_diagonal = key + half * 8 - column;
    int first = bound_right ? on_diagonal - right : 0;
    if (key + half * 8 >= n_q) {
      first = 64;
    }
    const int last = on_diagonal + left;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (n * 8 + e < first || (bound_left && n * 8 + e > last)) {
          s[n][half * 2 + e] = minus_infinity;
        }
      }
    }
  }
}

/// s = P^T = exp(scale s - LSE), and the same packed; `numbers` is the address of this thread's first LSE, `scale` in
/// units of log2(e).
__device__ __forceinline__ void exponentials(float (&s)[8][4], unsigned (&p)[8][2], unsigned numbers, float scale) {
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    const float2 lse = load_shared_pair(numbers + n * 32);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      s[n][half * 2] = exp2_fast(s[n][half * 2] * scale - lse.x);
      s[n][half * 2 + 1] = exp2_fast(s[n][half * 2 + 1] * scale - lse.y);
      p[n][half] = pack(s[n][half * 2], s[n][half * 2 + 1]);
    }
  }
}

/// ds = P^T o (dP^T - D), packed.
__device__ __forceinline__ void score_gradients(unsigned (&ds)[8][2], const float (&p)[8][4], const float (&dp)[8][4],
                                                unsigned numbers) {
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    const float2 delta = load_shared_pair(numbers + n * 32);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      ds[n][half] =
          pack(p[n][half * 2] * (dp[n][half * 2] - delta.x), p[n][half * 2 + 1] * (dp[n][half * 2 + 1] - delta.y));
    }
  }
}

/// Stores 64 keys' rows of an accumulator, times `scale`.
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

/// Adds contiguous floats in shared memory, which this thread's warp has written, to global memory, by the copy engine.
__device__ __forceinline__ void add_bulk(float* global, unsigned shared, unsigned bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;\n"
      "cp.async.bulk.commit_group;" ::"l"(global),
      "r"(shared), "r"(bytes)
      : "memory");
}
/// Waits until the copy engine has read what this thread gave it.
__device__ __forceinline__ void wait_bulk_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/// The K/V tile of a block.
__device__ __forceinline__ int key_tile(int block, int key_tiles) {
  return last_keys_first ? key_tiles - 1 - block % key_tiles : block % key_tiles;
}

/// Waits until the blocks before have added to a tile of the accumulator, whose warps count in `turn`; then the copy
/// engine may follow.
__device__ __forceinline__ void wait_turn(const int* turn, int before) {
  int count;
  do {
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(count) : "l"(turn) : "memory");
  } while (count < before);
  asm volatile("fence.proxy.async.global;" ::: "memory");
}
/// Passes the turn once what this thread gave the copy engine has been added.
__device__ __forceinline__ void pass_turn(int* turn) {
  asm volatile(
      "cp.async.bulk.wait_group 0;\n"
      "fence.proxy.async.global;\n"
      "fence.acq_rel.gpu;\n"
      "red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turn)
      : "memory");
}

}  // namespace attnscope::fa2_hopper_backward

extern "C" __global__ void __launch_bounds__(attnscope::fa2_hopper_backward::threads, 1)
    attn_fa2_backward(const unsigned short* q, const unsigned short* k, const unsigned short* v,
                      const unsigned short* dout, const float* lse, const float* delta, float* dq_acc,
                      unsigned short* dk, unsigned short* dv, int* turns, int instances, int group, int n_q, int n_k,
                      float scale, int heads_q, int left, int right, const int* key_lengths,
                      const unsigned char* block_mask, int mask_block, int keep, unsigned seed) {
  using namespace attnscope::fa2_hopper_backward;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned shared_k = shared_address(shared);
  const unsigned shared_v = shared_k + KeyTile::bytes;
  const unsigned shared_ds = shared_v + KeyTile::bytes;
  const unsigned shared_q = shared_ds + ds_buffers * ScoreTile::bytes;
  const unsigned shared_dout = shared_q + ring * RowTile::bytes;
  const unsigned shared_lse = shared_dout + ring * RowTile::bytes;
  const unsigned shared_delta = shared_lse + ring * br * 4;
  const unsigned shared_dq = shared_delta + ring * br * 4;
  const unsigned barriers = shared_dq + br * d * 4;
  const Ring q_ring{shared_q, shared_lse, barriers};
  const Ring dout_ring{shared_dout, shared_delta, barriers + 16 * ring};
  const unsigned ds_written = barriers + 32 * ring;

  const int key_tiles = (n_k + bc - 1) / bc;
  const int row_tiles = (n_q + br - 1) / br;
  const int kv_instance = static_cast<int>(blockIdx.x) / key_tiles;
  const int tile = key_tile(static_cast<int>(blockIdx.x), key_tiles);
  const int tile_key = tile * bc;
  const int instance = kv_instance * group;  // the first of the query heads
  const int length = given_lengths ? key_lengths[instance / heads_q] : n_k;
  const int diagonal = length - n_q;

  // Query rows that see any key of the tile.
  int first_row = 0;
  int last_row = n_q;
  if (bound_right) {
    first_row = max(0, tile_key - diagonal - right);
  }
  if (bound_left) {
    last_row = min(n_q, min(tile_key + bc, length) - diagonal + left);
  }
  Visit visit{group, first_row / br, (last_row + br - 1) / br};
  if (tile_key >= length || first_row >= last_row) {
    visit.first = visit.last = 0;
  }
  const int visits = visit.heads * (visit.last - visit.first);

  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    q_ring.init();
    dout_ring.init();
    for (int i = 0; i < ds_buffers; ++i) {
      barrier_init(ds_written + 8 * i, consumers * 4);
    }
  }
  __syncthreads();

  if (thread < warpgroup_threads) {
    give_registers<producer_registers>();
    const int before = visit.first * br;
    const int skipped = n_q - (visit.last - visit.first) * br;  // from the last visited row to the next head's first
    const long long first = static_cast<long long>(instance) * n_q + before;
    if (thread < copy_threads) {
      q_ring.fill<true>(q + first * d, lse + first, visits, visit.last - visit.first, n_q - before, skipped, thread);
    } else {
      dout_ring.fill<false>(dout + first * d, delta + first, visits, visit.last - visit.first, n_q - before, skipped,
                            thread - copy_threads);
    }
  } else {
    take_registers<consumer_registers>();
    const int mine = __shfl_sync(0xffffffffu, thread / warpgroup_threads, 0) - 1;
    const int warp = thread % warpgroup_threads / 32;
    // The warp's first key, counted so that the last one is n_q - 1: query i then lies on the diagonal at key i.
    const int warp_key = tile_key + mine * 64 + warp * 16 - diagonal;

    float dk_sum[d / 8][4];
    float dv_sum[d / 8][4];
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      dk_sum[n][0] = dk_sum[n][1] = dk_sum[n][2] = dk_sum[n][3] = 0.0f;
      dv_sum[n][0] = dv_sum[n][1] = dv_sum[n][2] = dv_sum[n][3] = 0.0f;
    }

    if (visits > 0) {
      const long long first = (static_cast<long long>(kv_instance) * n_k + tile_key) * d;
      KeyTile::copy_rows<bc, consumer_threads>(shared_k, k + first, length - tile_key, thread - warpgroup_threads);
      commit_copies();
      KeyTile::copy_rows<bc, consumer_threads>(shared_v, v + first, length - tile_key, thread - warpgroup_threads);
      commit_copies();
      wait_copies<1>();  // K, for the first scores
      fence_shared_for_products();
      numbered_wait(1, consumer_threads);

      // Values of the thread's place are computed where they are used: the loop has no registers to keep them in.
      const auto group_now = [&] { return static_cast<unsigned>(recomputed(thread)) / warpgroup_threads - 1; };
      const auto my_ds = [&] {
        const int now = recomputed(thread) - warpgroup_threads;
        return shared_ds + now / warpgroup_threads * ScoreTile::panel_bytes + (now / 16 % 2 * 8 + now % 8) * 128 +
               (((now / 32 % 4 * 2 + now / 8 % 2) ^ (now % 8)) << 4);
      };
      // The tile of the accumulator that was added to last.
      int dq_tile = instance * row_tiles + visit.first;
      int row = visit.first * br;
      unsigned at = 0;

      float s[8][4];
      float dp[8][4];
      float dq[8][4];
      unsigned p[8][2];
      unsigned ds[8][2];

      const auto queue_s = [&](float(&scores)[8][4], unsigned visit, int half) {
        products_begin();
        queue_new_scores<64, d, bc>(scores, operand(shared_k + group_now() * (64 * KeyTile::row_bytes), 16),
                                    operand(q_ring.tile(stage_of(visit)) + half * 64 * RowTile::row_bytes, 16));
        commit_products();
      };
      const auto queue_dp = [&](int half) {
        products_begin();
        queue_new_scores<64, d, bc>(dp, operand(shared_v + group_now() * (64 * KeyTile::row_bytes), 16),
                                    operand(dout_ring.tile(stage_of(at)) + half * 64 * RowTile::row_bytes, 16));
        commit_products();
      };
      const auto queue_dv = [&](int half) {
        pin(dv_sum);
        pin(p);
        products_begin();
        queue_values<64, d>(
            dv_sum, p, operand(dout_ring.tile(stage_of(at)) + half * 64 * RowTile::row_bytes, RowTile::panel_bytes));
        commit_products();
      };
      const auto queue_dk = [&](int half) {
        const unsigned right = q_ring.tile(stage_of(at)) + half * 64 * RowTile::row_bytes;
        pin(dk_sum);
        if (tight) {
          products_begin();
          queue_transposed<br, d>(
              dk_sum,
              operand(shared_ds + at % ds_buffers * ScoreTile::bytes + group_now() * ScoreTile::panel_bytes, 16),
              operand(right, RowTile::panel_bytes));
        } else {
          pin(ds);
          products_begin();
          queue_values<64, d>(dk_sum, ds, operand(right, RowTile::panel_bytes));
        }
        commit_products();
      };
      const auto queue_dq = [&] {
        products_begin();
        queue_columns<64, bc, br, d>(dq,
                                     operand(shared_ds + at % ds_buffers * ScoreTile::bytes +
                                                 (dq_by_rows ? group_now() * (64 * ScoreTile::row_bytes) : 0),
                                             16),
                                     operand(shared_k + (dq_by_rows ? 0 : group_now() * KeyTile::panel_bytes), 16));
        commit_products();
      };
      const auto exponentiate = [&](float(&scores)[8][4], int half) {
        const int first = row + half * 64;
        const int aligned = warp_key - first;
        if (warp_key + 16 > n_q || (bound_right && aligned + 15 > right) || (bound_left && aligned + left < 63)) {
          mask_scores(scores, warp_key + recomputed(thread) % 32 / 4, first, n_q, left, right);
        }
        exponentials(scores, p, q_ring.number(stage_of(at)) + half * 256 + recomputed(thread) % 4 * 8,
                     recomputed(scale) * log2_e);
      };
      const auto differentiate = [&](const float(&probabilities)[8][4], int half) {
        pin(dp);
        score_gradients(ds, probabilities, dp,
                        dout_ring.number(stage_of(at)) + half * 256 + recomputed(thread) % 4 * 8);
        const unsigned place = my_ds() + at % ds_buffers * ScoreTile::bytes + half * 64 * ScoreTile::row_bytes;
#pragma unroll
        for (int n = 0; n < 8; n += 2) {
          store_matrices_transposed(place + n * 1024, ds[n][0], ds[n][1], ds[n + 1][0], ds[n + 1][1]);
        }
      };
      const auto add_dq = [&] {
        pin(dq);
        const int lane_now = recomputed(thread) % 32;
        const unsigned staging = shared_dq + (recomputed(thread) / 32 - 4) * (dq_floats * 4);
        if (lane_now == 0) {
          wait_bulk_read();
        }
        __syncwarp();
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          store_shared_16_bytes(staging + n * 512 + lane_now * 16, dq[n]);
        }
        fence_shared_for_products();
        __syncwarp();
        if (lane_now == 0) {
          if (in_turns) {
            const int first = dq_tile % row_tiles * br;
            const int keys = given_lengths ? key_lengths[recomputed(instance) / heads_q] : n_k;
            const int first_key = first + keys - n_q;  // on the tile's first diagonal
            const int this_tile = key_tile(recomputed(static_cast<int>(blockIdx.x)), key_tiles);
            const int before = last_keys_first ? (min(keys, min(first_key + br, keys) + right) - 1) / bc - this_tile
                                               : this_tile - (bound_left ? max(0, (first_key - left) / bc) : 0);
            wait_turn(turns + dq_tile, before * (consumers * 4));
          }
          const int warp_now = recomputed(thread) / 32 - 4;
          add_bulk(dq_acc + static_cast<long long>(dq_tile) * (br * d) +
                       (dq_by_rows ? warp_now : warp_now % 4 * 2 + warp_now / 4) * dq_floats,
                   staging, dq_floats * 4);
        }
      };
      const auto pass = [&] {
        if (in_turns && recomputed(thread) % 32 == 0) {
          pass_turn(turns + dq_tile);
        }
      };

      q_ring.wait(0);
      queue_s(s, 0, 0);
      wait_copies<0>();
      fence_shared_for_products();
      numbered_wait(1, consumer_threads);
      wait_products<0>();
      pin(s);
#pragma unroll 1
      while (true) {
        dout_ring.wait(at);
        queue_dp(0);
        if constexpr (halves == 1) {
          exponentiate(s, 0);
          queue_dv(0);
          wait_products<1>();  // dP
          differentiate(s, 0);
        } else {
          float s_next[8][4];
          queue_s(s_next, at, 1);
          if (at > 0) {
            add_dq();
          }
          exponentiate(s, 0);
          queue_dv(0);
          wait_products<2>();  // dP
          differentiate(s, 0);
          queue_dp(1);
          queue_dk(0);
          wait_products<2>();  // S, dV
          pin(s_next);
          pin(dv_sum);
          pin(p);
          exponentiate(s_next, 1);
          queue_dv(1);
          wait_products<1>();  // dP, dK
          pin(dk_sum);
          pin(ds);
          differentiate(s_next, 1);
        }
        if (at > 0) {
          pass();  // late, so that the addition has had its time
          ++dq_tile;
          if (row == visit.first * br) {  // of the next head
            dq_tile += row_tiles - (visit.last - visit.first);
          }
        }
        fence_shared_for_products();
        __syncwarp();
        if (recomputed(thread) % 32 == 0) {
          barrier_arrive(ds_written + 8 * (at % ds_buffers));
        }
        const bool more = static_cast<int>(at) + 1 < visits;
        if constexpr (tight) {
          // Also says that both warpgroups are through with the dS two tiles back.
          barrier_wait(ds_written + 8 * (at % ds_buffers), at / ds_buffers % 2);
          queue_dq();
          queue_dk(0);
          wait_products<2>();  // dV
          pin(dv_sum);
          pin(p);
          dout_ring.release(at);
          if (more) {
            q_ring.wait(at + 1);
            queue_s(s, at + 1, 0);
          } else {
            products_begin();
            commit_products();
          }
          wait_products<2>();  // dQ
          add_dq();
          wait_products<0>();  // dK, S
          pin(dk_sum);
          pin(s);
          q_ring.release(at);
          row += br;
          if (row >= (bound_left ? visit.last * br : n_q)) {
            row = visit.first * br;
          }
        } else {
          queue_dk(1);
          if (more) {
            q_ring.wait(at + 1);
            queue_s(s, at + 1, 0);
          } else {
            products_begin();
            commit_products();
          }
          wait_products<2>();  // dV
          pin(dv_sum);
          pin(p);
          dout_ring.release(at);
          barrier_wait(ds_written + 8 * (at % ds_buffers), at / ds_buffers % 2);
          queue_dq();
          wait_products<1>();  // dK, S
          pin(dk_sum);
          pin(ds);
          pin(s);
          q_ring.release(at);
          wait_products<0>();  // dQ
          pin(dq);
          row += br;
          if (row >= (bound_left ? visit.last * br : n_q)) {
            row = visit.first * br;
          }
        }
        if (static_cast<int>(++at) == visits) {
          break;
        }
      }
      if (!tight) {
        add_dq();
      }
      pass();
      wait_bulk_read();  // before the block's shared memory goes
    }

    const int block = recomputed(static_cast<int>(blockIdx.x));
    const int key = key_tile(block, key_tiles) * bc + (recomputed(thread) - warpgroup_threads) / 32 * 16 +
                    recomputed(thread) % 32 / 4;
    const long long first = static_cast<long long>(block / key_tiles) * n_k * d;
    store_gradient(dv + first, dv_sum, 1.0f, key, n_k);
    store_gradient(dk + first, dk_sum, scale, key, n_k);
  }
}

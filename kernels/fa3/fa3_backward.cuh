// SPDX-License-Identifier: Apache-2.0
// FlashAttention-3 backward (arXiv 2407.08608, Appendix B.1; sm_90a): one block for each K/V tile of each K/V head; it
// walks the query tiles that see the tile, of all query heads that share the head.
//
// Tile program of a block: K_j and V_j once, if any query sees them; for each query tile i in ascending order Q_i and
// LSE_i, dO_i and D_i are loaded and Br d floats are added to the accumulator of dQ_i; dK_j and dV_j are stored at the
// end. The accumulator (fa3_backward_rows.cuh clears and converts it) holds whole tiles, also the last one, and
// the copy engine adds to it: by the counters that is 4 Br d bytes written and none read. Rows that do not exist are
// not loaded. LSE and D come 32 rows at a time, so that a head that does not begin on a sector (n_q no multiple of 8)
// costs a sector more for each 32. ATTN_DETERMINISTIC adds to that 4-byte accesses to `turns`, as many as it takes.
//
// Warpgroup 0 loads: a warp Q, one dO, one LSE and D, into rings of buffers, and a thread of the last one sends dQ_i
// on. Each other warpgroup owns 64 keys. Scores are computed transposed, so that P^T and dS^T are in registers what
// dV += P^T dO and dK += dS^T Q read; dS goes through shared memory once, where both warpgroups need it for dQ_i = dS
// K. Products are queued ahead of the arithmetic that does not depend on them, but none is under way where the loop
// turns around: ptxas would serialize all of them.
#include "device/attention.cuh"
#include "device/global.cuh"
#include "device/visibility.cuh"
#include "device/warpgroup.cuh"
#include "fa3/fa3_backward_shape.h"

namespace attnscope::fa3_backward {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int bc = ATTN_BC;
#if defined(ATTN_DETERMINISTIC) && ATTN_DETERMINISTIC
constexpr bool in_turns = true;
#else
constexpr bool in_turns = false;
#endif

constexpr int ring = stages;
constexpr int copy_threads = 32;  // of Q; as many of dO, and of LSE and D; one thread more sends dQ on
constexpr int consumer_threads = consumers * warpgroup_threads;
static_assert(supported_tile(br, bc, d));
constexpr int halves = br / 64;  // scores are computed for 64 queries at a time
// dQ_i is shared out by rows where there are 128, else by columns: 64 x 64 for each warpgroup.
constexpr bool dq_by_rows = br == 128;
constexpr int dq_floats = 64 * 64 / 4;  // of each warp
constexpr unsigned dq_bytes = br * d * 4;
// Where dK and dV leave no registers for dS^T, it is read from shared memory, and dQ_i leaves at once.
constexpr bool tight = d == 128;
// In turns, blocks add to a tile in the order of their launch, so that none waits for one that cannot start yet. Under
// a right bound the last keys, whose blocks begin nearest to the tile, go first; else the first keys do.
constexpr bool last_keys_first = in_turns && bounded_right;

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

/// The tiles [first, last) of query rows that a block visits, in each of the heads that share its keys.
struct Visit {
  int first;
  int last;
};

/// One of the rings: tiles of rows of Q with LSE, or of dO with D. A tile and its numbers fill a buffer. Where threads
/// themselves store or read, each arrives for itself: one lane behind __syncwarp would do, and be no faster, but
/// compute-sanitizer sees no order in it.
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

  /// Copies the visited tiles as buffers become free; a warp calls it. `rows` are the first head's, of which those from
  /// `before` on are visited until n_q - `after` or, where that is beyond, the end.
  __device__ __forceinline__ void fill(const Element* rows, int visits, int before, int after, int n_q,
                                       int lane) const {
    rows += static_cast<long long>(before + lane / 8) * d + lane % 8 * 8;
    int left = n_q - before;
#pragma unroll 1
    for (unsigned at = 0; static_cast<int>(at) < visits; ++at) {
      wait_freed(at);
      unsigned to = tile(stage_of(at)) + lane / 8 * RowTile::row_bytes + ((lane % 8 ^ lane / 8) << 4);
#pragma unroll 2
      for (int first = lane / 8; first < br; first += 8) {
#pragma unroll
        for (int panel = 0; panel < d / 64; ++panel) {
          copy_async(to + panel * RowTile::panel_bytes, rows + panel * 64, first < left);
          // Four rows on, the swizzle differs by four chunks.
          copy_async((to ^ 64) + panel * RowTile::panel_bytes + 4 * RowTile::row_bytes, rows + 4 * d + panel * 64,
                     first + 4 < left);
        }
        to += 8 * RowTile::row_bytes;
        rows += 8 * d;
      }
      commit_copies();
      wait_copies<0>();
      fence_shared_for_products();
      __syncwarp();
      if (lane == 0) {
        barrier_arrive(filled(stage_of(at)));
      }
      left -= br;
      if (left <= after) {  // on to the next head
        left = n_q - before;
        rows += static_cast<long long>(before + after) * d;
      }
    }
  }

  __device__ __forceinline__ void wait_freed(unsigned visit) const {
    // A fresh barrier lets the parity before its first pass.
    barrier_wait(freed(stage_of(visit)), parity_of(visit) ^ 1);
  }
  __device__ __forceinline__ void wait(unsigned visit) const {
    barrier_wait(filled(stage_of(visit)), parity_of(visit));
  }
  /// Every consumer calls it once it and its products have read the buffer.
  __device__ __forceinline__ void release(unsigned visit) const {
    barrier_arrive(freed(stage_of(visit)));
  }
};

/// Descriptor of an operand, built where it is used: kept across the loop, descriptors would cost the registers that
/// the accumulators need.
__device__ __forceinline__ unsigned long long operand(unsigned address, unsigned leading) {
  return panel_descriptor(recomputed(address), leading);
}

/// Copies LSE and D of the visited tiles as Ring::fill does the tiles. LSE turns into what exp2's argument lacks,
/// infinite for rows that see no key or do not exist: their P is 0.
__device__ __forceinline__ void fill_numbers(const Ring& q_ring, const Ring& dout_ring, const float* lse,
                                             const float* delta, int visits, int before, int after, int n_q, int lane) {
  lse += before + lane;
  delta += before + lane;
  int left = n_q - before;
#pragma unroll 1
  for (unsigned at = 0; static_cast<int>(at) < visits; ++at) {
    q_ring.wait_freed(at);
    dout_ring.wait_freed(at);
#pragma unroll
    for (int row = 0; row < br; row += 32) {
      float number = minus_infinity;
      float sum = 0.0f;
      if (row + lane < left) {
        number = load_float(lse + row);
        sum = load_float(delta + row);
      }
      store_shared(q_ring.number(stage_of(at)) + (row + lane) * 4,
                   number == minus_infinity ? plus_infinity : number * log2_e);
      store_shared(dout_ring.number(stage_of(at)) + (row + lane) * 4, sum);
    }
    barrier_arrive(q_ring.filled(stage_of(at)));
    barrier_arrive(dout_ring.filled(stage_of(at)));
    lse += br;
    delta += br;
    left -= br;
    if (left <= after) {
      left = n_q - before;
      lse += before + after;
      delta += before + after;
    }
  }
}

// A thread holds two keys, g and g + 8 of its warp's 16, of the transposed scores against 64 queries.

/// Scores that do not exist: of keys beyond the last, and of queries outside what the mask lets see the key. Keys are
/// counted so that the last one is n_q - 1, `row` is the first of the queries.
__device__ __forceinline__ void mask_scores(float (&s)[8][4], int key, int row, int n_q, int left, int right) {
  const int column = row + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int on_diagonal = key + half * 8 - column;
    int first = bounded_right ? on_diagonal - right : 0;
    if (key + half * 8 >= n_q) {
      first = 64;
    }
    const int last = on_diagonal + left;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (n * 8 + e < first || (bounded_left && n * 8 + e > last)) {
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

/// ds = P^T o (dP^T - D), packed, and the same to shared memory; `place` is where this lane stores its first rows.
__device__ __forceinline__ void score_gradients(unsigned (&ds)[8][2], const float (&p)[8][4], const float (&dp)[8][4],
                                                unsigned numbers, unsigned place) {
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    const float2 delta = load_shared_pair(numbers + n * 32);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      ds[n][half] =
          pack(p[n][half * 2] * (dp[n][half * 2] - delta.x), p[n][half * 2 + 1] * (dp[n][half * 2 + 1] - delta.y));
    }
    if (n % 2 == 1) {
      store_matrices_transposed(place + (n - 1) * 1024, ds[n - 1][0], ds[n - 1][1], ds[n][0], ds[n][1]);
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

/// Adds contiguous floats in shared memory to global memory, by the copy engine.
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

/// Waits until the blocks before have added to a tile of the accumulator, as they count in `turn`; then the copy engine
/// may follow.
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

}  // namespace attnscope::fa3_backward

extern "C" __global__ void __launch_bounds__(attnscope::fa3_backward::threads, 1)
    attn_fa3_backward(const unsigned short* q, const unsigned short* k, const unsigned short* v,
                      const unsigned short* dout, const float* lse, const float* delta, float* dq_acc,
                      unsigned short* dk, unsigned short* dv, int* turns, int instances, int group, int n_q, int n_k,
                      float scale, int heads_q, int left, int right, const int* key_lengths,
                      const unsigned char* block_mask, int mask_block, int keep, unsigned seed) {
  using namespace attnscope::fa3_backward;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned shared_k = shared_address(shared);
  const unsigned shared_v = shared_k + KeyTile::bytes;
  const unsigned shared_ds = shared_v + KeyTile::bytes;
  const unsigned shared_q = shared_ds + ds_buffers * ScoreTile::bytes;
  const unsigned shared_dout = shared_q + ring * RowTile::bytes;
  const unsigned shared_lse = shared_dout + ring * RowTile::bytes;
  const unsigned shared_delta = shared_lse + ring * br * 4;
  const unsigned shared_dq = shared_delta + ring * br * 4;
  const unsigned barriers = shared_dq + dq_buffers * dq_bytes;
  const Ring q_ring{shared_q, shared_lse, barriers};
  const Ring dout_ring{shared_dout, shared_delta, barriers + 16 * ring};
  const unsigned ds_written = barriers + 32 * ring;
  const unsigned dq_written = ds_written + 8 * ds_buffers;
  const unsigned dq_sent = dq_written + 8 * dq_buffers;

  const int key_tiles = (n_k + bc - 1) / bc;
  const int row_tiles = (n_q + br - 1) / br;
  const int kv_instance = static_cast<int>(blockIdx.x) / key_tiles;
  const int tile = key_tile(static_cast<int>(blockIdx.x), key_tiles);
  const int tile_key = tile * bc;
  const int instance = kv_instance * group;  // the first of the query heads
  const Visibility view = visibility(instance / heads_q, n_q, n_k, left, right, key_lengths, block_mask, mask_block);
  const int length = view.length;
  const int diagonal = length - n_q;

  Visit visit{0, 0};  // of the query rows that see any key of the tile
  if (tile_key < length) {
    const int first_row = view.row_begin(tile_key);
    const int last_row = view.row_end(tile_key + bc - 1);
    if (first_row < last_row) {
      visit = {first_row / br, (last_row + br - 1) / br};
    }
  }
  const int visits = group * (visit.last - visit.first);

  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    q_ring.init();
    dout_ring.init();
    for (int i = 0; i < ds_buffers; ++i) {
      barrier_init(ds_written + 8 * i, consumers * 4);
    }
    for (int i = 0; i < dq_buffers; ++i) {
      barrier_init(dq_written + 8 * i, consumers * 4);
      barrier_init(dq_sent + 8 * i, 1);
    }
  }
  __syncthreads();

  if (thread < warpgroup_threads) {
    give_registers<producer_registers>();
    const int before = visit.first * br;
    const int after = n_q - (bounded_left ? visit.last : row_tiles) * br;
    const long long first = static_cast<long long>(instance) * n_q;
    if (thread < copy_threads) {
      q_ring.fill(q + first * d, visits, before, after, n_q, thread);
    } else if (thread < 2 * copy_threads) {
      dout_ring.fill(dout + first * d, visits, before, after, n_q, thread - copy_threads);
    } else if (thread < 3 * copy_threads) {
      fill_numbers(q_ring, dout_ring, lse + first, delta + first, visits, before, after, n_q,
                   thread - 2 * copy_threads);
    } else if (thread == 3 * copy_threads) {
      // In a thread of its own, so that no product waits for the copy engine or for a turn.
      int dq_tile = instance * row_tiles + visit.first;
      int left_of_head = visit.last - visit.first;
#pragma unroll 1
      for (unsigned at = 0; static_cast<int>(at) < visits; ++at) {
        barrier_wait(dq_written + 8 * (at % dq_buffers), at / dq_buffers % 2);
        if (in_turns) {
          const int first_key = dq_tile % row_tiles * br + diagonal;  // on the tile's first diagonal
          const int turn = last_keys_first ? (min(length, min(first_key + br, length) + right) - 1) / bc - tile
                                           : tile - (bounded_left ? max(0, (first_key - left) / bc) : 0);
          wait_turn(turns + dq_tile, turn);
        }
        add_bulk(dq_acc + static_cast<long long>(dq_tile) * (br * d), shared_dq + at % dq_buffers * dq_bytes, dq_bytes);
        wait_bulk_read();
        barrier_arrive(dq_sent + 8 * (at % dq_buffers));
        if (in_turns) {
          pass_turn(turns + dq_tile);
        }
        ++dq_tile;
        if (--left_of_head == 0) {  // on to the next head
          left_of_head = visit.last - visit.first;
          dq_tile += row_tiles - left_of_head;
        }
      }
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
        if (warp_key + 16 > n_q || (bounded_right && aligned + 15 > right) || (bounded_left && aligned + left < 63)) {
          mask_scores(scores, warp_key + recomputed(thread) % 32 / 4, first, n_q, left, right);
        }
        exponentials(scores, p, q_ring.number(stage_of(at)) + half * 256 + recomputed(thread) % 4 * 8,
                     recomputed(scale) * log2_e);
      };
      const auto differentiate = [&](const float(&probabilities)[8][4], int half) {
        pin(dp);
        score_gradients(ds, probabilities, dp, dout_ring.number(stage_of(at)) + half * 256 + recomputed(thread) % 4 * 8,
                        my_ds() + at % ds_buffers * ScoreTile::bytes + half * 64 * ScoreTile::row_bytes);
      };
      // dQ of a visit goes to shared memory, in the order of the accumulator.
      const auto send_dq = [&](unsigned visit) {
        pin(dq);
        const int now = recomputed(thread) - warpgroup_threads;
        const int part = dq_by_rows ? now / 32 : now / 32 % 4 * 2 + now / warpgroup_threads;
        const unsigned place = shared_dq + visit % dq_buffers * dq_bytes + part * (dq_floats * 4) + now % 32 * 16;
        barrier_wait(dq_sent + 8 * (visit % dq_buffers), visit / dq_buffers % 2 ^ 1);
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          store_shared_16_bytes(place + n * 512, dq[n]);
        }
        fence_shared_for_products();
        __syncwarp();
        if (now % 32 == 0) {
          barrier_arrive(dq_written + 8 * (visit % dq_buffers));
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
          exponentiate(s, 0);
          queue_dv(0);
          if (at > 0) {
            send_dq(at - 1);
          }
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
          send_dq(at);
          wait_products<0>();  // dK, S
          pin(dk_sum);
          pin(s);
          q_ring.release(at);
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
        }
        row += br;
        if (row >= (bounded_left ? visit.last * br : n_q)) {  // on to the next head
          row = visit.first * br;
        }
        if (static_cast<int>(++at) == visits) {
          break;
        }
      }
      if (!tight) {
        send_dq(at - 1);
      }
    }

    const int block = recomputed(static_cast<int>(blockIdx.x));
    const int key = key_tile(block, key_tiles) * bc + (recomputed(thread) - warpgroup_threads) / 32 * 16 +
                    recomputed(thread) % 32 / 4;
    const long long first = static_cast<long long>(block / key_tiles) * n_k * d;
    store_gradient(dv + first, dv_sum, 1.0f, key, n_k);
    store_gradient(dk + first, dk_sum, scale, key, n_k);
  }
}

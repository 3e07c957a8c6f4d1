// SPDX-License-Identifier: Apache-2.0
// Linear attention, sums over keys (arXiv 2006.16236, equations 10 and 11, one chunk of keys at a time): KV = sum of
// phi(K_j)^T V_j and z = sum of phi(K_j). One block per K/V head.
//
// Tile program of block (K/V head):
//   for each chunk, in order: for each step of its keys: load K, load V; store the state of all keys so far
// A chunk is Bc keys under a causal mask (query tiles need the sums up to their first key), else all keys.
//
// KV and z stay in accumulators. The next keys are prefetched into registers during the product.
#include "linattn/linattn_features.cuh"

namespace attnscope::linattn {

constexpr int block_threads = states_threads(d);
constexpr int pieces = step * Tile::chunks / block_threads;  // 16-byte pieces of K (and of V) per thread

/// Keys prefetched into registers.
struct PrefetchedKeys {
  uint4 k[pieces];
  uint4 v[pieces];

  __device__ __forceinline__ void load(const Element* keys, const Element* values, int inside, int thread) {
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      k[i] = load_chunk(keys, inside, i * block_threads + thread);
      v[i] = load_chunk(values, inside, i * block_threads + thread);
    }
  }
  __device__ __forceinline__ void put(unsigned tile_k, unsigned tile_v, int inside, int thread) const {
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      store_features(tile_k, k[i], inside, i * block_threads + thread);
      store_chunk(tile_v, v[i], i * block_threads + thread);
    }
  }
};

/// 16 rows of KV and z; a thread holds rows g and g + 8 (g = lane / 4).
struct State {
  float kv[d / 8][4];
  float z[4];  ///< equal in all columns

  /// `k` and `v` are lane addresses of the tiles; `k` points to the columns that are this warp's rows.
  __device__ __forceinline__ void add(unsigned k, unsigned v) {
    const unsigned ones = pack(1.0f, 1.0f);
#pragma unroll
    for (int inner = 0; inner < step / 16; ++inner) {
      unsigned a[4];
      load_matrices_transposed(a, k + inner * 16 * Tile::row_bytes);
      mma(z, a, ones, ones);
#pragma unroll
      for (int n = 0; n < d / 16; ++n) {
        unsigned b[4];
        load_matrices_transposed(b, Tile::advance_columns(v, n) + inner * 16 * Tile::row_bytes);
        mma(kv[2 * n], a, b[0], b[1]);
        mma(kv[2 * n + 1], a, b[2], b[3]);
      }
    }
  }

  /// Stores 16 rows of the state from row `first`, and the matching part of z, its last row.
  __device__ __forceinline__ void store(Element* state, int first, float scale) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      unsigned pairs[d / 8];
#pragma unroll
      for (int n = 0; n < d / 8; ++n) {
        pairs[n] = pack(kv[n][half * 2] * scale, kv[n][half * 2 + 1] * scale);
      }
      store_row(state + (first + half * 8 + lane / 4) * d, pairs, d, true);
    }
    // Four lanes write four of the 16 sums each, so that the store is one sector.
    float four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = (4 * lane + i) % 16;
      const float low = __shfl_sync(0xffffffffu, z[0], row % 8 * 4);
      const float high = __shfl_sync(0xffffffffu, z[2], row % 8 * 4);
      four[i] = (row < 8 ? low : high) * scale;
    }
    if (lane < 4) {
      store_8_bytes(state + d * d + first + 4 * lane, pack(four[0], four[1]), pack(four[2], four[3]));
    }
  }
};

}  // namespace attnscope::linattn

extern "C" __global__ void __launch_bounds__(attnscope::linattn::block_threads, 1)
    attn_linattn_states(const unsigned short* k, const unsigned short* v, unsigned short* kv_state, int n_k,
                        int states) {
  using namespace attnscope::linattn;
  extern __shared__ __align__(1024) unsigned char shared[];
  const unsigned tile_k = shared_address(shared);
  const unsigned tile_v = tile_k + step * Tile::row_bytes;
  const long long head = static_cast<long long>(blockIdx.x);
  k += head * n_k * d;
  v += head * n_k * d;
  kv_state += head * states * (state_rows(d) * d);

  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const unsigned lane_k = Tile::advance_columns(Tile::right_lane_address(tile_k, thread % 32), warp);
  const unsigned lane_v = Tile::left_lane_address(tile_v, thread % 32);
  const int chunk = causal ? bc : n_k;
  const int end = causal ? states * bc : n_k;
  // Keys of the step that starts at key `first`.
  const auto keys_of_step = [&](int first) { return min(step, chunk - first % chunk); };

  State sums;
#pragma unroll
  for (int n = 0; n < d / 8; ++n) {
    sums.kv[n][0] = sums.kv[n][1] = sums.kv[n][2] = sums.kv[n][3] = 0.0f;
  }
  sums.z[0] = sums.z[1] = sums.z[2] = sums.z[3] = 0.0f;

  PrefetchedKeys ahead;
  ahead.load(k, v, keys_of_step(0), thread);
#pragma unroll 1
  for (int first = 0, next; first < end; first = next) {
    const int keys = keys_of_step(first);
    next = first + keys;
    __syncthreads();  // no warp reads the previous tiles anymore
    ahead.put(tile_k, tile_v, keys, thread);
    __syncthreads();
    if (next < end) {
      ahead.load(k + static_cast<long long>(next) * d, v + static_cast<long long>(next) * d, keys_of_step(next),
                 thread);
    }
    sums.add(force_recompute(lane_k), force_recompute(lane_v));
    if (next % chunk == 0) {
      sums.store(kv_state, warp * 16, scale_of(next));
      kv_state += state_rows(d) * d;
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// Linear attention, rows of O (arXiv 2006.16236, equation 12): O_i = phi(Q_i) KV / phi(Q_i) z. One block per row tile
// of each head.
//
// Tile program of block (i, head):
//   load Q_i; load the state of the keys that all its rows see, if there is one;
//   for each step of the other keys that a row of tile i sees: load K, load V; store O_i
// If no key is visible, Q_i is not loaded either. Without a mask the state covers all keys.
#include "linattn/linattn_features.cuh"

namespace attnscope::linattn {

constexpr int br = ATTN_BR;
constexpr int block_threads = outputs_threads(br);

/// Rows of O of one warp before the division by l; a thread holds rows g and g + 8 (g = lane / 4).
struct OutputRows {
  float o[1][d / 8][4];
  float l[2];  ///< partial sums of this lane

  /// O += phi(Q) KV, l += phi(Q) z. `q` and `kv` are lane addresses; `z`: packed pairs of elements.
  __device__ __forceinline__ void add_state(unsigned q, unsigned kv, const unsigned* z) {
    const int t = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
    for (int inner = 0; inner < d / 16; ++inner) {
      unsigned a[4];
      load_matrices(a, Tile::advance_columns(q, inner));
#pragma unroll
      for (int n = 0; n < d / 16; ++n) {
        unsigned b[4];
        load_matrices_transposed(b, Tile::advance_columns(kv, n) + inner * 16 * Tile::row_bytes);
        mma(o[0][2 * n], a, b[0], b[1]);
        mma(o[0][2 * n + 1], a, b[2], b[3]);
      }
#pragma unroll
      for (int eight = 0; eight < 2; ++eight) {
        const float2 sum = unpack(z[inner * 8 + eight * 4 + t]);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float2 feature = unpack(a[eight * 2 + half]);
          l[half] += feature.x * sum.x + feature.y * sum.y;
        }
      }
    }
  }

  /// P = phi(Q) phi(K)^T for visible keys; l += rowsum(P), O += P V. `first_row`: this thread's first matrix row. P is
  /// scaled by `scale`, like the state.
  __device__ __forceinline__ void add_keys(unsigned q, unsigned k, unsigned v, int first_row, int column, int n_q,
                                           int n_k, float scale) {
    float s[1][step / 8][4];
    unsigned p[1][step / 8][2];
    scores<1, step, d>(s, q, k);
    const int first = column + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int end = visible_key_count(first_row + half * 8, n_q, n_k, causal);
#pragma unroll
      for (int n = 0; n < step / 8; ++n) {
        const float low = first + n * 8 < end ? s[0][n][half * 2] * scale : 0.0f;
        const float high = first + n * 8 + 1 < end ? s[0][n][half * 2 + 1] * scale : 0.0f;
        l[half] += low + high;
        p[0][n][half] = pack(low, high);
      }
    }
    accumulate<1, step, d>(o, p, v);
  }
};

}  // namespace attnscope::linattn

extern "C" __global__ void __launch_bounds__(attnscope::linattn::block_threads, 1)
    attn_linattn_outputs(const unsigned short* q, const unsigned short* k, const unsigned short* v,
                         const unsigned short* kv_state, unsigned short* o, int group, int n_q, int n_k, int states) {
  using namespace attnscope::linattn;
  extern __shared__ __align__(1024) unsigned char shared[];
  constexpr int keys_at = br * Tile::row_bytes;
  constexpr int values_at = keys_at + (causal ? step : 0) * Tile::row_bytes;
  constexpr int state_at = values_at + (causal ? step : 0) * Tile::row_bytes;
  const unsigned tile_q = shared_address(shared);
  const unsigned tile_k = tile_q + keys_at;
  const unsigned tile_v = tile_q + values_at;
  const unsigned tile_kv = tile_q + state_at;
  const unsigned* const z = reinterpret_cast<const unsigned*>(shared + state_at + d * Tile::row_bytes);

  const int row_tiles = (n_q + br - 1) / br;
  const int block = static_cast<int>(blockIdx.x);
  const int instance = block / row_tiles;
  const int tile_row = block % row_tiles * br;
  const long long query_row = static_cast<long long>(instance) * n_q + tile_row;
  const long long head = instance / group;
  const int kept = state_keys(visible_key_count(tile_row, n_q, n_k, causal), bc, causal);
  const int end = visible_key_count(min(n_q, tile_row + br) - 1, n_q, n_k, causal);

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp_row = thread / 32 * 16;
  const unsigned lane_q = Tile::left_lane_address(tile_q + warp_row * Tile::row_bytes, lane);
  if (kept > 0) {
    const Element* state = kv_state + (head * states + (causal ? kept / bc - 1 : 0)) * (state_rows(d) * d);
    Tile::copy_rows<d, block_threads>(tile_kv, state, d, d, thread);
    for (int index = thread; index < Tile::chunks; index += block_threads) {
      copy_async(tile_kv + d * Tile::row_bytes + index * 16, state + d * d + index * 8, true);
    }
    commit_copies();
  }
  if (end > 0) {
    copy_features<br, block_threads>(tile_q, q + query_row * d, n_q - tile_row, thread);
  }
  wait_copies<0>();
  __syncthreads();

  OutputRows rows;
#pragma unroll
  for (int n = 0; n < d / 8; ++n) {
    rows.o[0][n][0] = rows.o[0][n][1] = rows.o[0][n][2] = rows.o[0][n][3] = 0.0f;
  }
  rows.l[0] = rows.l[1] = 0.0f;
  if (kept > 0) {
    rows.add_state(lane_q, Tile::left_lane_address(tile_kv, lane), z);
  }
  if constexpr (causal) {
    const float scale = scale_of(kept);
#pragma unroll 1
    for (int column = kept; column < end; column += step) {
      const long long key_row = head * n_k + column;
      const int inside = end - column;
      __syncthreads();  // no warp reads the previous tiles anymore
      Tile::copy_rows<step, block_threads>(tile_v, v + key_row * d, d, inside, thread);
      commit_copies();
      copy_features<step, block_threads>(tile_k, k + key_row * d, inside, thread);
      wait_copies<0>();
      __syncthreads();
      rows.add_keys(force_recompute(lane_q), Tile::right_lane_address(tile_k, lane),
                    Tile::left_lane_address(tile_v, lane), tile_row + warp_row + lane / 4, column, n_q, n_k, scale);
    }
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = quad_sum(rows.l[half]);
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    const int row = warp_row + half * 8 + lane / 4;
    unsigned pairs[d / 8];
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      pairs[n] = pack(rows.o[0][n][half * 2] * inverse, rows.o[0][n][half * 2 + 1] * inverse);
    }
    store_row(o + (query_row + row) * d, pairs, d, tile_row + row < n_q);
  }
}

// SPDX-License-Identifier: Apache-2.0
// FlashAttention (arXiv 2205.14135, Algorithm 1) in fp32: one block per head, K and V tiles in the outer loop. O, l and
// m are read, updated and written for each pair of tiles; they start as 0, 0 and -inf. No tile is skipped.
// Q, O: [batch * heads, n_q, d]; K, V: [batch * heads, n_k, d]; l, m: [batch * heads, n_q].
#include <cfloat>
#include <cmath>

constexpr int warps = 4;
constexpr int columns = HEAD_DIM / 32;   // of O per lane
constexpr int key_pitch = HEAD_DIM + 1;  // lanes read a column of K
static_assert(TILE_BC == 32, "a lane per key");
static_assert(TILE_BR <= 32 * warps, "a thread per row");

__device__ float warp_max(float value) {
  for (int other = 16; other > 0; other /= 2) value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, other));
  return value;
}

__device__ float warp_sum(float value) {
  for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, other);
  return value;
}

// Copies `count` rows; rows from `available` on are 0.
__device__ void load_rows(float* tile, int pitch, const float* rows, int count, int available) {
  for (int i = threadIdx.x; i < count * HEAD_DIM; i += blockDim.x) {
    tile[i / HEAD_DIM * pitch + i % HEAD_DIM] = i / HEAD_DIM < available ? __ldcg(rows + i) : 0.0f;
  }
}

// Processes the K/V tiles from first_tile to last_tile - 1.
extern "C" __global__ void fa1_forward(const float* Q, const float* K, const float* V, float* O, float* l, float* m,
                                       int n_q, int n_k, int first_tile, int last_tile, float scale, int causal) {
  __shared__ float q_tile[TILE_BR * HEAD_DIM];
  __shared__ float k_tile[TILE_BC * key_pitch];
  __shared__ float v_tile[TILE_BC * HEAD_DIM];
  __shared__ float weights[warps][TILE_BC];
  __shared__ float l_tile[TILE_BR];
  __shared__ float m_tile[TILE_BR];

  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const long long query_row = (long long)blockIdx.x * n_q;
  const long long key_row = (long long)blockIdx.x * n_k;

  for (int j = first_tile; j < last_tile; ++j) {
    const int first_key = j * TILE_BC;
    load_rows(k_tile, key_pitch, K + (key_row + first_key) * HEAD_DIM, TILE_BC, n_k - first_key);
    load_rows(v_tile, HEAD_DIM, V + (key_row + first_key) * HEAD_DIM, TILE_BC, n_k - first_key);

    for (int first_row = 0; first_row < n_q; first_row += TILE_BR) {
      const int rows = min(TILE_BR, n_q - first_row);
      const int own = threadIdx.x;
      load_rows(q_tile, HEAD_DIM, Q + (query_row + first_row) * HEAD_DIM, rows, rows);
      if (own < rows) {
        l_tile[own] = __ldcg(l + query_row + first_row + own);
        m_tile[own] = __ldcg(m + query_row + first_row + own);
      }
      __syncthreads();

      for (int r = warp; r < rows; r += warps) {
        const int key = first_key + lane;
        const bool visible = key < n_k && (!causal || key <= first_row + r + n_k - n_q);
        float product = 0.0f;
        for (int c = 0; c < HEAD_DIM; ++c) product += q_tile[r * HEAD_DIM + c] * k_tile[lane * key_pitch + c];
        const float score = visible ? product * scale : -INFINITY;

        const float m_old = m_tile[r];
        const float m_new = fmaxf(m_old, warp_max(score));
        const bool any = m_new >= -FLT_MAX;  // else no key is visible so far
        const float weight = any ? expf(score - m_new) : 0.0f;
        const float kept = any ? expf(m_old - m_new) * l_tile[r] : 0.0f;
        const float l_new = kept + warp_sum(weight);
        weights[warp][lane] = weight;
        __syncwarp();

        for (int i = 0; i < columns; ++i) {
          float sum = 0.0f;
          for (int c = 0; c < TILE_BC; ++c) sum += weights[warp][c] * v_tile[c * HEAD_DIM + i * 32 + lane];
          float* const target = O + (query_row + first_row + r) * HEAD_DIM + i * 32 + lane;
          const float before = __ldcg(target);
          *target = any ? (kept * before + sum) / l_new : 0.0f;
        }
        __syncwarp();  // all lanes have read l, m and the weights
        if (lane == 0) {
          l_tile[r] = l_new;
          m_tile[r] = m_new;
        }
      }
      __syncthreads();
      if (own < rows) {
        l[query_row + first_row + own] = l_tile[own];
        m[query_row + first_row + own] = m_tile[own];
      }
    }
  }
}

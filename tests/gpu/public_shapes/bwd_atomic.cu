// SPDX-License-Identifier: Apache-2.0
// Attention backward whose blocks own a tile of K and V and add to the rows of dQ, which start at zero: delta,
// gradients, conversion of dQ to fp16. attention_forward gives O and LSE. No tile is skipped. Q, O, dO, dQ: [batch *
// heads, n_q, d]; K, V, dK, dV: [batch * heads, n_k, d]; LSE, delta: [batch * heads, n_q].
#include <cuda_fp16.h>
#include <cmath>

constexpr int warps = 4;
constexpr int words = HEAD_DIM / 2;    // half2 per row
constexpr int own_words = words / 32;  // per lane
constexpr int pitch = words + 1;       // lanes read a column of K and V
constexpr int keys_per_warp = TILE_BC / warps;
static_assert(TILE_BR == 32 && TILE_BC == 32 && words % 32 == 0, "a lane per key and per row");

__device__ float warp_sum(float value) {
  for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, other);
  return value;
}

__device__ float2 load_two(const half* row, int word) {
  const unsigned bits = __ldcg(reinterpret_cast<const unsigned*>(row) + word);
  return __half22float2(*reinterpret_cast<const half2*>(&bits));
}

__device__ bool is_visible(int row, int key, int n_q, int n_k, int causal) {
  return row < n_q && key < n_k && (!causal || key <= row + n_k - n_q);
}

// Computes a row of O with one warp and returns its LSE.
__device__ float attend(const half* q, const half* k, const half* v, half* o, int row, int n_q, int n_k, float scale,
                        int causal) {
  const int lane = threadIdx.x % 32;
  const long long at = (long long)blockIdx.y * n_q + row;
  const long long key_row = (long long)blockIdx.y * n_k;
  float2 query[own_words];
  for (int i = 0; i < own_words; ++i) query[i] = load_two(q + at * HEAD_DIM, i * 32 + lane);
  float2 out[own_words] = {};
  float maximum = -INFINITY;
  float sum = 0.0f;
  for (int key = 0; is_visible(row, key, n_q, n_k, causal); ++key) {
    float product = 0.0f;
    for (int i = 0; i < own_words; ++i) {
      const float2 two = load_two(k + (key_row + key) * HEAD_DIM, i * 32 + lane);
      product += query[i].x * two.x + query[i].y * two.y;
    }
    const float score = warp_sum(product) * scale;
    const float highest = fmaxf(maximum, score);
    const float correction = expf(maximum - highest);
    const float weight = expf(score - highest);
    maximum = highest;
    sum = sum * correction + weight;
    for (int i = 0; i < own_words; ++i) {
      const float2 value = load_two(v + (key_row + key) * HEAD_DIM, i * 32 + lane);
      out[i] = make_float2(out[i].x * correction + weight * value.x, out[i].y * correction + weight * value.y);
    }
  }
  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
  half2* const target = reinterpret_cast<half2*>(o + at * HEAD_DIM);
  for (int i = 0; i < own_words; ++i) target[i * 32 + lane] = __floats2half2_rn(out[i].x * inverse, out[i].y * inverse);
  return sum > 0.0f ? maximum + logf(sum) : -INFINITY;
}

extern "C" __global__ void attention_forward(const half* q, const half* k, const half* v, half* o, float* lse, int n_q,
                                             int n_k, float scale, int causal) {
  __shared__ float row_lse[warps];  // one request stores the LSE of the block
  const int first = blockIdx.x * warps;
  const int warp = threadIdx.x / 32;
  if (first + warp < n_q) row_lse[warp] = attend(q, k, v, o, first + warp, n_q, n_k, scale, causal);
  __syncthreads();
  const int row = first + threadIdx.x;
  if (threadIdx.x < warps && row < n_q) lse[(long long)blockIdx.y * n_q + row] = row_lse[threadIdx.x];
}

// delta = sum over d of O dO, for 32 rows per block of all heads.
extern "C" __global__ void attention_delta(const half* o, const half* dout, float* delta, int rows) {
  __shared__ float results[32];
  const int lane = threadIdx.x % 32;
  for (int r = threadIdx.x / 32; r < 32; r += warps) {
    const long long row = (long long)blockIdx.x * 32 + r;
    float product = 0.0f;
    for (int i = 0; i < own_words && row < rows; ++i) {
      const float2 a = load_two(o + row * HEAD_DIM, i * 32 + lane);
      const float2 b = load_two(dout + row * HEAD_DIM, i * 32 + lane);
      product += a.x * b.x + a.y * b.y;
    }
    product = warp_sum(product);
    if (lane == 0) results[r] = product;
  }
  __syncthreads();
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (threadIdx.x < 32 && row < rows) delta[row] = results[threadIdx.x];
}

// Copies 32 rows; rows from `available` on are 0.
__device__ void load_tile(half2* tile, const half* rows, int available) {
  for (int i = threadIdx.x; i < 32 * words; i += blockDim.x) {
    const unsigned bits = i / words < available ? __ldcg(reinterpret_cast<const unsigned*>(rows) + i) : 0;
    tile[i / words * pitch + i % words] = *reinterpret_cast<const half2*>(&bits);
  }
}

extern "C" __global__ void __launch_bounds__(32 * warps)
    attention_gradients(const half* q, const half* k, const half* v, const half* dout, const float* lse,
                        const float* delta, float* dq, half* dk, half* dv, int n_q, int n_k, float scale, int causal) {
  __shared__ half2 q_tile[32 * pitch], k_tile[32 * pitch], v_tile[32 * pitch], dout_tile[32 * pitch];
  __shared__ float p[32][32], ds[32][32];  // row, key
  __shared__ float row_lse[32], row_delta[32];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int first_key = blockIdx.x * TILE_BC;
  const long long query_row = (long long)blockIdx.y * n_q;
  const long long key_at = ((long long)blockIdx.y * n_k + first_key) * HEAD_DIM;
  load_tile(k_tile, k + key_at, n_k - first_key);
  load_tile(v_tile, v + key_at, n_k - first_key);

  float2 own_dk[keys_per_warp][own_words] = {};
  float2 own_dv[keys_per_warp][own_words] = {};
  for (int first_row = 0; first_row < n_q; first_row += TILE_BR) {
    __syncthreads();  // no warp reads the previous rows
    load_tile(q_tile, q + (query_row + first_row) * HEAD_DIM, n_q - first_row);
    load_tile(dout_tile, dout + (query_row + first_row) * HEAD_DIM, n_q - first_row);
    if (warp == 0 && first_row + lane < n_q) {
      row_lse[lane] = __ldcg(lse + query_row + first_row + lane);
      row_delta[lane] = __ldcg(delta + query_row + first_row + lane);
    }
    __syncthreads();

    for (int r = warp; r < TILE_BR; r += warps) {
      float score = 0.0f;
      float dp = 0.0f;
      for (int c = 0; c < words; ++c) {
        const float2 a = __half22float2(q_tile[r * pitch + c]), b = __half22float2(k_tile[lane * pitch + c]);
        const float2 g = __half22float2(dout_tile[r * pitch + c]), w = __half22float2(v_tile[lane * pitch + c]);
        score += a.x * b.x + a.y * b.y;
        dp += g.x * w.x + g.y * w.y;
      }
      const bool visible = is_visible(first_row + r, first_key + lane, n_q, n_k, causal);
      const float weight = visible ? expf(score * scale - row_lse[r]) : 0.0f;
      p[r][lane] = weight;
      ds[r][lane] = visible ? weight * (dp - row_delta[r]) * scale : 0.0f;
    }
    __syncthreads();

    for (int r = 0; r < TILE_BR; ++r) {
      for (int i = 0; i < own_words; ++i) {
        const float2 g = __half22float2(dout_tile[r * pitch + i * 32 + lane]);
        const float2 a = __half22float2(q_tile[r * pitch + i * 32 + lane]);
#pragma unroll
        for (int j = 0; j < keys_per_warp; ++j) {
          const float of_p = p[r][warp * keys_per_warp + j], of_ds = ds[r][warp * keys_per_warp + j];
          own_dv[j][i] = make_float2(own_dv[j][i].x + of_p * g.x, own_dv[j][i].y + of_p * g.y);
          own_dk[j][i] = make_float2(own_dk[j][i].x + of_ds * a.x, own_dk[j][i].y + of_ds * a.y);
        }
      }
    }
    for (int r = warp; r < TILE_BR && first_row + r < n_q; r += warps) {
      for (int c = lane; c < HEAD_DIM; c += 32) {  // adjacent columns, so that sectors are full
        float sum = 0.0f;
        for (int j = 0; j < TILE_BC; ++j) {
          sum += ds[r][j] * __half2float(reinterpret_cast<const half*>(k_tile + j * pitch)[c]);
        }
        atomicAdd(dq + (query_row + first_row + r) * HEAD_DIM + c, sum);
      }
    }
  }

#pragma unroll
  for (int j = 0; j < keys_per_warp; ++j) {
    const int key = warp * keys_per_warp + j;
    if (first_key + key >= n_k) continue;
    for (int i = 0; i < own_words; ++i) {
      const long long at = (key_at + (long long)key * HEAD_DIM) / 2 + i * 32 + lane;
      reinterpret_cast<half2*>(dk)[at] = __floats2half2_rn(own_dk[j][i].x, own_dk[j][i].y);
      reinterpret_cast<half2*>(dv)[at] = __floats2half2_rn(own_dv[j][i].x, own_dv[j][i].y);
    }
  }
}

extern "C" __global__ void convert_to_half(const float4* from, uint2* to, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 four = __ldcg(from + i);
  const half2 low = __floats2half2_rn(four.x, four.y), high = __floats2half2_rn(four.z, four.w);
  to[i] = make_uint2(*reinterpret_cast<const unsigned*>(&low), *reinterpret_cast<const unsigned*>(&high));
}

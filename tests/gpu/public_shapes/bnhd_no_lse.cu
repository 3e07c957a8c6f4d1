// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 forward on [batch, N, heads, d] tensors, fp16 in and out, fp32 arithmetic; O only, no LSE. A warp
// owns rows of Q: a lane per key for the scores, two columns of O per lane.
#include <cuda_fp16.h>
#include <cmath>

constexpr int warps = 4;
constexpr int rows_per_warp = TILE_BR / warps;
constexpr int words = HEAD_DIM / 2;    // half2 per row
constexpr int own_words = words / 32;  // of O per lane
constexpr int key_pitch = words + 1;   // lanes read a column of K
static_assert(TILE_BC == 32 && TILE_BR % warps == 0 && words % 32 == 0, "a lane per key, whole rows per warp");

__device__ float warp_max(float value) {
  for (int other = 16; other > 0; other /= 2) value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, other));
  return value;
}

__device__ float warp_sum(float value) {
  for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, other);
  return value;
}

// Copies rows that are `stride` halves apart, 16 bytes per thread; rows from `available` on are 0.
__device__ void load_tile(half2* tile, int pitch, const half* rows, long long stride, int count, int available) {
  constexpr int chunks = HEAD_DIM / 8;
  for (int i = threadIdx.x; i < count * chunks; i += blockDim.x) {
    const int row = i / chunks;
    const uint4* const from = reinterpret_cast<const uint4*>(rows + row * stride) + i % chunks;
    const uint4 chunk = row < available ? __ldcg(from) : make_uint4(0, 0, 0, 0);
    unsigned* const to = reinterpret_cast<unsigned*>(tile + row * pitch + i % chunks * 4);
    to[0] = chunk.x;
    to[1] = chunk.y;
    to[2] = chunk.z;
    to[3] = chunk.w;
  }
}

extern "C" __global__ void __launch_bounds__(32 * warps)
    bnhd_forward(const half* q, const half* k, const half* v, half* o, int heads, int n_q, int n_k, int first_instance,
                 float scale, int causal) {
  __shared__ half2 q_tile[TILE_BR * words];
  __shared__ half2 k_tile[TILE_BC * key_pitch];
  __shared__ half2 v_tile[TILE_BC * words];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int instance = first_instance + blockIdx.y;
  const int batch = instance / heads;
  const int head = instance % heads;
  const long long stride = (long long)heads * HEAD_DIM;
  const int first_row = blockIdx.x * TILE_BR;
  const long long query = (batch * (long long)n_q + first_row) * stride + head * HEAD_DIM;
  const long long key = batch * (long long)n_k * stride + head * HEAD_DIM;
  const int last_row = min(first_row + TILE_BR, n_q) - 1;
  const int block_last = causal ? min(n_k - 1, last_row + n_k - n_q) : n_k - 1;

  float2 out[rows_per_warp][own_words] = {};
  float maximum[rows_per_warp];
  float sum[rows_per_warp] = {};
  for (int r = 0; r < rows_per_warp; ++r) maximum[r] = -INFINITY;
  if (block_last >= 0) load_tile(q_tile, words, q + query, stride, TILE_BR, n_q - first_row);

  for (int first_key = 0; first_key <= block_last; first_key += TILE_BC) {
    __syncthreads();  // no warp reads the previous tiles
    load_tile(k_tile, key_pitch, k + key + first_key * stride, stride, TILE_BC, n_k - first_key);
    load_tile(v_tile, words, v + key + first_key * stride, stride, TILE_BC, n_k - first_key);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rows_per_warp; ++r) {
      const int row = r * warps + warp;
      const int last = causal ? min(n_k - 1, first_row + row + n_k - n_q) : n_k - 1;
      float product = 0.0f;
      for (int c = 0; c < words; ++c) {
        const float2 a = __half22float2(q_tile[row * words + c]);
        const float2 b = __half22float2(k_tile[lane * key_pitch + c]);
        product += a.x * b.x + a.y * b.y;
      }
      const float score = first_key + lane <= last ? product * scale : -INFINITY;
      const float highest = fmaxf(maximum[r], warp_max(score));
      if (highest == -INFINITY) continue;  // no visible key so far
      const float correction = expf(maximum[r] - highest);
      const float weight = expf(score - highest);
      maximum[r] = highest;
      sum[r] = sum[r] * correction + warp_sum(weight);
      for (int i = 0; i < own_words; ++i) {
        out[r][i].x *= correction;
        out[r][i].y *= correction;
      }
      for (int c = 0; c < TILE_BC; ++c) {
        const float of_key = __shfl_sync(0xFFFFFFFF, weight, c);
        for (int i = 0; i < own_words; ++i) {
          const float2 value = __half22float2(v_tile[c * words + i * 32 + lane]);
          out[r][i].x += of_key * value.x;
          out[r][i].y += of_key * value.y;
        }
      }
    }
  }

#pragma unroll
  for (int r = 0; r < rows_per_warp; ++r) {
    const int row = r * warps + warp;
    if (first_row + row >= n_q) continue;
    const float inverse = sum[r] > 0.0f ? 1.0f / sum[r] : 0.0f;  // O is 0 for a row that sees no key
    half2* const target = reinterpret_cast<half2*>(o + query + row * stride);
    for (int i = 0; i < own_words; ++i) {
      target[i * 32 + lane] = __floats2half2_rn(out[r][i].x * inverse, out[r][i].y * inverse);
    }
  }
}

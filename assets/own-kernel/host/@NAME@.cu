// SPDX-License-Identifier: Apache-2.0
// softmax(Q K^T / sqrt(d)) V without S in memory, and its launcher: each thread keeps a row of Q and its output in
// registers, and a block streams K and V, TILE_BC rows at a time (FlashAttention-2, arXiv 2307.08691, Algorithm 1).
// fp16 in and out, fp32 arithmetic: simple, but far from a GPU's peak.
// Q, O: [batch * heads, n_q, d]; K, V: [batch * heads, n_k, d]; LSE: [batch * heads, n_q], natural logarithm.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>

#ifndef TILE_BR
#define TILE_BR 64
#endif
#ifndef TILE_BC
#define TILE_BC 64
#endif
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

constexpr int chunks = HEAD_DIM / 8;     // of 16 bytes, one load each
constexpr int row_pitch = HEAD_DIM + 8;  // fewer bank conflicts
static_assert(HEAD_DIM % 8 == 0, "whole chunks");

// Copies rows into shared memory; rows from `available` on are 0.
__device__ void load_rows(half* tile, int pitch, const half* rows, int count, int available) {
  for (int i = threadIdx.x; i < count * chunks; i += TILE_BR) {
    const bool there = i / chunks < available;
    const uint4 chunk = there ? __ldcg(reinterpret_cast<const uint4*>(rows) + i) : make_uint4(0, 0, 0, 0);
    *reinterpret_cast<uint4*>(tile + i / chunks * pitch + i % chunks * 8) = chunk;
  }
}

extern "C" __global__ void __launch_bounds__(TILE_BR)
    attention_forward(const half* q, const half* k, const half* v, half* o, float* lse, int n_q, int n_k, float scale,
                      bool causal) {
  __shared__ alignas(16) half staged[TILE_BR * row_pitch];  // rows of Q, then of O
  __shared__ alignas(16) half k_tile[TILE_BC * HEAD_DIM];
  __shared__ alignas(16) half v_tile[TILE_BC * HEAD_DIM];
  const int first_row = blockIdx.x * TILE_BR;
  const int row = first_row + threadIdx.x;
  const long long block_row = (long long)blockIdx.y * n_q + first_row;
  const long long key_row = (long long)blockIdx.y * n_k;

  // Last keys that this row and the last row of the block see.
  const int last = causal ? min(n_k - 1, row + n_k - n_q) : n_k - 1;
  const int last_row = min(first_row + TILE_BR, n_q) - 1;
  const int block_last = causal ? min(n_k - 1, last_row + n_k - n_q) : n_k - 1;

  if (block_last >= 0) load_rows(staged, row_pitch, q + block_row * HEAD_DIM, TILE_BR, n_q - first_row);
  __syncthreads();
  half2* const own = reinterpret_cast<half2*>(staged + threadIdx.x * row_pitch);
  float2 query[HEAD_DIM / 2];
  float2 out[HEAD_DIM / 2];
#pragma unroll
  for (int c = 0; c < HEAD_DIM / 2; ++c) {
    query[c] = __half22float2(own[c]);
    out[c] = make_float2(0.0f, 0.0f);
  }

  float maximum = -INFINITY;
  float sum = 0.0f;
  for (int first_key = 0; first_key <= block_last; first_key += TILE_BC) {
    __syncthreads();  // no thread reads the previous tiles
    load_rows(k_tile, HEAD_DIM, k + (key_row + first_key) * HEAD_DIM, TILE_BC, n_k - first_key);
    load_rows(v_tile, HEAD_DIM, v + (key_row + first_key) * HEAD_DIM, TILE_BC, n_k - first_key);
    __syncthreads();
    for (int j = 0; j < TILE_BC && first_key + j <= last; ++j) {
      const half2* const key = reinterpret_cast<const half2*>(k_tile + j * HEAD_DIM);
      const half2* const value = reinterpret_cast<const half2*>(v_tile + j * HEAD_DIM);
      float score = 0.0f;
#pragma unroll
      for (int c = 0; c < HEAD_DIM / 2; ++c) {
        const float2 two = __half22float2(key[c]);
        score += query[c].x * two.x + query[c].y * two.y;
      }
      score *= scale;
      const float correction = score > maximum ? expf(maximum - score) : 1.0f;
      maximum = fmaxf(maximum, score);
      const float weight = expf(score - maximum);
      sum = sum * correction + weight;
#pragma unroll
      for (int c = 0; c < HEAD_DIM / 2; ++c) {
        const float2 two = __half22float2(value[c]);
        out[c] = make_float2(out[c].x * correction + weight * two.x, out[c].y * correction + weight * two.y);
      }
    }
  }

  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;  // O is 0 for a row that sees no key
#pragma unroll
  for (int c = 0; c < HEAD_DIM / 2; ++c) own[c] = __floats2half2_rn(out[c].x * inverse, out[c].y * inverse);
  if (row < n_q) lse[(long long)blockIdx.y * n_q + row] = sum > 0.0f ? maximum + logf(sum) : -INFINITY;
  __syncthreads();
  uint4* const target = reinterpret_cast<uint4*>(o + block_row * HEAD_DIM);  // adjacent threads, adjacent addresses
  for (int i = threadIdx.x; i < min(TILE_BR, n_q - first_row) * chunks; i += TILE_BR) {
    target[i] = *reinterpret_cast<const uint4*>(staged + i / chunks * row_pitch + i % chunks * 8);
  }
}

// instances: batch * heads
cudaError_t launch_attention(const half* q, const half* k, const half* v, half* o, float* lse, int instances, int n_q,
                             int n_k, bool causal, cudaStream_t stream) {
  const dim3 grid((n_q + TILE_BR - 1) / TILE_BR, instances);
  const float scale = 1.0f / std::sqrt(static_cast<float>(HEAD_DIM));
  attention_forward<<<grid, TILE_BR, 0, stream>>>(q, k, v, o, lse, n_q, n_k, scale, causal);
  return cudaGetLastError();
}

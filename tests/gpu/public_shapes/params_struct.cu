// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 forward with one structure as its argument: a thread per row of Q, whose row, output and statistics
// are in registers. Q, O: [batch * heads, n_q, d]; K, V: [batch * heads, n_k, d].
#include <cuda_fp16.h>
#include <cmath>

struct Params {
  const half* q;
  const half* k;
  const half* v;
  half* o;
  float* lse;
  int n_q;
  long long query_stride;  // halves per head
  int n_k;
  long long key_stride;
  float scale;
  bool causal;
  int first_instance;
};

constexpr int chunks = HEAD_DIM / 8;
constexpr int row_pitch = HEAD_DIM + 8;

// Copies rows of 16-byte chunks; rows from `available` on are 0.
__device__ void load_rows(half* tile, int pitch, const half* rows, int count, int available) {
  for (int i = threadIdx.x; i < count * chunks; i += blockDim.x) {
    const bool there = i / chunks < available;
    const uint4 chunk = there ? __ldcg(reinterpret_cast<const uint4*>(rows) + i) : make_uint4(0, 0, 0, 0);
    *reinterpret_cast<uint4*>(tile + i / chunks * pitch + i % chunks * 8) = chunk;
  }
}

extern "C" __global__ void __launch_bounds__(TILE_BR) params_forward(const Params params) {
  __shared__ alignas(16) half staged[TILE_BR * row_pitch];  // rows of Q, then of O
  __shared__ alignas(16) half k_tile[TILE_BC * HEAD_DIM];
  __shared__ alignas(16) half v_tile[TILE_BC * HEAD_DIM];
  const long long instance = params.first_instance + blockIdx.y;
  const int n_q = params.n_q;
  const int n_k = params.n_k;
  const int first_row = blockIdx.x * TILE_BR;
  const int row = first_row + threadIdx.x;
  const int last = params.causal ? min(n_k - 1, row + n_k - n_q) : n_k - 1;
  const int last_row = min(first_row + TILE_BR, n_q) - 1;
  const int block_last = params.causal ? min(n_k - 1, last_row + n_k - n_q) : n_k - 1;
  const half* const k = params.k + instance * params.key_stride;
  const half* const v = params.v + instance * params.key_stride;
  const long long block_at = instance * params.query_stride + (long long)first_row * HEAD_DIM;
  half2* const own = reinterpret_cast<half2*>(staged + threadIdx.x * row_pitch);

  if (block_last >= 0) load_rows(staged, row_pitch, params.q + block_at, TILE_BR, n_q - first_row);
  __syncthreads();
  float2 q[HEAD_DIM / 2];
  float2 out[HEAD_DIM / 2];
#pragma unroll
  for (int c = 0; c < HEAD_DIM / 2; ++c) {
    q[c] = __half22float2(own[c]);
    out[c] = make_float2(0.0f, 0.0f);
  }

  float maximum = -INFINITY;
  float sum = 0.0f;
  for (int first_key = 0; first_key <= block_last; first_key += TILE_BC) {
    __syncthreads();  // no thread reads the previous tiles
    load_rows(k_tile, HEAD_DIM, k + (long long)first_key * HEAD_DIM, TILE_BC, n_k - first_key);
    load_rows(v_tile, HEAD_DIM, v + (long long)first_key * HEAD_DIM, TILE_BC, n_k - first_key);
    __syncthreads();
    for (int j = 0; j < TILE_BC && first_key + j <= last; ++j) {
      const half2* const key = reinterpret_cast<const half2*>(k_tile + j * HEAD_DIM);
      const half2* const value = reinterpret_cast<const half2*>(v_tile + j * HEAD_DIM);
      float score = 0.0f;
#pragma unroll
      for (int c = 0; c < HEAD_DIM / 2; ++c) {
        const float2 two = __half22float2(key[c]);
        score += q[c].x * two.x + q[c].y * two.y;
      }
      score *= params.scale;
      if (score > maximum) {
        const float correction = expf(maximum - score);
        maximum = score;
        sum *= correction;
#pragma unroll
        for (int c = 0; c < HEAD_DIM / 2; ++c) out[c] = make_float2(out[c].x * correction, out[c].y * correction);
      }
      const float weight = expf(score - maximum);
      sum += weight;
#pragma unroll
      for (int c = 0; c < HEAD_DIM / 2; ++c) {
        const float2 two = __half22float2(value[c]);
        out[c] = make_float2(out[c].x + weight * two.x, out[c].y + weight * two.y);
      }
    }
  }

  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;  // O is 0 for a row that sees no key
#pragma unroll
  for (int c = 0; c < HEAD_DIM / 2; ++c) own[c] = __floats2half2_rn(out[c].x * inverse, out[c].y * inverse);
  if (row < n_q) params.lse[instance * n_q + row] = sum > 0.0f ? maximum + logf(sum) : -INFINITY;
  __syncthreads();
  uint4* const target = reinterpret_cast<uint4*>(params.o + block_at);
  for (int i = threadIdx.x; i < min(TILE_BR, n_q - first_row) * chunks; i += TILE_BR) {
    target[i] = *reinterpret_cast<const uint4*>(staged + i / chunks * row_pitch + i % chunks * 8);
  }
}

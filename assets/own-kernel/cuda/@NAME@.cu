// SPDX-License-Identifier: Apache-2.0
// softmax(Q K^T / sqrt(d)) V without S in memory: each block keeps TILE_BR query rows and their output in registers and
// streams K and V, TILE_BC rows at a time (FlashAttention-2, arXiv 2307.08691, Algorithm 1). Plain fp32 arithmetic:
// simple, but far from a GPU's peak. Q, O: [batch, heads, n_q, d]; K, V: [batch, heads_kv, n_k, d]; LSE: [batch, heads,
// n_q], natural logarithm. TILE_BR, TILE_BC, HEAD_DIM, IS_BF16 and IS_CAUSAL come from the manifest's "defines".

constexpr int threads_per_row = 4;                   // each thread holds a quarter of a row of Q and O
constexpr int columns = HEAD_DIM / threads_per_row;  // per thread, in chunks of 8
constexpr int chunks = columns / 8;                  // 16 bytes, one load each
constexpr int keys_per_step = 8;                     // keys per update of the running maximum
constexpr float log2_e = 1.44269504f;
#define MINUS_INFINITY __int_as_float(0xFF800000)
static_assert(HEAD_DIM % 32 == 0 && TILE_BC % keys_per_step == 0, "whole chunks, whole steps");

// Elements have 16 bits; inline PTX converts them, so no header is needed.
__device__ float to_float(unsigned bits) {
  float value;
#if IS_BF16
  value = __uint_as_float(bits << 16);
#else
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)bits));
#endif
  return value;
}

__device__ unsigned to_bits(float value) {
  unsigned short bits;
#if IS_BF16
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#endif
  return bits;
}

__device__ void unpack(const int4& packed, float* values) {
  const unsigned words[4] = {(unsigned)packed.x, (unsigned)packed.y, (unsigned)packed.z, (unsigned)packed.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values[2 * i] = to_float(words[i] & 0xFFFF);
    values[2 * i + 1] = to_float(words[i] >> 16);
  }
}

__device__ int4 pack(const float* values) {
  unsigned words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = to_bits(values[2 * i]) | to_bits(values[2 * i + 1]) << 16;
  return make_int4((int)words[0], (int)words[1], (int)words[2], (int)words[3]);
}

// Loads rows [first, first + TILE_BC) of K or V; zeros past the last key.
__device__ void load_tile(int4* tile, const int4* rows, int first, int n_k) {
  constexpr int chunks_per_row = HEAD_DIM / 8;
  for (int i = threadIdx.x; i < TILE_BC * chunks_per_row; i += blockDim.x) {
    const bool there = first + i / chunks_per_row < n_k;
    tile[i] = there ? __ldcg(rows + (long long)first * chunks_per_row + i) : make_int4(0, 0, 0, 0);
  }
}

extern "C" __global__ void own_forward(const int4* q, const int4* k, const int4* v, int4* o, float* lse, int n_q,
                                       int n_k, int heads, int heads_kv, float scale) {
  extern __shared__ int4 shared[];
  int4* const k_tile = shared;
  int4* const v_tile = shared + TILE_BC * HEAD_DIM / 8;

  const int head = blockIdx.y;  // over the whole batch
  const int head_kv = head / heads * heads_kv + head % heads / (heads / heads_kv);
  const int part = threadIdx.x % threads_per_row;
  const int row = blockIdx.x * TILE_BR + threadIdx.x / threads_per_row;
  const bool is_row = row < n_q;
  const int4* const k_rows = k + (long long)head_kv * n_k * (HEAD_DIM / 8);
  const int4* const v_rows = v + (long long)head_kv * n_k * (HEAD_DIM / 8);
  const long long of_row = ((long long)head * n_q + row) * (HEAD_DIM / 8);

  // Last keys that this row and the last row of the block see.
  const int last = IS_CAUSAL ? min(n_k - 1, row + n_k - n_q) : n_k - 1;
  const int last_row = min((int)blockIdx.x * TILE_BR + TILE_BR, n_q) - 1;
  const int block_last = IS_CAUSAL ? min(n_k - 1, last_row + n_k - n_q) : n_k - 1;

  float q_row[columns];
  float o_row[columns] = {};
#pragma unroll
  for (int c = 0; c < chunks; ++c) {
    const bool there = is_row && block_last >= 0;
    const int4 packed = there ? __ldcg(q + of_row + c * threads_per_row + part) : make_int4(0, 0, 0, 0);
    unpack(packed, q_row + 8 * c);
  }

  float maximum = MINUS_INFINITY;  // running maximum of base-2 scores
  float sum = 0;
  for (int first = 0; first <= block_last; first += TILE_BC) {
    __syncthreads();  // no thread reads the previous tile
    load_tile(k_tile, k_rows, first, n_k);
    load_tile(v_tile, v_rows, first, n_k);
    __syncthreads();

    for (int j = 0; j < TILE_BC; j += keys_per_step) {
      float score[keys_per_step];
      float highest = maximum;
#pragma unroll
      for (int i = 0; i < keys_per_step; ++i) {
        float product = 0;
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
          float key[8];
          unpack(k_tile[(j + i) * (HEAD_DIM / 8) + c * threads_per_row + part], key);
#pragma unroll
          for (int e = 0; e < 8; ++e) product += q_row[8 * c + e] * key[e];
        }
        product += __shfl_xor_sync(0xFFFFFFFF, product, 1);
        product += __shfl_xor_sync(0xFFFFFFFF, product, 2);
        score[i] = first + j + i <= last ? product * scale * log2_e : MINUS_INFINITY;
        highest = fmaxf(highest, score[i]);
      }
      if (highest == MINUS_INFINITY) continue;  // no visible key yet
      const float correction = exp2f(maximum - highest);
      maximum = highest;
      sum *= correction;
#pragma unroll
      for (int e = 0; e < columns; ++e) o_row[e] *= correction;
#pragma unroll
      for (int i = 0; i < keys_per_step; ++i) {
        const float weight = exp2f(score[i] - maximum);
        sum += weight;
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
          float value[8];
          unpack(v_tile[(j + i) * (HEAD_DIM / 8) + c * threads_per_row + part], value);
#pragma unroll
          for (int e = 0; e < 8; ++e) o_row[8 * c + e] += weight * value[e];
        }
      }
    }
  }

  if (!is_row) return;
  const float inverse = sum > 0 ? 1 / sum : 0;  // O is 0 for a row that sees no key
#pragma unroll
  for (int e = 0; e < columns; ++e) o_row[e] *= inverse;
#pragma unroll
  for (int c = 0; c < chunks; ++c) o[of_row + c * threads_per_row + part] = pack(o_row + 8 * c);
  if (part == 0) lse[(long long)head * n_q + row] = sum > 0 ? (maximum + log2f(sum)) / log2_e : MINUS_INFINITY;
}

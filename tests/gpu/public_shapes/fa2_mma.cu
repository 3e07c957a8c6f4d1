// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 forward (arXiv 2307.08691, Algorithm 1) on tensor cores, as a template over the tile: a warp per 16
// rows of Q, scores and output in registers. Q, O: [batch * heads, n_q, Dim]; K, V: [batch * heads_kv, n_k, Dim].
#include <cuda_fp16.h>
#include <cstdint>

#define MINUS_INFINITY __int_as_float(0xFF800000)

// c += a b for a 16 x 16 (row-major), b 16 x 8 (column-major).
__device__ inline void mma_16x8x16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline uint32_t pack(half low, half high) {
  return (uint32_t)__half_as_ushort(low) | (uint32_t)__half_as_ushort(high) << 16;
}
__device__ inline uint32_t pack(float low, float high) {
  return pack(__float2half_rn(low), __float2half_rn(high));
}
__device__ inline uint32_t word(const half* two) {
  return *reinterpret_cast<const uint32_t*>(two);
}

// Copies rows of 16-byte chunks into shared memory; rows from `available` on are 0.
template <int Rows, int Dim, int Pitch>
__device__ void load_tile(half* tile, const half* rows, int available) {
  constexpr int chunks = Dim / 8;
  for (int i = threadIdx.x; i < Rows * chunks; i += blockDim.x) {
    const bool there = i / chunks < available;
    const uint4 chunk = there ? __ldcg(reinterpret_cast<const uint4*>(rows) + i) : make_uint4(0, 0, 0, 0);
    *reinterpret_cast<uint4*>(tile + i / chunks * Pitch + i % chunks * 8) = chunk;
  }
}

template <int Br, int Bc, int Dim>
__global__ void __launch_bounds__(2 * Br)
    fa2_forward(const half* q, const half* k, const half* v, half* o, float* lse, int n_q, int n_k, int heads,
                int heads_kv, int first_instance, float scale, int causal) {
  static_assert(Br % 16 == 0 && Bc % 16 == 0 && Dim % 16 == 0, "whole fragments");
  constexpr int pitch = Dim + 8;  // no bank conflicts
  extern __shared__ uint4 shared[];
  half* const q_tile = reinterpret_cast<half*>(shared);
  half* const k_tile = q_tile + Br * pitch;
  half* const v_tile = k_tile + Bc * pitch;

  const int instance = first_instance + blockIdx.y;
  const int instance_kv = instance / heads * heads_kv + instance % heads / (heads / heads_kv);
  const int first_row = blockIdx.x * Br;
  const int lane = threadIdx.x % 32;
  const int group = lane / 4;  // rows group and group + 8 of the warp
  const int pair = lane % 4 * 2;
  half* const q_warp = q_tile + threadIdx.x / 32 * 16 * pitch;
  const int warp_row = first_row + threadIdx.x / 32 * 16;
  const half* const k_rows = k + (long long)instance_kv * n_k * Dim;
  const half* const v_rows = v + (long long)instance_kv * n_k * Dim;

  // Last key that the last row of the block sees.
  const int last_row = min(first_row + Br, n_q) - 1;
  const int block_last = causal ? min(n_k - 1, last_row + n_k - n_q) : n_k - 1;

  float out[Dim / 8][4] = {};
  float maximum[2] = {MINUS_INFINITY, MINUS_INFINITY};  // of base-2 scores
  float sum[2] = {0.0f, 0.0f};                          // of this lane's columns
  if (block_last >= 0) {
    load_tile<Br, Dim, pitch>(q_tile, q + ((long long)instance * n_q + first_row) * Dim, n_q - first_row);
  }

  for (int first_key = 0; first_key <= block_last; first_key += Bc) {
    __syncthreads();  // no warp reads the previous tiles
    load_tile<Bc, Dim, pitch>(k_tile, k_rows + (long long)first_key * Dim, n_k - first_key);
    load_tile<Bc, Dim, pitch>(v_tile, v_rows + (long long)first_key * Dim, n_k - first_key);
    __syncthreads();

    float scores[Bc / 8][4] = {};
#pragma unroll
    for (int c = 0; c < Dim; c += 16) {
      const uint32_t a[4] = {word(q_warp + group * pitch + c + pair), word(q_warp + (group + 8) * pitch + c + pair),
                             word(q_warp + group * pitch + c + pair + 8),
                             word(q_warp + (group + 8) * pitch + c + pair + 8)};
#pragma unroll
      for (int n = 0; n < Bc / 8; ++n) {
        const half* const keys = k_tile + (8 * n + group) * pitch + c + pair;
        mma_16x8x16(scores[n], a, word(keys), word(keys + 8));
      }
    }

#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = warp_row + group + 8 * h;
      const int last = causal ? min(n_k - 1, row + n_k - n_q) : n_k - 1;
      float highest = maximum[h];
#pragma unroll
      for (int n = 0; n < Bc / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& score = scores[n][2 * h + e];
          score = first_key + 8 * n + pair + e <= last ? score * scale * 1.44269504f : MINUS_INFINITY;
          highest = fmaxf(highest, score);
        }
      }
      highest = fmaxf(highest, __shfl_xor_sync(0xFFFFFFFF, highest, 1));
      highest = fmaxf(highest, __shfl_xor_sync(0xFFFFFFFF, highest, 2));
      const float base = highest == MINUS_INFINITY ? 0.0f : highest;
      const float correction = exp2f(maximum[h] - base);
      maximum[h] = highest;
      sum[h] *= correction;
#pragma unroll
      for (int n = 0; n < Bc / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) sum[h] += scores[n][2 * h + e] = exp2f(scores[n][2 * h + e] - base);
      }
#pragma unroll
      for (int n = 0; n < Dim / 8; ++n) {
        out[n][2 * h] *= correction;
        out[n][2 * h + 1] *= correction;
      }
    }

#pragma unroll
    for (int j = 0; j < Bc / 16; ++j) {
      const float(&low)[4] = scores[2 * j];
      const float(&high)[4] = scores[2 * j + 1];
      const uint32_t a[4] = {pack(low[0], low[1]), pack(low[2], low[3]), pack(high[0], high[1]),
                             pack(high[2], high[3])};
#pragma unroll
      for (int n = 0; n < Dim / 8; ++n) {
        const half* const values = v_tile + (16 * j + pair) * pitch + 8 * n + group;
        mma_16x8x16(out[n], a, pack(values[0], values[pitch]), pack(values[8 * pitch], values[9 * pitch]));
      }
    }
  }

#pragma unroll
  for (int h = 0; h < 2; ++h) {
    sum[h] += __shfl_xor_sync(0xFFFFFFFF, sum[h], 1);
    sum[h] += __shfl_xor_sync(0xFFFFFFFF, sum[h], 2);
    const float inverse = sum[h] > 0.0f ? 1.0f / sum[h] : 0.0f;  // O is 0 for a row that sees no key
    const int row = warp_row + group + 8 * h;
    if (pair == 0 && row < n_q) {
      const float value = sum[h] > 0.0f ? (maximum[h] + log2f(sum[h])) * 0.693147181f : MINUS_INFINITY;
      lse[(long long)instance * n_q + row] = value;
    }
#pragma unroll
    for (int n = 0; n < Dim / 8; ++n) {
      uint32_t* const target = reinterpret_cast<uint32_t*>(q_warp + (group + 8 * h) * pitch + 8 * n + pair);
      *target = pack(out[n][2 * h] * inverse, out[n][2 * h + 1] * inverse);
    }
  }
  __syncwarp();
  // 16 bytes per lane, whole rows: fragments alone would fill half of each sector.
  uint4* const target = reinterpret_cast<uint4*>(o + ((long long)instance * n_q + warp_row) * Dim);
  for (int i = lane; i < 16 * Dim / 8; i += 32) {
    const int row = i / (Dim / 8);
    if (warp_row + row < n_q) target[i] = *reinterpret_cast<const uint4*>(q_warp + row * pitch + i % (Dim / 8) * 8);
  }
}

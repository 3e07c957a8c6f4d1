// SPDX-License-Identifier: Apache-2.0
// Attention on packed inputs, qkv [batch, N, 3, heads, d], with WMMA fragments: a warp per 16 rows of Q; scores,
// weights and the output's accumulator in shared memory. O: [batch, N, heads, d]; LSE: [batch, heads, N].
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define MINUS_INFINITY __int_as_float(0xFF800000)

constexpr int half_pitch = HEAD_DIM + 8;  // rows of Q, K, V
constexpr int score_pitch = TILE_BC + 4;
constexpr int weight_pitch = TILE_BC + 8;
constexpr int out_pitch = HEAD_DIM + 4;
static_assert(TILE_BR % 16 == 0 && TILE_BC % 16 == 0 && HEAD_DIM % 16 == 0, "whole fragments");

struct Shared {
  alignas(32) half q[TILE_BR * half_pitch];
  alignas(32) half k[TILE_BC * half_pitch];
  alignas(32) half v[TILE_BC * half_pitch];
  alignas(32) float scores[TILE_BR * score_pitch];
  alignas(32) half weights[TILE_BR * weight_pitch];
  alignas(32) float out[TILE_BR * out_pitch];
};

using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major>;
using RightTransposed = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// Copies rows that are `stride` halves apart, 16 bytes per thread; rows from `available` on are 0.
__device__ void load_tile(half* tile, const half* rows, long long stride, int count, int available) {
  constexpr int chunks = HEAD_DIM / 8;
  for (int i = threadIdx.x; i < count * chunks; i += blockDim.x) {
    const int row = i / chunks;
    const uint4* const from = reinterpret_cast<const uint4*>(rows + row * stride) + i % chunks;
    *reinterpret_cast<uint4*>(tile + row * half_pitch + i % chunks * 8) =
        row < available ? __ldcg(from) : make_uint4(0, 0, 0, 0);
  }
}

__device__ unsigned pack(const float* two) {
  const half2 packed = __floats2half2_rn(two[0], two[1]);
  return *reinterpret_cast<const unsigned*>(&packed);
}

extern "C" __global__ void __launch_bounds__(2 * TILE_BR)
    packed_forward(const half* qkv, half* o, float* lse, int n, int heads, int first_instance, float scale,
                   int causal) {
  extern __shared__ __align__(32) unsigned char shared_bytes[];
  Shared& shared = *reinterpret_cast<Shared*>(shared_bytes);
  const int lane = threadIdx.x % 32;
  const int warp_row = threadIdx.x / 32 * 16;
  const int own_row = warp_row + lane / 2;  // two lanes per row for the softmax
  const int part = lane % 2;
  const int instance = first_instance + blockIdx.y;
  const int head = instance % heads;
  const long long batch_row = (long long)(instance / heads) * n;
  const int first_row = blockIdx.x * TILE_BR;
  const long long width = (long long)heads * HEAD_DIM;
  const half* const q = qkv + batch_row * 3 * width + head * HEAD_DIM;
  const half* const k = q + width;
  const half* const v = k + width;
  const int block_last = causal ? min(n, first_row + TILE_BR) - 1 : n - 1;
  const int last = causal ? min(n - 1, first_row + own_row) : n - 1;

  load_tile(shared.q, q + first_row * 3 * width, 3 * width, TILE_BR, n - first_row);
  float* const out = shared.out + own_row * out_pitch + part * (HEAD_DIM / 2);
  for (int c = 0; c < HEAD_DIM / 2; ++c) out[c] = 0.0f;
  float maximum = MINUS_INFINITY;
  float sum = 0.0f;

  for (int first_key = 0; first_key <= block_last; first_key += TILE_BC) {
    __syncthreads();  // no warp reads the previous tiles
    load_tile(shared.k, k + first_key * 3 * width, 3 * width, TILE_BC, n - first_key);
    load_tile(shared.v, v + first_key * 3 * width, 3 * width, TILE_BC, n - first_key);
    __syncthreads();

    for (int j = 0; j < TILE_BC; j += 16) {
      Sum product;
      wmma::fill_fragment(product, 0.0f);
      for (int c = 0; c < HEAD_DIM; c += 16) {
        Left queries;
        RightTransposed keys;
        wmma::load_matrix_sync(queries, shared.q + warp_row * half_pitch + c, half_pitch);
        wmma::load_matrix_sync(keys, shared.k + j * half_pitch + c, half_pitch);
        wmma::mma_sync(product, queries, keys, product);
      }
      wmma::store_matrix_sync(shared.scores + warp_row * score_pitch + j, product, score_pitch, wmma::mem_row_major);
    }
    __syncwarp();

    // Every row sees key 0, so its maximum is finite after the first tile.
    const float* const scores = shared.scores + own_row * score_pitch;
    half* const weights = shared.weights + own_row * weight_pitch;
    float highest = maximum;
    for (int j = part; j < TILE_BC; j += 2) {
      if (first_key + j <= last) highest = fmaxf(highest, scores[j] * scale);
    }
    highest = fmaxf(highest, __shfl_xor_sync(0xFFFFFFFF, highest, 1));
    const float correction = __expf(maximum - highest);
    maximum = highest;
    float added = 0.0f;
    for (int j = part; j < TILE_BC; j += 2) {
      const float weight = first_key + j <= last ? __expf(scores[j] * scale - highest) : 0.0f;
      weights[j] = __float2half_rn(weight);
      added += weight;
    }
    sum = sum * correction + added + __shfl_xor_sync(0xFFFFFFFF, added, 1);
    for (int c = 0; c < HEAD_DIM / 2; ++c) out[c] *= correction;
    __syncwarp();

    for (int c = 0; c < HEAD_DIM; c += 16) {
      float* const target = shared.out + warp_row * out_pitch + c;
      Sum accumulator;
      wmma::load_matrix_sync(accumulator, target, out_pitch, wmma::mem_row_major);
      for (int j = 0; j < TILE_BC; j += 16) {
        Left left;
        Right values;
        wmma::load_matrix_sync(left, shared.weights + warp_row * weight_pitch + j, weight_pitch);
        wmma::load_matrix_sync(values, shared.v + j * half_pitch + c, half_pitch);
        wmma::mma_sync(accumulator, left, values, accumulator);
      }
      wmma::store_matrix_sync(target, accumulator, out_pitch, wmma::mem_row_major);
    }
    __syncwarp();
  }

  const float inverse = __fdividef(1.0f, sum);
  for (int c = 0; c < HEAD_DIM / 2; ++c) out[c] *= inverse;
  if (part == 0 && first_row + own_row < n) {
    lse[(long long)instance * n + first_row + own_row] = maximum + logf(sum);
  }
  __syncwarp();
  for (int i = lane; i < 16 * HEAD_DIM / 8; i += 32) {  // 16 bytes per lane, whole rows
    const int row = warp_row + i / (HEAD_DIM / 8);
    const int column = i % (HEAD_DIM / 8) * 8;
    if (first_row + row >= n) continue;
    const float* const from = shared.out + row * out_pitch + column;
    // The compiler divides a plain assignment into four stores, which L1 does not always merge.
    __stcg(reinterpret_cast<uint4*>(o + (batch_row + first_row + row) * width + head * HEAD_DIM + column),
           make_uint4(pack(from), pack(from + 2), pack(from + 4), pack(from + 6)));
  }
}

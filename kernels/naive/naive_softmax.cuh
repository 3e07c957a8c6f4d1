// SPDX-License-Identifier: Apache-2.0
// Standard attention, second kernel: P = softmax(mask(S)), row by row. A row is held in registers, so S is read once
// and P written once. Dropout sets the sign bits of dropped entries, since the backward pass needs both P and Z o P.
//
// Tile program of a block, for each of its rows: load the row of S, store the row of P; whole strides each. Masked
// columns and padding are zero in P.
#include "naive/naive_weights.cuh"

namespace attnscope::naive {

constexpr int pieces = softmax_pieces;

}  // namespace attnscope::naive

extern "C" __global__ void __launch_bounds__(1024)
    attn_naive_softmax(const unsigned short* s, unsigned short* p, int instances, int n_q, int n_k, int stride,
                       int row_warps, int heads_q, int left, int right, const int* key_lengths,
                       const unsigned char* block_mask, int mask_block, int keep, unsigned seed) {
  using namespace attnscope::naive;
  __shared__ float maxima[32];
  __shared__ float sums[32];

  const int rows_per_block = static_cast<int>(blockDim.x) / 32 / row_warps;
  const long long row = static_cast<long long>(blockIdx.x) * rows_per_block + threadIdx.x / 32 / row_warps;
  if (row >= static_cast<long long>(instances) * n_q) {
    return;  // only whole warps that own a row by themselves exit here
  }
  const int row_threads = 32 * row_warps;
  const int thread = static_cast<int>(threadIdx.x) % row_threads;
  s += row * stride;
  p += row * stride;

  const int instance = static_cast<int>(row / n_q);
  const int query = static_cast<int>(row % n_q);
  const RowMask mask = row_mask(instance, query, n_q, n_k, heads_q, left, right, key_lengths, block_mask, mask_block);

  uint4 held[pieces];
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    const int column = (i * row_threads + thread) * 8;
    if (column < stride) {
      held[i] = load_16_bytes(s + column);
    } else {
      held[i] = make_uint4(minus_infinities, minus_infinities, minus_infinities, minus_infinities);
    }
  }
  float maximum = minus_infinity;
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    if (i * row_threads * 8 >= stride) {
      break;
    }
    mask.apply(held[i], (i * row_threads + thread) * 8);
    const unsigned words[4] = {held[i].x, held[i].y, held[i].z, held[i].w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float2 pair = unpack(words[w]);
      maximum = fmaxf(maximum, fmaxf(pair.x, pair.y));
    }
  }
  maximum = reduce_row(maximum, row_warps, maxima, Maximum());
  const float reference = maximum > minus_infinity ? maximum * log2_e : 0.0f;  // a row may see no key

  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    if (i * row_threads * 8 >= stride) {
      break;
    }
    const unsigned words[4] = {held[i].x, held[i].y, held[i].z, held[i].w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float2 pair = unpack(words[w]);
      sum += exp2_fast(pair.x * log2_e - reference) + exp2_fast(pair.y * log2_e - reference);
    }
  }
  sum = reduce_row(sum, row_warps, sums, Sum());
  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;

#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    if (i * row_threads * 8 >= stride) {
      break;
    }
    const int column = (i * row_threads + thread) * 8;
    unsigned signs[4] = {};
#if ATTN_DROPOUT
    dropout_sign_bits(signs, seed, instance, query, column, keep);
#endif
    if (column < stride) {
      store_weights(p + column, held[i], reference, inverse, signs);
    }
  }
}

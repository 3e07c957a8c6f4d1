// SPDX-License-Identifier: Apache-2.0
// Standard attention, second kernel, for rows that do not fit in one block. Reads a row of S once for its maximum and
// sum and once more for P.
//
// Tile program of block row: for t: load S[row, step columns]; for t: load S[row, step columns], store P[row, step
// columns].
#include "naive/naive_weights.cuh"

namespace attnscope::naive {

constexpr int threads = 1024;
constexpr int pieces = long_row_pieces;

}  // namespace attnscope::naive

extern "C" __global__ void __launch_bounds__(attnscope::naive::threads, 1)
    attn_naive_softmax_long(const unsigned short* s, unsigned short* p, int instances, int n_q, int n_k, int stride,
                            int heads_q, int left, int right, const int* key_lengths, const unsigned char* block_mask,
                            int mask_block, int keep, unsigned seed) {
  using namespace attnscope::naive;
  __shared__ float maxima[32];
  __shared__ float sums[32];

  const int row = static_cast<int>(blockIdx.x);
  const int instance = row / n_q;
  const int query = row % n_q;
  const int thread = static_cast<int>(threadIdx.x);
  s += static_cast<long long>(row) * stride;
  p += static_cast<long long>(row) * stride;
  const RowMask mask = row_mask(instance, query, n_q, n_k, heads_q, left, right, key_lengths, block_mask, mask_block);

  const auto load = [&](uint4(&held)[pieces], int first) {
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const int column = first + (i * threads + thread) * 8;
      if (column < stride) {
        held[i] = load_16_bytes(s + column);
      }
    }
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      mask.apply(held[i], first + (i * threads + thread) * 8);
    }
  };

  // Per-thread maximum and the sum relative to it.
  float maximum = minus_infinity;
  float sum = 0.0f;
#pragma unroll 1
  for (int first = 0; first < stride; first += long_row_step) {
    uint4 held[pieces];
    load(held, first);
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const unsigned words[4] = {held[i].x, held[i].y, held[i].z, held[i].w};
      float highest = maximum;
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const float2 pair = unpack(words[w]);
        highest = fmaxf(highest, fmaxf(pair.x, pair.y));
      }
      const float reference = highest > minus_infinity ? highest * log2_e : 0.0f;
      sum *= exp2_fast(maximum * log2_e - reference);
      maximum = highest;
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const float2 pair = unpack(words[w]);
        sum += exp2_fast(pair.x * log2_e - reference) + exp2_fast(pair.y * log2_e - reference);
      }
    }
  }
  const float row_maximum = reduce_row(maximum, threads / 32, maxima, Maximum());
  const float reference = row_maximum > minus_infinity ? row_maximum * log2_e : 0.0f;  // a row may see no key
  sum = reduce_row(sum * exp2_fast(maximum * log2_e - reference), threads / 32, sums, Sum());
  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;

#pragma unroll 1
  for (int first = 0; first < stride; first += long_row_step) {
    uint4 held[pieces];
    load(held, first);
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const int column = first + (i * threads + thread) * 8;
      unsigned signs[4] = {};
#if ATTN_DROPOUT
      dropout_sign_bits(signs, seed, instance, query, column, keep);
#endif
      if (column < stride) {
        store_weights(p + column, held[i], reference, inverse, signs);
      }
    }
  }
}

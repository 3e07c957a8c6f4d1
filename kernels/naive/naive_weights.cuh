// SPDX-License-Identifier: Apache-2.0
// Scores to weights: mask, dropout and the entries of P, 8 columns of a row at a time.
#pragma once

#include "device/philox_shape.h"
#include "device/visibility.cuh"
#include "naive/naive_row.cuh"

namespace attnscope::naive {

#if ATTN_BF16
constexpr unsigned minus_infinities = 0xff80ff80u;
#else
constexpr unsigned minus_infinities = 0xfc00fc00u;
#endif

/// Keys that one row sees: [first, last) without the blocks that the block mask hides.
struct RowMask {
  int first;
  int last;
  const unsigned char* blocks;
  int block_size;

  /// Sets hidden scores among the 8 from `column` to minus infinity.
  __device__ __forceinline__ void apply(uint4& piece, int column) const {
    // Pieces are aligned and blocks are multiples of 16, so a piece lies in one block.
    const bool counts = column < last && (!has_block_mask || blocks[column / block_size] != 0);
    if (counts && column + 8 <= last && (!bounded_left || column >= first)) {
      return;
    }
    unsigned* const words = &piece.x;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const int low = column + 2 * w;
      const unsigned visible = (counts && low < last && (!bounded_left || low >= first) ? 0x0000ffffu : 0u) |
                               (counts && low + 1 < last && (!bounded_left || low + 1 >= first) ? 0xffff0000u : 0u);
      words[w] = (words[w] & visible) | (minus_infinities & ~visible);
    }
  }
};

__device__ __forceinline__ RowMask row_mask(int instance, int query, int n_q, int n_k, int heads_q, int left, int right,
                                            const int* key_lengths, const unsigned char* block_mask, int mask_block) {
  const Visibility seen =
      visibility(padded_keys ? instance / heads_q : 0, n_q, n_k, left, right, key_lengths, block_mask, mask_block);
  RowMask mask;
  mask.first = seen.first(query);
  mask.last = seen.last(query);
  mask.blocks = has_block_mask ? block_mask + static_cast<long long>(query / mask_block) * seen.block_columns : nullptr;
  mask.block_size = mask_block;
  return mask;
}

/// Returns the sign bits that mark dropped entries among the 8 entries of P from `column`. Called by all lanes of the
/// warp, each with the 8 columns after its neighbor's. One lane of four computes the random bytes of a quarter of 32
/// columns; then the lanes exchange them.
__device__ __forceinline__ void dropout_sign_bits(unsigned (&signs)[4], unsigned seed, unsigned instance,
                                                  unsigned query, unsigned column, unsigned keep) {
  const unsigned t = threadIdx.x % 4;
  const Philox4 bytes = dropout_bytes(seed, instance, query, column / 32 * 32 + 2 * t);
  const bool lower_half = query % 16 / 8 != 0;
  // The low four bits of a byte are for columns 0 to 15, the high four for 16 to 31.
  const unsigned most = (keep - 1) * 0x01010101u;
  const unsigned mine = (__vcmpgtu4(lower_half ? bytes.word[2] : bytes.word[0], most) & 0x0f0f0f0fu) |
                        (__vcmpgtu4(lower_half ? bytes.word[3] : bytes.word[1], most) & 0xf0f0f0f0u);
  const unsigned selector = t % 2 == 0 ? 0x1404u : 0x3424u;
  const unsigned shift = t < 2 ? 4 : 0;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const unsigned theirs = __shfl_sync(0xffffffffu, mine, w, 4);
    signs[w] = (__byte_perm(theirs, 0, selector) << shift) & sign_bits;
  }
}

/// Stores the weights exp(s - maximum) / sum of 8 scores; `reference` is the maximum times log2(e).
__device__ __forceinline__ void store_weights(Element* p, const uint4& s, float reference, float inverse,
                                              const unsigned (&signs)[4]) {
  const unsigned words[4] = {s.x, s.y, s.z, s.w};
  unsigned out[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const float2 pair = unpack(words[w]);
    out[w] = pack(exp2_fast(pair.x * log2_e - reference) * inverse, exp2_fast(pair.y * log2_e - reference) * inverse) |
             signs[w];
  }
  store_16_bytes(p, out[0], out[1], out[2], out[3]);
}

}  // namespace attnscope::naive

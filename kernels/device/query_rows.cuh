// SPDX-License-Identifier: Apache-2.0
// A warp's query rows through the online softmax over key tiles, under the masks and dropout of ATTN_MASK and
// ATTN_DROPOUT: the inner part of the forward kernels that multiply warp by warp.
#pragma once

#include "device/attention.cuh"
#include "device/dropout.cuh"
#include "device/visibility.cuh"

namespace attnscope::device {

/// Sets the scores of keys that a row does not see to minus infinity; `row` is this thread's first row, `column` the
/// chunk's first column.
template <int MTiles, int Width>
__device__ __forceinline__ void mask_scores(float (&s)[MTiles][Width / 8][4], int row, int column,
                                            const Visibility& view) {
  const int first = column + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int m = 0; m < MTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int begin = view.first(row + m * 16 + half * 8);
      const int end = view.last(row + m * 16 + half * 8);
#pragma unroll
      for (int n = 0; n < Width / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int key = first + n * 8 + e;
          if (key >= end || (bounded_left && key < begin)) {
            s[m][n][half * 2 + e] = minus_infinity;
          }
        }
      }
    }
  }
}

/// One warp's query rows: their accumulator and statistics, and where the operands lie in shared memory. `Lazy`: by
/// lazy_softmax(), so that the maximum is none.
template <int MTiles, int D, bool Lazy = false>
struct QueryRows {
  using Tile = SharedTile<D>;
  static constexpr int rows = 16 * MTiles;

  float o[MTiles][D / 8][4];
  RowStatistics<MTiles> statistics;
  unsigned q, k, v;  ///< lane addresses: this warp's rows of Q; the first rows of the K and the V tile
  int first_row;     ///< this warp's first row in the matrix
  Visibility view;
  float scale;  ///< times log2(e)
  Dropout dropout;

  /// This thread's row of accumulator row `half` of m16 tile `m`, in the matrix.
  __device__ __forceinline__ int row(int m, int half) const {
    return first_row + m * 16 + half * 8 + static_cast<int>(threadIdx.x) % 32 / 4;
  }

  /// The online softmax over a K/V tile of `Columns` keys from key `column` on, `Chunk` keys at a time. Every warp
  /// calls, with the chunk's index, `after_scores` when Q and K of the chunk have been read, and `before_values` before
  /// V is.
  template <int Columns, int Chunk, class AfterScores, class BeforeValues>
  __device__ __forceinline__ void attend(int column, AfterScores after_scores, BeforeValues before_values) {
    constexpr int full = Columns / Chunk;
    // Else hardly a chunk has no key to see.
    constexpr bool may_skip = bounded_right || bounded_left || Columns % Chunk > 0;
    constexpr bool aligned = Columns % 32 == 0 && Chunk % 32 == 0;
    if constexpr (full == 1) {
      attend_chunk<Chunk, may_skip, aligned>(column, 0, 0, after_scores, before_values);
    } else {
#pragma unroll 1
      for (int index = 0; index < full; ++index) {
        attend_chunk<Chunk, may_skip, aligned>(column, index * Chunk, index, after_scores, before_values);
      }
    }
    if constexpr (Columns % Chunk > 0) {
      attend_chunk<Columns % Chunk, may_skip, aligned>(column, full * Chunk, full, after_scores, before_values);
    }
  }

 private:
  template <int Width, bool MaySkip, bool Aligned, class AfterScores, class BeforeValues>
  __device__ __forceinline__ void attend_chunk(int tile_column, int offset, int index, AfterScores after_scores,
                                               BeforeValues before_values) {
    const int column = tile_column + offset;
    const bool seen = !MaySkip || (column < view.key_end(first_row + rows - 1) &&
                                   (!bounded_left || column + Width > first_row + view.lower));
    float s[MTiles][Width / 8][4];
    unsigned p[MTiles][Width / 8][2];
    if (seen) {
      scores<MTiles, Width, D>(s, recomputed(q), recomputed(k + offset * Tile::row_bytes));
    }
    after_scores(index);
    if (seen) {
      if (!view.whole(first_row, rows, column, Width)) {
        mask_scores<MTiles, Width>(s, row(0, 0), column, view);
      }
      if constexpr (Lazy) {
        lazy_softmax<MTiles, Width, D>(p, s, o, statistics, scale);
      } else {
        online_softmax<MTiles, Width, D>(p, s, o, statistics, scale);
      }
      if constexpr (dropping) {
#pragma unroll
        for (int m = 0; m < MTiles; ++m) {
          drop<Width, Aligned>(p[m], first_row + m * 16, column, dropout);
        }
      }
    }
    before_values(index);
    if (seen) {
      accumulate<MTiles, Width, D>(o, p, recomputed(v + offset * Tile::row_bytes));
    }
  }
};

/// Index of the last chunk of a tile.
constexpr int last_chunk(int columns, int chunk) {
  return (columns + chunk - 1) / chunk - 1;
}

}  // namespace attnscope::device

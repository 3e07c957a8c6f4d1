// SPDX-License-Identifier: Apache-2.0
// Online softmax of a warp's query rows over key tiles, with the masks of ATTN_MASK and the dropout of ATTN_DROPOUT:
// the inner part of the forward kernels that use mma.sync.
#pragma once

#include "device/attention.cuh"
#include "device/dropout.cuh"
#include "device/visibility.cuh"

namespace attnscope::device {

/// Sets scores of hidden keys to minus infinity. `row` is this thread's first row, `column` the chunk's first key.
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

/// A warp's query rows: accumulator, statistics, and operand addresses in shared memory. `Lazy`: uses lazy_softmax(),
/// so that statistics.maximum may be below the true maximum.
template <int MTiles, int D, bool Lazy = false>
struct QueryRows {
  using Tile = SharedTile<D>;
  static constexpr int rows = 16 * MTiles;

  float o[MTiles][D / 8][4];
  RowStatistics<MTiles> statistics;
  unsigned q, k, v;  ///< lane addresses: this warp's rows of Q, first rows of the K and V tiles
  int first_row;
  Visibility view;
  float scale;  ///< includes log2(e)
  Dropout dropout;

  /// Matrix row of this thread's accumulator row `half` of m16 tile `m`.
  __device__ __forceinline__ int row(int m, int half) const {
    return first_row + m * 16 + half * 8 + static_cast<int>(threadIdx.x) % 32 / 4;
  }

  /// Online softmax over a K/V tile of `Columns` keys from key `column`, `Chunk` keys at a time. Every warp calls
  /// `after_scores` with the chunk index when it has read Q and K of the chunk, and `before_values` before it reads V.
  template <int Columns, int Chunk, class AfterScores, class BeforeValues>
  __device__ __forceinline__ void attend(int column, AfterScores after_scores, BeforeValues before_values) {
    constexpr int full = Columns / Chunk;
    // Without a window or a partial chunk, chunks without visible keys are too rare to test for.
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
      scores<MTiles, Width, D>(s, force_recompute(q), force_recompute(k + offset * Tile::row_bytes));
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
      if constexpr (has_dropout) {
#pragma unroll
        for (int m = 0; m < MTiles; ++m) {
          drop<Width, Aligned>(p[m], first_row + m * 16, column, dropout);
        }
      }
    }
    before_values(index);
    if (seen) {
      accumulate<MTiles, Width, D>(o, p, force_recompute(v + offset * Tile::row_bytes));
    }
  }
};

constexpr int last_chunk(int columns, int chunk) {
  return (columns + chunk - 1) / chunk - 1;
}

}  // namespace attnscope::device

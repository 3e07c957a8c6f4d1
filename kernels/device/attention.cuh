// SPDX-License-Identifier: Apache-2.0
// What the flash kernels share: a warp's scores against a chunk of keys, the online softmax over them, and their
// product with the values. A warp owns 16 * MTiles query rows; a thread holds rows g and g + 8 of each m16 tile.
#pragma once

#include "device/dropout.cuh"
#include "device/shared_tile.cuh"
#include "device/visibility.cuh"

namespace attnscope::device {

/// s = Q K^T for 16 * MTiles rows of Q and `Width` rows of K; `q` and `k` are lane addresses of the first row.
template <int MTiles, int Width, int D>
__device__ __forceinline__ void scores(float (&s)[MTiles][Width / 8][4], unsigned q, unsigned k) {
  using Tile = SharedTile<D>;
#pragma unroll
  for (int m = 0; m < MTiles; ++m) {
#pragma unroll
    for (int n = 0; n < Width / 8; ++n) {
      s[m][n][0] = s[m][n][1] = s[m][n][2] = s[m][n][3] = 0.0f;
    }
  }
  // A real loop where the swizzle repeats every 64 columns: unrolled, the compiler loads so many fragments ahead that
  // it spills accumulators.
  constexpr int unrolled = D % 64 == 0 ? 4 : D / 16;
#pragma unroll 1
  for (int first = 0; first < D / 16; first += unrolled) {
#pragma unroll
    for (int step = 0; step < unrolled; ++step) {
      unsigned a[MTiles][4];
#pragma unroll
      for (int m = 0; m < MTiles; ++m) {
        load_matrices(a[m], Tile::columns_on(q, step) + m * 16 * Tile::row_bytes);
      }
#pragma unroll
      for (int n = 0; n < Width / 16; ++n) {
        unsigned b[4];
        load_matrices(b, Tile::columns_on(k, step) + n * 16 * Tile::row_bytes);
#pragma unroll
        for (int m = 0; m < MTiles; ++m) {
          mma(s[m][2 * n], a[m], b[0], b[1]);
          mma(s[m][2 * n + 1], a[m], b[2], b[3]);
        }
      }
    }
    q += 32 * unrolled;
    k += 32 * unrolled;
  }
}

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

/// Running maximum (of unscaled scores, equal in all lanes of a quad) and running sum (each lane its own columns).
template <int MTiles>
struct RowStatistics {
  float maximum[MTiles][2];
  float sum[MTiles][2];
};

/// p = exp(scale * (s - maximum)), packed, and rescales what was accumulated under the old maximum. `scale` is in units
/// of log2(e). A row without any score yet keeps 0 as its reference, so that no infinities are subtracted.
template <int MTiles, int Width, int D>
__device__ __forceinline__ void online_softmax(unsigned (&p)[MTiles][Width / 8][2],
                                               const float (&s)[MTiles][Width / 8][4], float (&o)[MTiles][D / 8][4],
                                               RowStatistics<MTiles>& rows, float scale) {
#pragma unroll
  for (int m = 0; m < MTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float before = rows.maximum[m][half];
      float maximum = before;
#pragma unroll
      for (int n = 0; n < Width / 8; ++n) {
        maximum = fmaxf(maximum, fmaxf(s[m][n][half * 2], s[m][n][half * 2 + 1]));
      }
      maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, 1));
      maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, 2));
      const float reference = maximum == minus_infinity ? 0.0f : maximum * scale;
      const float correction = exp2_fast(before * scale - reference);
      float sum = 0.0f;
#pragma unroll
      for (int n = 0; n < Width / 8; ++n) {
        const float low = exp2_fast(s[m][n][half * 2] * scale - reference);
        const float high = exp2_fast(s[m][n][half * 2 + 1] * scale - reference);
        sum += low + high;
        p[m][n][half] = pack(low, high);
      }
      rows.maximum[m][half] = maximum;
      rows.sum[m][half] = rows.sum[m][half] * correction + sum;
#pragma unroll
      for (int n = 0; n < D / 8; ++n) {
        o[m][n][half * 2] *= correction;
        o[m][n][half * 2 + 1] *= correction;
      }
    }
  }
}

/// o += P V: packed accumulators are laid out as a left operand, so P never leaves its registers. `v` is the lane
/// address (as left operand) of the chunk's first value row.
template <int MTiles, int Width, int D>
__device__ __forceinline__ void accumulate(float (&o)[MTiles][D / 8][4], const unsigned (&p)[MTiles][Width / 8][2],
                                           unsigned v) {
  using Tile = SharedTile<D>;
#pragma unroll
  for (int step = 0; step < Width / 16; ++step) {
#pragma unroll
    for (int n = 0; n < D / 16; ++n) {
      unsigned b[4];
      load_matrices_transposed(b, Tile::columns_on(v, n) + step * 16 * Tile::row_bytes);
#pragma unroll
      for (int m = 0; m < MTiles; ++m) {
        const unsigned a[4] = {p[m][2 * step][0], p[m][2 * step][1], p[m][2 * step + 1][0], p[m][2 * step + 1][1]};
        mma(o[m][2 * n], a, b[0], b[1]);
        mma(o[m][2 * n + 1], a, b[2], b[3]);
      }
    }
  }
}

/// The row's whole sum, from the four lanes that hold its columns.
__device__ __forceinline__ float quad_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

/// One warp's query rows: their accumulator and statistics, and where the operands lie in shared memory.
template <int MTiles, int D>
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
      online_softmax<MTiles, Width, D>(p, s, o, statistics, scale);
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

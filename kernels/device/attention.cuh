// SPDX-License-Identifier: Apache-2.0
// Building blocks of the FlashAttention kernels: a warp's scores for a chunk of keys, the online softmax, and the
// product with V. A warp owns 16 * MTiles query rows; a thread holds rows g and g + 8 of each m16 tile.
#pragma once

#include "device/shared_tile.cuh"

namespace attnscope::device {

/// s = Q K^T for 16 * MTiles rows of Q and `Width` rows of K. `q` and `k` are the lane addresses of the first rows.
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
  // Full unrolling would make the compiler prefetch too many fragments and spill accumulators. The swizzle repeats
  // every 64 columns.
  constexpr int unrolled = D % 64 == 0 ? 4 : D / 16;
#pragma unroll 1
  for (int first = 0; first < D / 16; first += unrolled) {
#pragma unroll
    for (int step = 0; step < unrolled; ++step) {
      unsigned a[MTiles][4];
#pragma unroll
      for (int m = 0; m < MTiles; ++m) {
        load_matrices(a[m], Tile::advance_columns(q, step) + m * 16 * Tile::row_bytes);
      }
#pragma unroll
      for (int n = 0; n < Width / 16; ++n) {
        unsigned b[4];
        load_matrices(b, Tile::advance_columns(k, step) + n * 16 * Tile::row_bytes);
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

/// Running maximum (unscaled scores, equal in all lanes of a quad) and running sum (partial, over each lane's columns).
/// With the lazy softmax, the maximum may lag behind the true one by up to lazy_rise.
template <int MTiles>
struct RowStatistics {
  float maximum[MTiles][2];
  float sum[MTiles][2];
};

template <int Width>
__device__ __forceinline__ float row_maximum(const float (&s)[Width / 8][4], int half, float maximum) {
#pragma unroll
  for (int n = 0; n < Width / 8; ++n) {
    maximum = fmaxf(maximum, fmaxf(s[n][half * 2], s[n][half * 2 + 1]));
  }
  maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, 1));
  return fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, 2));
}

/// Value subtracted from a row's scaled scores: the scaled maximum, or 0 for a row without any score, which avoids inf
/// - inf.
__device__ __forceinline__ float reference_of(float maximum, float scale) {
  return maximum == minus_infinity ? 0.0f : maximum * scale;
}

/// p = exp(scale * s - reference) of one row, packed. Returns the sum over this lane's columns.
template <int Width>
__device__ __forceinline__ float row_exponentials(unsigned (&p)[Width / 8][2], const float (&s)[Width / 8][4], int half,
                                                  float scale, float reference) {
  float sum = 0.0f;
#pragma unroll
  for (int n = 0; n < Width / 8; ++n) {
    const float low = exp2_fast(s[n][half * 2] * scale - reference);
    const float high = exp2_fast(s[n][half * 2 + 1] * scale - reference);
    sum += low + high;
    p[n][half] = pack(low, high);
  }
  return sum;
}

template <int D>
__device__ __forceinline__ void rescale_row(float (&o)[D / 8][4], int half, float correction) {
#pragma unroll
  for (int n = 0; n < D / 8; ++n) {
    o[n][half * 2] *= correction;
    o[n][half * 2 + 1] *= correction;
  }
}

/// p = exp(scale * (s - maximum)), packed. Rescales the accumulator and the sum to the new maximum. `scale` includes
/// log2(e).
template <int MTiles, int Width, int D>
__device__ __forceinline__ void online_softmax(unsigned (&p)[MTiles][Width / 8][2],
                                               const float (&s)[MTiles][Width / 8][4], float (&o)[MTiles][D / 8][4],
                                               RowStatistics<MTiles>& rows, float scale) {
#pragma unroll
  for (int m = 0; m < MTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float before = rows.maximum[m][half];
      const float maximum = row_maximum<Width>(s[m], half, before);
      const float reference = reference_of(maximum, scale);
      const float correction = exp2_fast(before * scale - reference);
      const float sum = row_exponentials<Width>(p[m], s[m], half, scale, reference);
      rows.maximum[m][half] = maximum;
      rows.sum[m][half] = rows.sum[m][half] * correction + sum;
      rescale_row<D>(o[m], half, correction);
    }
  }
}

/// Largest rise of scaled scores above the lazy maximum, as a power of two. Exponentials up to 2^8 are as precise in 16
/// bits as those up to 1.
inline constexpr float lazy_rise = 8.0f;

/// Like online_softmax(), but updates the maximum and rescales only when a row of the warp has risen by more than
/// lazy_rise, which is rare after the first keys. Saves 2% to 5% of a forward pass. O / sum and maximum + log(sum) are
/// unchanged.
template <int MTiles, int Width, int D>
__device__ __forceinline__ void lazy_softmax(unsigned (&p)[MTiles][Width / 8][2],
                                             const float (&s)[MTiles][Width / 8][4], float (&o)[MTiles][D / 8][4],
                                             RowStatistics<MTiles>& rows, float scale) {
  float maximum[MTiles][2];
  bool risen = false;
#pragma unroll
  for (int m = 0; m < MTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      maximum[m][half] = row_maximum<Width>(s[m], half, rows.maximum[m][half]);
      risen = risen || (maximum[m][half] - rows.maximum[m][half]) * scale > lazy_rise;
    }
  }
  if (__any_sync(0xffffffffu, risen)) {
#pragma unroll
    for (int m = 0; m < MTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float correction = exp2_fast(rows.maximum[m][half] * scale - reference_of(maximum[m][half], scale));
        rows.maximum[m][half] = maximum[m][half];
        rows.sum[m][half] *= correction;
        rescale_row<D>(o[m], half, correction);
      }
    }
  }
#pragma unroll
  for (int m = 0; m < MTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float reference = reference_of(rows.maximum[m][half], scale);
      rows.sum[m][half] += row_exponentials<Width>(p[m], s[m], half, scale, reference);
    }
  }
}

/// o += P V. Packed accumulators already have the left-operand layout, so P stays in registers. `v` is the left-operand
/// lane address of the chunk's first V row.
template <int MTiles, int Width, int D>
__device__ __forceinline__ void accumulate(float (&o)[MTiles][D / 8][4], const unsigned (&p)[MTiles][Width / 8][2],
                                           unsigned v) {
  using Tile = SharedTile<D>;
#pragma unroll
  for (int step = 0; step < Width / 16; ++step) {
#pragma unroll
    for (int n = 0; n < D / 16; ++n) {
      unsigned b[4];
      load_matrices_transposed(b, Tile::advance_columns(v, n) + step * 16 * Tile::row_bytes);
#pragma unroll
      for (int m = 0; m < MTiles; ++m) {
        const unsigned a[4] = {p[m][2 * step][0], p[m][2 * step][1], p[m][2 * step + 1][0], p[m][2 * step + 1][1]};
        mma(o[m][2 * n], a, b[0], b[1]);
        mma(o[m][2 * n + 1], a, b[2], b[3]);
      }
    }
  }
}

/// Sum over the four lanes of a quad, which share a row.
__device__ __forceinline__ float quad_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

}  // namespace attnscope::device

// SPDX-License-Identifier: Apache-2.0
// What the flash kernels share: a warp's scores against a chunk of keys, the online softmax over them, and their
// product with the values. A warp owns 16 * MTiles query rows; a thread holds rows g and g + 8 of each m16 tile.
#pragma once

#include "device/shared_tile.cuh"

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

/// Running maximum (of unscaled scores, equal in all lanes of a quad) and running sum (each lane its own columns). Of a
/// lazy softmax the maximum may lie below the scores' by lazy_rise.
template <int MTiles>
struct RowStatistics {
  float maximum[MTiles][2];
  float sum[MTiles][2];
};

/// The largest of `maximum` and a row's scores.
template <int Width>
__device__ __forceinline__ float row_maximum(const float (&s)[Width / 8][4], int half, float maximum) {
#pragma unroll
  for (int n = 0; n < Width / 8; ++n) {
    maximum = fmaxf(maximum, fmaxf(s[n][half * 2], s[n][half * 2 + 1]));
  }
  maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, 1));
  return fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, 2));
}

/// What is subtracted from a row's scaled scores. A row without any score yet keeps 0, so that no infinities are
/// subtracted.
__device__ __forceinline__ float reference_of(float maximum, float scale) {
  return maximum == minus_infinity ? 0.0f : maximum * scale;
}

/// p = exp(scale * s - reference) of one row, packed; their sum over this lane's columns.
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

/// p = exp(scale * (s - maximum)), packed, and rescales what was accumulated under the old maximum. `scale` is in units
/// of log2(e).
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

/// How far a lazy softmax lets scores rise above its maximum, in powers of two: exponentials of up to 256 are as
/// precise in 16 bits as those up to 1.
inline constexpr float lazy_rise = 8.0f;

/// The same, but the maximum follows, and what was accumulated is rescaled, only when a row of the warp has risen by
/// more than lazy_rise: after the first keys hardly ever, which spares 2% to 5% of a forward pass. O / sum and maximum
/// + log(sum) are the same.
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

}  // namespace attnscope::device

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

}  // namespace attnscope::device

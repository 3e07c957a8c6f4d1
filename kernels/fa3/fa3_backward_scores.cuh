// SPDX-License-Identifier: Apache-2.0
// Per-thread arithmetic of fa3_backward.cuh on the transposed scores: two keys, g and g + 8 of the warp's 16, against
// 64 queries.
#pragma once

#include "device/attention.cuh"
#include "device/visibility.cuh"

namespace attnscope::fa3_backward {

using namespace device;

__device__ __forceinline__ float2 load_shared_pair(unsigned address) {
  float2 pair;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(pair.x), "=f"(pair.y) : "r"(address) : "memory");
  return pair;
}
/// Stores four 8 x 8 matrices of 16-bit elements, transposed; lane l passes the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void store_matrices_transposed(unsigned address, unsigned r0, unsigned r1, unsigned r2,
                                                          unsigned r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r0),
               "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}

/// Masks scores of keys past the last one and of queries that do not see the key. Keys are numbered so that the last
/// one is n_q - 1; `row` is the first query.
__device__ __forceinline__ void mask_scores(float (*s)[4], int key, int row, int n_q, int left, int right) {
  const int column = row + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int on_diagonal = key + half * 8 - column;
    int first = bounded_right ? on_diagonal - right : 0;
    if (key + half * 8 >= n_q) {
      first = 64;
    }
    const int last = on_diagonal + left;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (n * 8 + e < first || (bounded_left && n * 8 + e > last)) {
          s[n][half * 2 + e] = minus_infinity;
        }
      }
    }
  }
}

/// s = P^T = exp(scale s - LSE), also packed into p. `numbers`: shared address of this thread's first LSE. `scale`
/// includes log2(e).
__device__ __forceinline__ void exponentials(float (*s)[4], unsigned (&p)[8][2], unsigned numbers, float scale) {
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    const float2 lse = load_shared_pair(numbers + n * 32);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      s[n][half * 2] = exp2_fast(s[n][half * 2] * scale - lse.x);
      s[n][half * 2 + 1] = exp2_fast(s[n][half * 2 + 1] * scale - lse.y);
      p[n][half] = pack(s[n][half * 2], s[n][half * 2 + 1]);
    }
  }
}

/// ds = P^T o (dP^T - D), packed, also stored to shared memory. `place`: address of this lane's first rows.
__device__ __forceinline__ void score_gradients(unsigned (&ds)[8][2], const float (*p)[4], const float (&dp)[8][4],
                                                unsigned numbers, unsigned place) {
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    const float2 delta = load_shared_pair(numbers + n * 32);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      ds[n][half] =
          pack(p[n][half * 2] * (dp[n][half * 2] - delta.x), p[n][half * 2 + 1] * (dp[n][half * 2 + 1] - delta.y));
    }
    if (n % 2 == 1) {
      store_matrices_transposed(place + (n - 1) * 1024, ds[n - 1][0], ds[n - 1][1], ds[n][0], ds[n][1]);
    }
  }
}

}  // namespace attnscope::fa3_backward

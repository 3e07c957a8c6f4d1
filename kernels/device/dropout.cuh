// SPDX-License-Identifier: Apache-2.0
// Dropout of P in accumulator layout, with the bytes of philox_shape.h. One Philox call serves the 16 entries that a
// thread holds of 16 rows x 32 columns. ATTN_DROPOUT enables it at compile time.
#pragma once

#include "device/philox_shape.h"
#include "device/shared_tile.cuh"

namespace attnscope::device {

inline constexpr bool has_dropout = ATTN_DROPOUT != 0;

struct Dropout {
  unsigned seed;
  unsigned instance;
  unsigned distance;  ///< 0x8000 - keep in both halves; added to a byte >= keep, it sets the top bit of the half
  float scale;        ///< 256 / keep, which preserves the expected value
};

__device__ __forceinline__ Dropout dropout_of(int instance, int keep, unsigned seed) {
  return {seed, static_cast<unsigned>(instance), (0x8000u - static_cast<unsigned>(keep)) * 0x10001u,
          256.0f / static_cast<float>(keep)};
}

/// Permutes the bytes of (0, word) by four selectors. A selector plus 8 replicates the byte's sign bit.
template <unsigned Selectors>
__device__ __forceinline__ unsigned permute_bytes(unsigned word) {
  unsigned result;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(result) : "r"(word), "n"(Selectors));
  return result;
}

/// Mask with ones in the halves of a packed pair whose byte (0 and 1 of `word`, or 2 and 3 if Upper) means dropped.
template <bool Upper>
__device__ __forceinline__ unsigned dropped(unsigned word, unsigned distance) {
  return permute_bytes<0xbb99>(permute_bytes < Upper ? 0x4342 : 0x4140 > (word) + distance);
}

/// Zeros the dropped entries of a packed accumulator of 16 rows from `row` and `Width` columns from `column` (both
/// multiples of 16; `Aligned`: the column is a multiple of 32).
template <int Width, bool Aligned>
__device__ __forceinline__ void drop(unsigned (&p)[Width / 8][2], int row, int column, const Dropout& dropout) {
  constexpr int step = Aligned ? 32 : 16;
  const unsigned lane = force_recompute(threadIdx.x % 32);
#pragma unroll
  for (int first = 0; first < Width; first += step) {
    const unsigned at = static_cast<unsigned>(column + first);
    // (row % 8) * 4 + (column % 8) / 2 of this thread's entries equals its lane.
    const Philox4 bytes =
        philox(Philox4{{static_cast<unsigned>(row) / 16, at / 32, lane, 0u}}, dropout.seed, dropout.instance);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int n = 0; n < step / 8; n += 2) {
        const bool second = Aligned ? n == 2 : at % 32 != 0;
        const unsigned word = second ? bytes.word[half * 2 + 1] : bytes.word[half * 2];
        p[first / 8 + n][half] &= ~dropped<false>(word, dropout.distance);
        p[first / 8 + n + 1][half] &= ~dropped<true>(word, dropout.distance);
      }
    }
  }
}

}  // namespace attnscope::device

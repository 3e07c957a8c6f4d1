// SPDX-License-Identifier: Apache-2.0
// Feature map phi(x) = elu(x) + 1 (arXiv 2006.16236, equation 7), applied to tiles while they are copied to shared
// memory.
#pragma once

#include "device/attention.cuh"
#include "device/global.cuh"
#include "linattn/linattn_shape.h"

namespace attnscope::linattn {

using namespace device;

constexpr int d = ATTN_D;
constexpr int bc = ATTN_BC;
constexpr bool causal = (ATTN_MASK & 1) != 0;
constexpr int step = step_keys(bc);

using Tile = SharedTile<d>;

__device__ __forceinline__ float feature(float x) {
  return x > 0.0f ? x + 1.0f : exp2_fast(x * log2_e);
}
__device__ __forceinline__ unsigned features(unsigned pair) {
  const float2 x = unpack(pair);
  return pack(feature(x.x), feature(x.y));
}
__device__ __forceinline__ uint4 features(const uint4& chunk) {
  return make_uint4(features(chunk.x), features(chunk.y), features(chunk.z), features(chunk.w));
}

/// Loads 16-byte chunk number `index` (row-major) of a tile's rows in global memory; zeros beyond `inside` rows.
__device__ __forceinline__ uint4 load_chunk(const Element* rows, int inside, int index) {
  const int row = index / Tile::chunks;
  if (row >= inside) {
    return make_uint4(0, 0, 0, 0);
  }
  return load_16_bytes(rows + static_cast<long long>(row) * d + index % Tile::chunks * 8);
}
__device__ __forceinline__ void store_chunk(unsigned tile, const uint4& chunk, int index) {
  asm volatile(
      "st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(tile + Tile::offset(index / Tile::chunks, index % Tile::chunks)),
      "r"(chunk.x), "r"(chunk.y), "r"(chunk.z), "r"(chunk.w)
      : "memory");
}
/// Like store_chunk(), but applies phi. Rows that do not exist get zeros, since phi(0) is 1.
__device__ __forceinline__ void store_features(unsigned tile, const uint4& chunk, int inside, int index) {
  store_chunk(tile, index / Tile::chunks < inside ? features(chunk) : make_uint4(0, 0, 0, 0), index);
}

/// Copies `Rows` rows as features, of which `inside` exist, with `Threads` threads and several loads in flight.
template <int Rows, int Threads>
__device__ __forceinline__ void copy_features(unsigned tile, const Element* rows, int inside, int thread) {
  constexpr int total = Rows * Tile::chunks;
  constexpr int at_once = 4;
#pragma unroll 1
  for (int first = thread; first < total; first += at_once * Threads) {
    uint4 chunks[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      chunks[i] = load_chunk(rows, first + i * Threads < total ? inside : 0, first + i * Threads);
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (first + i * Threads < total) {
        store_features(tile, chunks[i], inside, first + i * Threads);
      }
    }
  }
}

}  // namespace attnscope::linattn

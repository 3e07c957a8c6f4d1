// SPDX-License-Identifier: Apache-2.0
// Quantizes Q, K and V from 16 bits to the e4m3 operands of the 8-bit forward kernel, with one scale per block of rows
// (device/quantize_shape.h). One launch per matrix. A thread block keeps its rows in registers: 2 bytes read and 1 byte
// written per element.
//
// Tile program of block (block of rows, head): load its rows in 16 bits; store them in 8 bits, and the scale record.
//
// Rows of Q and K may be rotated (ATTN_ROTATE; 2 for Q) by a Hadamard matrix after random sign flips. Its entries are 1
// and -1, so dot products grow by d; Q's scale is divided by d.
//
// V is stored transposed, [head][d][keys padded to whole blocks], since 8-bit products need the summed dimension
// contiguous in both operands. In every 16 keys, position 4 t + e has key 2 t + e % 2 + 8 (e / 2): the order in which a
// thread of the forward kernel holds P.
//
// A record has the scale and, for Q and K, an upper bound of the row norms: no score exceeds the product of two bounds.
//
// Defines: ATTN_D, ATTN_BF16, ATTN_ROWS (rows per block).
#include "device/e4m3.cuh"
#include "device/element.cuh"
#include "device/global.cuh"
#include "device/quantize_shape.h"
#include "fa3/fa3_shape.h"

namespace attnscope::fa3 {

using namespace device;

constexpr int d = ATTN_D;
constexpr int rows = ATTN_ROWS;
constexpr int warps = quantize_threads / 32;
constexpr float longer = 1.07f;  ///< upper bound of the growth of a row's norm by rounding

__device__ __forceinline__ uint4 load_once(const Element* address) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address));
  return v;
}

struct Place {
  int blocks;  ///< per head
  int head;
  int first;  ///< first row

  __device__ __forceinline__ explicit Place(int n)
      : blocks((n + rows - 1) / rows),
        head(static_cast<int>(blockIdx.x) / blocks),
        first((static_cast<int>(blockIdx.x) - head * blocks) * rows) {}
};

__device__ __forceinline__ float2 block_maxima(float2 value) {
  __shared__ float2 of_warp[warps];
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) {
    value.x = fmaxf(value.x, __shfl_xor_sync(0xffffffffu, value.x, lane));
    value.y = fmaxf(value.y, __shfl_xor_sync(0xffffffffu, value.y, lane));
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = of_warp[0];
#pragma unroll
  for (int w = 1; w < warps; ++w) {
    value.x = fmaxf(value.x, of_warp[w].x);
    value.y = fmaxf(value.y, of_warp[w].y);
  }
  return value;
}

__device__ __forceinline__ float power_of_two(int exponent) {
  return __int_as_float((exponent + 127) << 23);
}
__device__ __forceinline__ void store_record(float* scales, float scale, float bound) {
  if (threadIdx.x == 0) {
    store_pair(scales + blockIdx.x * (attnscope::scale_record_bytes / 4), scale, bound);
  }
}

__device__ __forceinline__ void unpack_eight(float (&x)[8], const uint4& v) {
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = unpack(words[i]);
    x[2 * i] = pair.x;
    x[2 * i + 1] = pair.y;
  }
}

/// A row of Q or K is spread over four lanes, eight columns each in turn: chunk 4 i + t is part i of lane t. A warp's
/// loads and stores thus fill whole sectors, and only two steps of the rotation cross lanes.
constexpr int parts = d / 32;
constexpr int rows_at_once = quantize_threads / 4;
constexpr int passes = (rows + rows_at_once - 1) / rows_at_once;

__device__ __forceinline__ void flip_signs(float (&x)[parts][8]) {
#pragma unroll
  for (int i = 0; i < parts; ++i) {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      x[i][e] = flipped((i * 4 + static_cast<int>(threadIdx.x) % 4) * 8 + e) ? -x[i][e] : x[i][e];
    }
  }
}

/// x = H x by butterflies over growing column distances: within a chunk, between lanes, between parts. The host adds in
/// the same order (kernels/oracle/float16.cpp).
__device__ __forceinline__ void hadamard(float (&x)[parts][8]) {
#pragma unroll
  for (int i = 0; i < parts; ++i) {
#pragma unroll
    for (int step = 1; step < 8; step *= 2) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        if ((e & step) == 0) {
          const float low = x[i][e];
          const float high = x[i][e + step];
          x[i][e] = low + high;
          x[i][e + step] = low - high;
        }
      }
    }
  }
#pragma unroll
  for (int e = 0; e < 8; ++e) {
#pragma unroll
    for (int lane = 1; lane < 4; lane *= 2) {
      const float sign = (threadIdx.x & lane) != 0 ? -1.0f : 1.0f;
#pragma unroll
      for (int i = 0; i < parts; ++i) {
        x[i][e] = x[i][e] * sign + __shfl_xor_sync(0xffffffffu, x[i][e], lane);
      }
    }
#pragma unroll
    for (int step = 1; step < parts; step *= 2) {
#pragma unroll
      for (int i = 0; i < parts; ++i) {
        if ((i & step) == 0) {
          const float low = x[i][e];
          const float high = x[i + step][e];
          x[i][e] = low + high;
          x[i + step][e] = low - high;
        }
      }
    }
  }
}

/// Key of element `e` of quad `quad` in packed-accumulator order: rows 2 t, 2 t + 1, 8 + 2 t, 9 + 2 t of 16.
__device__ __forceinline__ int key_of(int quad, int e) {
  return quad / 4 * 16 + quad % 4 * 2 + e % 2 + e / 2 * 8;
}

/// Work unit for V: four keys (a quad) and eight columns, which become eight words of the transposed tile.
constexpr int chunks = d / 8;
constexpr int total_units = rows / 4 * chunks;
constexpr int units = (total_units + quantize_threads - 1) / quantize_threads;
constexpr int row_words = rows / 4;
/// Padding words after every eight rows, so that a warp's stores hit different banks.
constexpr int padding_words = chunks >= 32 ? 1 : 32 / chunks;
__device__ __forceinline__ int word_of(int column, int quad) {
  return column * row_words + column / 8 * padding_words + quad;
}
constexpr int transposed_words = d * row_words + chunks * padding_words;

struct ValueBlock {
  uint4 v[units][4];

  __device__ __forceinline__ void load(const Element* values, int inside) {
#pragma unroll
    for (int u = 0; u < units; ++u) {
      const int unit = u * quantize_threads + static_cast<int>(threadIdx.x);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int key = key_of(unit / chunks, e);
        v[u][e] = make_uint4(0, 0, 0, 0);
        if (unit < total_units && key < inside) {
          v[u][e] = load_once(values + key * d + unit % chunks * 8);
        }
      }
    }
  }
  __device__ __forceinline__ float largest() const {
    float largest = 0.0f;
#pragma unroll
    for (int u = 0; u < units; ++u) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float x[8];
        unpack_eight(x, v[u][e]);
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          largest = fmaxf(largest, fabsf(x[c]));
        }
      }
    }
    return largest;
  }
  __device__ __forceinline__ void transpose(unsigned* tile, float factor) const {
#pragma unroll
    for (int u = 0; u < units; ++u) {
      const int unit = u * quantize_threads + static_cast<int>(threadIdx.x);
      float x[4][8];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        unpack_eight(x[e], v[u][e]);
      }
      if (total_units % quantize_threads == 0 || unit < total_units) {
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          tile[word_of(unit % chunks * 8 + c, unit / chunks)] =
              pack_e4m3(x[0][c] * factor, x[1][c] * factor, x[2][c] * factor, x[3][c] * factor);
        }
      }
    }
  }
};

}  // namespace attnscope::fa3

// Grid: heads x blocks of rows. x: [heads][n][d]; out: same shape; scales: [heads][blocks], each with the scale and an
// upper bound of the norms of the stored rows.
extern "C" __global__ void __launch_bounds__(attnscope::fa3::quantize_threads)
    attn_fa3_quantise_rows(const unsigned short* x, unsigned char* out, float* scales, int n) {
  using namespace attnscope::fa3;
  const Place place(n);
  const int first = place.first;
  const long long matrix = static_cast<long long>(place.head) * n + first;
  const int lane = static_cast<int>(threadIdx.x) % 4;
  const int row = static_cast<int>(threadIdx.x) / 4;
  const int inside = min(rows, n - first);
  float values[passes][parts][8];
  uint4 loaded[passes][parts];
#pragma unroll
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      const int at = pass * rows_at_once + row;
      loaded[pass][i] = make_uint4(0, 0, 0, 0);
      if (at < inside) {
        loaded[pass][i] = load_once(x + (matrix + at) * d + (i * 4 + lane) * 8);
      }
    }
  }
  float2 largest = {0.0f, 0.0f};
#pragma unroll
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      unpack_eight(values[pass][i], loaded[pass][i]);
    }
#if ATTN_ROTATE
    flip_signs(values[pass]);
    hadamard(values[pass]);
#endif
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < parts; ++i) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        largest.x = fmaxf(largest.x, fabsf(values[pass][i][e]));
        squares = fmaf(values[pass][i][e], values[pass][i][e], squares);
      }
    }
    squares += __shfl_xor_sync(0xffffffffu, squares, 1);
    largest.y = fmaxf(largest.y, squares + __shfl_xor_sync(0xffffffffu, squares, 2));
  }
  largest = block_maxima(largest);
  const int exponent = attnscope::scale_exponent(__float_as_uint(largest.x));
  constexpr float restored = ATTN_ROTATE == 2 ? 1.0f / d : 1.0f;
  store_record(scales, power_of_two(exponent) * restored, sqrtf(largest.y) * restored * longer);
  const float factor = power_of_two(-exponent);
#pragma unroll
  for (int pass = 0; pass < passes; ++pass) {
    const int at = pass * rows_at_once + row;
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      const float(&v)[8] = values[pass][i];
      if (at < inside) {
        store_8_bytes(out + (matrix + at) * d + (i * 4 + lane) * 8,
                      pack_e4m3(v[0] * factor, v[1] * factor, v[2] * factor, v[3] * factor),
                      pack_e4m3(v[4] * factor, v[5] * factor, v[6] * factor, v[7] * factor));
      }
    }
  }
}

// v: [heads][n][d]; out: [heads][d][n padded to whole blocks], zeros past the last key; scales: [heads][blocks].
extern "C" __global__ void __launch_bounds__(attnscope::fa3::quantize_threads)
    attn_fa3_quantise_values(const unsigned short* v, unsigned char* out, float* scales, int n) {
  using namespace attnscope::fa3;
  __shared__ __align__(16) unsigned tile[transposed_words];
  const Place place(n);
  const int first = place.first;
  const int padded = place.blocks * rows;
  ValueBlock block;
  block.load(v + (static_cast<long long>(place.head) * n + first) * d, n - first);
  const int exponent = attnscope::scale_exponent(__float_as_uint(block_maxima({block.largest(), 0.0f}).x));
  store_record(scales, power_of_two(exponent), 0.0f);
  block.transpose(tile, power_of_two(-exponent));
  __syncthreads();
  constexpr int pairs = row_words / 2;
  unsigned char* const rows_out = out + static_cast<long long>(place.head) * d * padded + first;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < d * pairs; i += quantize_threads) {
    const int column = i / pairs;
    const int key = i % pairs * 8;
    const uint2 words = *reinterpret_cast<const uint2*>(tile + word_of(column, i % pairs * 2));
    store_8_bytes(rows_out + static_cast<long long>(column) * padded + key, words.x, words.y);
  }
}

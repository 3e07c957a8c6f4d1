// SPDX-License-Identifier: Apache-2.0
// Warp-level arithmetic of the partial kernel on an e4m3 cache with one scale per K/V head. K and V are copied
// unchanged to shared memory and converted exactly to fp16 on the way to the tensor cores; Q and P have 16 bits.
//
//   s = Q K^T, K's scale folded into the softmax scale;  O += P V, V's scale applied at the end
//
// Matrices are loaded as if two adjacent columns were one 16-bit element. A thread then has columns 4t .. 4t + 3 of
// every 16 columns of K, so the columns of Q are reordered to match. Of V it has two keys of columns 2g and 2g + 1, so
// an n8 tile of O holds every other one of 16 columns.
#pragma once

#include "device/attention.cuh"

namespace attnscope::splitkv {

using namespace device;

/// Tile of a chunk of the cache; pairs of 8-bit columns are stored as 16-bit elements.
template <int D>
using CacheTile = SharedTile<D / 2>;

/// Converts four e4m3 values to fp16: bytes 0 and 1, bytes 2 and 3.
__device__ __forceinline__ void widen(unsigned (&wide)[2], unsigned bytes) {
  asm("{.reg .b16 low, high; mov.b32 {low, high}, %2; cvt.rn.f16x2.e4m3x2 %0, low; cvt.rn.f16x2.e4m3x2 %1, high;}"
      : "=r"(wide[0]), "=r"(wide[1])
      : "r"(bytes));
}

/// Converts two bf16 values to the nearest fp16 values.
__device__ __forceinline__ unsigned narrow(unsigned bf16s) {
  return pack_finite(__uint_as_float(bf16s << 16), __uint_as_float(bf16s & 0xffff0000u));
}

/// Converts Q (`Rows` rows) to fp16 and reorders every 16 columns: 0 1 4 5 8 9 12 13, then the rest.
template <int Rows, int D, int Threads>
__device__ __forceinline__ void reorder_queries(unsigned char* q, int thread) {
  for (int at = thread; at < Rows * (D / 16); at += Threads) {
    const int row = at / (D / 16);
    const int chunk = at % (D / 16) * 2;
    uint4& low = *reinterpret_cast<uint4*>(q + SharedTile<D>::offset(row, chunk));
    uint4& high = *reinterpret_cast<uint4*>(q + SharedTile<D>::offset(row, chunk + 1));
    const uint4 a = low;
    const uint4 b = high;
    low = make_uint4(narrow(a.x), narrow(a.z), narrow(b.x), narrow(b.z));
    high = make_uint4(narrow(a.y), narrow(a.w), narrow(b.y), narrow(b.w));
  }
}

/// s = Q K^T for 16 rows and `Width` keys. `k`: right-operand lane address of the chunk's first key.
template <int Width, int D>
__device__ __forceinline__ void scores_8_bit(float (&s)[Width / 8][4], unsigned q, unsigned k) {
#pragma unroll
  for (int n = 0; n < Width / 8; ++n) {
    s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0.0f;
  }
#pragma unroll
  for (int step = 0; step < D / 32; ++step) {
    unsigned a[2][4];
    load_matrices(a[0], SharedTile<D>::advance_columns(q, 2 * step));
    load_matrices(a[1], SharedTile<D>::advance_columns(q, 2 * step + 1));
#pragma unroll
    for (int n = 0; n < Width / 16; ++n) {
      unsigned bytes[4];  // keys 0 .. 7 of columns 0 .. 15 and 16 .. 31, then keys 8 .. 15
      load_matrices(bytes, CacheTile<D>::advance_columns(k, step) + n * 16 * CacheTile<D>::row_bytes);
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        unsigned b[2];
        widen(b, bytes[part]);
        mma(s[2 * n + part / 2], a[part % 2], b[0], b[1]);
      }
    }
  }
}

/// o += P V. `v`: left-operand lane address of the chunk's first key. o[2 m] and o[2 m + 1] hold the even and odd
/// columns from column 16 m.
template <int Width, int D>
__device__ __forceinline__ void accumulate_8_bit(float (&o)[D / 8][4], const unsigned (&p)[Width / 8][2], unsigned v) {
#pragma unroll
  for (int step = 0; step < Width / 16; ++step) {
    const unsigned a[4] = {p[2 * step][0], p[2 * step][1], p[2 * step + 1][0], p[2 * step + 1][1]};
#pragma unroll
    for (int n = 0; n < D / 32; ++n) {
      unsigned bytes[4];  // keys 0 .. 7 and 8 .. 15 of columns 0 .. 15, then of 16 .. 31
      load_matrices_transposed(bytes, CacheTile<D>::advance_columns(v, n) + step * 16 * CacheTile<D>::row_bytes);
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        unsigned low[2];
        unsigned high[2];
        widen(low, __byte_perm(bytes[2 * part], 0, 0x3120));
        widen(high, __byte_perm(bytes[2 * part + 1], 0, 0x3120));
        mma(o[4 * n + 2 * part], a, low[0], high[0]);
        mma(o[4 * n + 2 * part + 1], a, low[1], high[1]);
      }
    }
  }
}

}  // namespace attnscope::splitkv

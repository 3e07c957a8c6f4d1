// SPDX-License-Identifier: Apache-2.0
// A cache of e4m3 numbers with a scale for each K/V head: what a warp of the partial kernel does with it. K and V come
// to shared memory as they are and become fp16, exactly, on the way to the tensor cores, where Q and P have 16 bits.
//
//   s = Q K^T, K's scale in the softmax's;  O += P V, V's scale at the end
//
// Matrices are loaded as if two neighbouring columns were one 16-bit element. Then a thread has columns 4t .. 4t + 3 of
// 16 of K, so Q's columns are laid in the order in which the products meet them; and of V it has two keys of columns 2g
// and 2g + 1, so an n8 tile of O holds every other of 16 columns.
#pragma once

#include "device/attention.cuh"

namespace attnscope::splitkv {

using namespace device;

/// Rows of a chunk: pairs of columns.
template <int D>
using CacheTile = SharedTile<D / 2>;

/// Four e4m3 numbers as fp16: bytes 0 and 1, bytes 2 and 3.
__device__ __forceinline__ void widen(unsigned (&wide)[2], unsigned bytes) {
  asm("{.reg .b16 low, high; mov.b32 {low, high}, %2; cvt.rn.f16x2.e4m3x2 %0, low; cvt.rn.f16x2.e4m3x2 %1, high;}"
      : "=r"(wide[0]), "=r"(wide[1])
      : "r"(bytes));
}

/// Of two bf16 numbers, the nearest fp16 ones.
__device__ __forceinline__ unsigned narrow(unsigned bf16s) {
  return pack_finite(__uint_as_float(bf16s << 16), __uint_as_float(bf16s & 0xffff0000u));
}

/// Q of `Rows` rows as fp16, the columns of each 16 reordered: 0 1 4 5 8 9 12 13, then the rest.
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

/// s = Q K^T of 16 rows and `Width` keys; `k` is the lane address, as right operand, of the chunk's first key.
template <int Width, int D>
__device__ __forceinline__ void scores_of_8_bits(float (&s)[Width / 8][4], unsigned q, unsigned k) {
#pragma unroll
  for (int n = 0; n < Width / 8; ++n) {
    s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0.0f;
  }
#pragma unroll
  for (int step = 0; step < D / 32; ++step) {
    unsigned a[2][4];
    load_matrices(a[0], SharedTile<D>::columns_on(q, 2 * step));
    load_matrices(a[1], SharedTile<D>::columns_on(q, 2 * step + 1));
#pragma unroll
    for (int n = 0; n < Width / 16; ++n) {
      unsigned bytes[4];  // keys 0 .. 7 of columns 0 .. 15 and 16 .. 31, keys 8 .. 15 of them
      load_matrices(bytes, CacheTile<D>::columns_on(k, step) + n * 16 * CacheTile<D>::row_bytes);
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        unsigned b[2];
        widen(b, bytes[part]);
        mma(s[2 * n + part / 2], a[part % 2], b[0], b[1]);
      }
    }
  }
}

/// o += P V; `v` is the lane address, as left operand, of the chunk's first key. o[2 m] and o[2 m + 1] hold the even
/// and the odd columns of 16 m and on.
template <int Width, int D>
__device__ __forceinline__ void accumulate_8_bits(float (&o)[D / 8][4], const unsigned (&p)[Width / 8][2], unsigned v) {
#pragma unroll
  for (int step = 0; step < Width / 16; ++step) {
    const unsigned a[4] = {p[2 * step][0], p[2 * step][1], p[2 * step + 1][0], p[2 * step + 1][1]};
#pragma unroll
    for (int n = 0; n < D / 32; ++n) {
      unsigned bytes[4];  // keys 0 .. 7 and 8 .. 15 of columns 0 .. 15, then of 16 .. 31
      load_matrices_transposed(bytes, CacheTile<D>::columns_on(v, n) + step * 16 * CacheTile<D>::row_bytes);
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

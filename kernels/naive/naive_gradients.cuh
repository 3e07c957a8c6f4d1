// SPDX-License-Identifier: Apache-2.0
// dS from P and dP, 8 columns of a row at a time.
#pragma once

#include "naive/naive_row.cuh"

namespace attnscope::naive {

/// Returns two entries of Z o dP and unpacks the matching weights P. P's sign bit marks dropped entries; `kept` is the
/// scale of the others.
__device__ __forceinline__ float2 dropout_gradients(float2& weight, unsigned p, unsigned dp, float kept) {
#if ATTN_DROPOUT
  weight = unpack(p & ~sign_bits);
  float2 gradient = unpack(dp);
  gradient.x = (p & 0x00008000u) != 0 ? 0.0f : gradient.x * kept;
  gradient.y = (p & 0x80000000u) != 0 ? 0.0f : gradient.y * kept;
  return gradient;
#else
  weight = unpack(p);
  return unpack(dp);
#endif
}

__device__ __forceinline__ float weighted_sum(const uint4& p, const uint4& dp, float kept) {
  const unsigned ps[4] = {p.x, p.y, p.z, p.w};
  const unsigned dps[4] = {dp.x, dp.y, dp.z, dp.w};
  float sum = 0.0f;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    float2 weight;
    const float2 gradient = dropout_gradients(weight, ps[w], dps[w], kept);
    sum += weight.x * gradient.x + weight.y * gradient.y;
  }
  return sum;
}

/// Stores P o (Z o dP - sum) of 8 columns.
__device__ __forceinline__ void store_gradients(Element* ds, const uint4& p, const uint4& dp, float sum, float kept) {
  const unsigned ps[4] = {p.x, p.y, p.z, p.w};
  const unsigned dps[4] = {dp.x, dp.y, dp.z, dp.w};
  unsigned out[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    float2 weight;
    const float2 gradient = dropout_gradients(weight, ps[w], dps[w], kept);
    out[w] = pack_finite(weight.x * (gradient.x - sum), weight.y * (gradient.y - sum));
  }
  store_16_bytes(ds, out[0], out[1], out[2], out[3]);
}

}  // namespace attnscope::naive

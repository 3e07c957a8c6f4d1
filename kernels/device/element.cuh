// SPDX-License-Identifier: Apache-2.0
// 16-bit elements without CUDA headers. An element is an unsigned short; two packed elements are an unsigned with the
// lower column in the lower half. ATTN_BF16 selects the format.
#pragma once

namespace attnscope::device {

using Element = unsigned short;

inline constexpr float minus_infinity = __builtin_bit_cast(float, 0xff800000u);
inline constexpr float log2_e = 1.4426950408889634f;
inline constexpr float ln_2 = 0.6931471805599453f;

__device__ __forceinline__ unsigned pack(float low, float high) {
  unsigned packed;
#if ATTN_BF16
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
#else
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
#endif
  return packed;
}

/// Like pack(), but clamps to the finite fp16 range, since the row maximum must stay finite.
__device__ __forceinline__ unsigned pack_finite(float low, float high) {
  unsigned packed = pack(low, high);
#if !ATTN_BF16
  asm("min.NaN.f16x2 %0, %0, %1;" : "+r"(packed) : "r"(0x7bff7bffu));
  asm("max.NaN.f16x2 %0, %0, %1;" : "+r"(packed) : "r"(0xfbfffbffu));
#endif
  return packed;
}

__device__ __forceinline__ float2 unpack(unsigned packed) {
  float2 pair;
#if ATTN_BF16
  pair.x = __uint_as_float(packed << 16);
  pair.y = __uint_as_float(packed & 0xffff0000u);
#else
  asm("{.reg .f16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
      : "=f"(pair.x), "=f"(pair.y)
      : "r"(packed));
#endif
  return pair;
}

__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace attnscope::device

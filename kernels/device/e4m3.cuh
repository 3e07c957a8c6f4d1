// SPDX-License-Identifier: Apache-2.0
// 8-bit operands (e4m3: OCP 8-bit floating point, 4 exponent and 3 mantissa bits; compute capability 8.9). ATTN_FP8
// enables them; kernel inputs and outputs stay 16-bit.
#pragma once

#ifndef ATTN_FP8
#define ATTN_FP8 0
#endif

namespace attnscope::device {

inline constexpr bool fp8 = ATTN_FP8 != 0;
inline constexpr int operand_bytes = fp8 ? 1 : 2;
inline constexpr unsigned e4m3_ones = 0x38383838u;

/// Packs four values as e4m3, the first in the lowest byte; saturates at +-448.
__device__ __forceinline__ unsigned pack_e4m3(float x0, float x1, float x2, float x3) {
  unsigned packed;
  asm("{.reg .b16 low, high; cvt.rn.satfinite.e4m3x2.f32 low, %2, %1; cvt.rn.satfinite.e4m3x2.f32 high, %4, %3; "
      "mov.b32 %0, {low, high};}"
      : "=r"(packed)
      : "f"(x0), "f"(x1), "f"(x2), "f"(x3));
  return packed;
}
/// Packs two values and two that are already e4m3 in their lowest bytes.
__device__ __forceinline__ unsigned pack_e4m3(float x0, float x1, unsigned x2, unsigned x3) {
  unsigned packed;
  asm("{.reg .b16 low, high, none; .reg .b32 pair; cvt.rn.satfinite.e4m3x2.f32 low, %2, %1; "
      "prmt.b32 pair, %3, %4, 0x4040; mov.b32 {high, none}, pair; mov.b32 %0, {low, high};}"
      : "=r"(packed)
      : "f"(x0), "f"(x1), "r"(x2), "r"(x3));
  return packed;
}
__device__ __forceinline__ unsigned scale_e4m3(unsigned packed, float factor) {
  float x0, x1, x2, x3;
  asm("{.reg .b16 low, high, a, b; .reg .b32 pair; mov.b32 {low, high}, %4; "
      "cvt.rn.f16x2.e4m3x2 pair, low; mov.b32 {a, b}, pair; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b; "
      "cvt.rn.f16x2.e4m3x2 pair, high; mov.b32 {a, b}, pair; cvt.f32.f16 %2, a; cvt.f32.f16 %3, b;}"
      : "=f"(x0), "=f"(x1), "=f"(x2), "=f"(x3)
      : "r"(packed));
  return pack_e4m3(x0 * factor, x1 * factor, x2 * factor, x3 * factor);
}

}  // namespace attnscope::device

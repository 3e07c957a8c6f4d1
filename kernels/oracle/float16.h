// SPDX-License-Identifier: Apache-2.0
// fp16 (IEEE binary16) and bf16 as bit patterns on the host; of fp8 what it is held as, and operands of 8 bits bit for
// bit as kernels/fa3/fa3_quantise.cuh makes them.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/model/attention.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// Round to nearest, ties to even; too large becomes infinity, NaN stays a (quiet) NaN.
[[nodiscard]] std::uint16_t to_bits(DType dtype, float value);
/// Exact.
[[nodiscard]] float from_bits(DType dtype, std::uint16_t bits);

/// The nearest value that `dtype` can hold.
[[nodiscard]] inline float round_to(DType dtype, float value) {
  return from_bits(dtype, to_bits(dtype, value));
}

/// The nearest e4m3 number, ties to even; +-448 beyond it.
[[nodiscard]] float round_to_e4m3(float value);

/// Turns the rows of Q, K or V, d bf16 numbers each, into what is multiplied in their place: scale x e4m3, which is a
/// bf16 number again. A rotated Q is divided by d besides, as the Hadamard matrix of the kernels has entries of 1 and
/// -1. Pre: d is a power of two where Q or K is rotated.
void quantise(std::span<std::uint16_t> matrix, Tensor tensor, std::int64_t d, const Quantisation&);

}  // namespace attnscope

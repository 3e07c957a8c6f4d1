// SPDX-License-Identifier: Apache-2.0
// fp16 (IEEE binary16) and bf16 as bit patterns on the host; of fp8 what it is held as.
#pragma once

#include <cstdint>

#include "kernels/model/attention.h"

namespace attnscope {

/// Round to nearest, ties to even; too large becomes infinity, NaN stays a (quiet) NaN.
[[nodiscard]] std::uint16_t to_bits(DType dtype, float value);
/// Exact.
[[nodiscard]] float from_bits(DType dtype, std::uint16_t bits);

/// The nearest value that `dtype` can hold.
[[nodiscard]] inline float round_to(DType dtype, float value) {
  return from_bits(dtype, to_bits(dtype, value));
}

}  // namespace attnscope

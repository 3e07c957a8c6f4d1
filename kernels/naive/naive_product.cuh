// SPDX-License-Identifier: Apache-2.0
// Building blocks of the kernels that multiply by P or dS.
#pragma once

#include "device/attention.cuh"
#include "device/global.cuh"
#include "naive/naive_shape.h"

namespace attnscope::naive {

using namespace device;

/// Sets the negative entries of a fragment of P to zero (dropped by dropout).
__device__ __forceinline__ void drop_negative(unsigned (&fragment)[4]) {
#pragma unroll
  for (unsigned& pair : fragment) {
#if ATTN_BF16
    asm("max.NaN.bf16x2 %0, %0, %1;" : "+r"(pair) : "r"(0u));
#else
    asm("max.NaN.f16x2 %0, %0, %1;" : "+r"(pair) : "r"(0u));
#endif
  }
}

}  // namespace attnscope::naive

// SPDX-License-Identifier: Apache-2.0
// How the kernel that joins partial results uses an SM (KernelTiming says what each number stands for). The constants
// are those of split-KV's combine, which does the same: they were not fitted to this one, and held to its
// launches on an H200 they say 0.90 of the time in the median (assets/docs/measurements.md: Attention across GPUs).
#pragma once

#include "kernels/splitkv/splitkv_timing.h"

namespace attnscope::ringattn {

inline constexpr KernelTiming combine_timing = splitkv::combine_timing;

}  // namespace attnscope::ringattn

// SPDX-License-Identifier: Apache-2.0
// How the linear attention kernels use an SM (KernelTiming says what each number stands for): fitted by
// tests/gpu/fit_times.py to launches of the preset `linear` on an H100.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::linattn {

/// mma.sync of transposed operands, few warps, the next keys in registers.
inline constexpr KernelTiming states_timing{
    .block_latency = 1270,
    .step_latency = 393,
    .round_latency = 783,
    .alone = {.tensor = 0.478, .exponential = 0.566, .fp32 = 0.509, .shared = 0.464, .l2 = 0.571},
    .busy = {.tensor = 1.4, .exponential = 0.5, .fp32 = 0.5, .shared = 1.17, .l2 = 1.7},
    .skew = 0.107,
    .overlap = 2.63,
    .launch_ns = 4160,
};

/// mma.sync, tiles loaded before each product; other blocks of the SM work meanwhile.
inline constexpr KernelTiming outputs_timing{
    .block_latency = 1320,
    .step_latency = 261,
    .round_latency = 529,
    .alone = {.tensor = 0.502, .exponential = 0.498, .fp32 = 0.505, .shared = 0.497, .l2 = 0.511},
    .busy = {.tensor = 1.4, .exponential = 0.5, .fp32 = 0.5, .shared = 2.02, .l2 = 0.568},
    .skew = 0.102,
    .overlap = 1,
    .launch_ns = 4910,
};

}  // namespace attnscope::linattn

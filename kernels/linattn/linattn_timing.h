// SPDX-License-Identifier: Apache-2.0
// How the linear attention kernels use an SM (KernelTiming says what each number stands for): fitted by
// tests/gpu/fit_times.py to launches of the preset `linear` on an H100.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::linattn {

/// mma.sync of transposed operands, few warps, the next keys in registers.
inline constexpr KernelTiming states_timing{
    .block_latency = 1510,
    .step_latency = 337,
    .round_latency = 604,
    .alone = {.tensor = 0.494, .exponential = 0.526, .fp32 = 0.519, .shared = 0.49, .l2 = 0.591},
    .busy = {.tensor = 2.13, .exponential = 0.81, .fp32 = 0.535, .shared = 0.913, .l2 = 1.07},
    .skew = 0.116,
    .overlap = 1,
    .launch_ns = 4300,
    .use = {.exponentials = 1.1, .wavefronts = {.exponential = 0.3, .fp32 = 0.695, .shared = 1.03}},
};

/// mma.sync, tiles loaded before each product; other blocks of the SM work meanwhile.
inline constexpr KernelTiming outputs_timing{
    .block_latency = 1370,
    .step_latency = 258,
    .round_latency = 551,
    .alone = {.tensor = 0.504, .exponential = 0.499, .fp32 = 0.505, .shared = 0.501, .l2 = 0.51},
    .busy = {.tensor = 1.4, .exponential = 0.5, .fp32 = 0.5, .shared = 2.28, .l2 = 0.712},
    .skew = 0.101,
    .overlap = 1,
    .launch_ns = 5090,
    .use = {.exponentials = 1.25, .wavefronts = {.fp32 = 0.671, .shared = 0.759, .l2 = 0.772}},
};

}  // namespace attnscope::linattn

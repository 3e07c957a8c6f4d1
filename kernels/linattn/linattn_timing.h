// SPDX-License-Identifier: Apache-2.0
// How the linear attention kernels use an SM (KernelTiming says what each number stands for). Not fitted yet: stated by
// the likeness of their loops to those of kernels that are, whose constants they are near; tests/gpu/fit_times.py has
// not seen them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::linattn {

/// mma.sync of transposed operands, as standard attention's dV, but few warps, and the next keys in registers: a step
/// waits for what is left of their latency, two barriers and a product that no other block hides.
inline constexpr KernelTiming states_timing{
    .block_latency = 1500,
    .step_latency = 300,
    .round_latency = 560,
    .alone = {.tensor = 0.53, .exponential = 0.5, .fp32 = 0.5, .shared = 0.54, .l2 = 0.52},
    .busy = {.tensor = 1.4, .exponential = 0.5, .fp32 = 0.5, .shared = 0.99, .l2 = 0.98},
    .skew = 0.1,
    .overlap = 1.5,
    .launch_ns = 5000,
};

/// mma.sync, tiles loaded before each product; other blocks of the SM work meanwhile.
inline constexpr KernelTiming outputs_timing{
    .block_latency = 1700,
    .step_latency = 300,
    .round_latency = 920,
    .alone = {.tensor = 0.4, .exponential = 0.5, .fp32 = 0.5, .shared = 0.35, .l2 = 0.5},
    .busy = {.tensor = 1.5, .exponential = 0.5, .fp32 = 0.5, .shared = 0.9, .l2 = 1.4},
    .skew = 0.1,
    .overlap = 1.5,
    .launch_ns = 1300,
};

}  // namespace attnscope::linattn

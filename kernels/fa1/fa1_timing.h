// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-1 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa1 {

/// mma.sync, K and V kept, the fp32 state of the rows through memory at every step.
inline constexpr KernelTiming forward_timing{
    .block_latency = 5110,
    .step_latency = 78.9,
    .round_latency = 0,
    .alone = {.tensor = 0.638, .exponential = 0, .fp32 = 0.642, .shared = 0.78, .l2 = 1.12},
    .busy = {.tensor = 2.3, .exponential = 0.568, .fp32 = 0.46, .shared = 0.767, .l2 = 2.3},
    .overlap = 1,
    .tail = 0.3,
    .launch_ns = 7300,
};

/// mma.sync, K and V kept; the accumulator of dQ is read and written at every step.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1520,
    .step_latency = 306,
    .round_latency = 701,
    .alone = {.tensor = 0.534, .exponential = 0.55, .fp32 = 0.499, .shared = 0.529, .l2 = 0.471},
    .busy = {.tensor = 1.4, .exponential = 0.5, .fp32 = 0.5, .shared = 1.24, .l2 = 0.759},
    .overlap = 1,
    .tail = 0.3,
    .launch_ns = 5580,
};

}  // namespace attnscope::fa1

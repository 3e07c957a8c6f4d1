// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-1 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa1 {

/// mma.sync, K and V kept, the fp32 state of the rows through memory at every step.
inline constexpr KernelTiming forward_timing{
    .block_latency = 6200,
    .step_latency = 0,
    .round_latency = 303,
    .square_latency = 327,
    .refill_latency = 5930,
    .alone = {.tensor = 0.934, .exponential = 0, .fp32 = 0.692, .shared = 1.45, .l2 = 1.1},
    .busy = {.tensor = 0.5, .exponential = 0.301, .fp32 = 0.496, .shared = 0.202, .l2 = 1.43},
    .skew = 0.0983,
    .overlap = 1,
    .launch_ns = 8270,
    .use = {.exponentials = 1.07, .wavefronts = {.exponential = 0.265, .fp32 = 0.224, .shared = 1.07}},
};

/// mma.sync, K and V kept; the accumulator of dQ is read and written at every step.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1510,
    .step_latency = 340,
    .round_latency = 578,
    .square_latency = 263,
    .alone = {.tensor = 0.496, .exponential = 0.526, .fp32 = 0.5, .shared = 0.524, .l2 = 0.507},
    .busy = {.tensor = 1.87, .exponential = 0.523, .fp32 = 0.501, .shared = 0.913, .l2 = 0.975},
    .skew = 0.103,
    .overlap = 1,
    .launch_ns = 5280,
    .use = {.exponentials = 1.04, .wavefronts = {.exponential = 6.14, .shared = 0.902}},
};

}  // namespace attnscope::fa1

// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-1 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa1 {

/// mma.sync, K and V kept, the fp32 state of the rows through memory at every step.
inline constexpr KernelTiming forward_timing{
    .block_latency = 5710,
    .step_latency = 75.9,
    .round_latency = 0,
    .alone = {.tensor = 0.548, .exponential = 0, .fp32 = 0.58, .shared = 0.617, .l2 = 1.09},
    .busy = {.tensor = 2.5, .exponential = 0.139, .fp32 = 0.449, .shared = 0.586, .l2 = 2.27},
    .skew = 0.154,
    .overlap = 1,
    .launch_ns = 7960,
};

/// mma.sync, K and V kept; the accumulator of dQ is read and written at every step.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1510,
    .step_latency = 322,
    .round_latency = 583,
    .alone = {.tensor = 0.519, .exponential = 0.521, .fp32 = 0.5, .shared = 0.553, .l2 = 0.507},
    .busy = {.tensor = 2.09, .exponential = 0.532, .fp32 = 0.501, .shared = 0.994, .l2 = 0.934},
    .skew = 0.106,
    .overlap = 1,
    .launch_ns = 5270,
};

}  // namespace attnscope::fa1

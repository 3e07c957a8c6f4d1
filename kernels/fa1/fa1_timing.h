// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-1 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa1 {

/// mma.sync, K and V kept, the fp32 state of the rows through memory at every step.
inline constexpr KernelTiming forward_timing{
    .block_latency = 6400,
    .step_latency = 76,
    .round_latency = 172,
    .square_latency = 343,
    .alone = {.tensor = 0.949, .exponential = 0, .fp32 = 0.721, .shared = 1.48, .l2 = 1.31},
    .busy = {.tensor = 1.36, .exponential = 0.049, .fp32 = 0.452, .shared = 0.36, .l2 = 1.49},
    .skew = 0.103,
    .overlap = 1,
    .launch_ns = 6940,
};

/// mma.sync, K and V kept; the accumulator of dQ is read and written at every step.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1510,
    .step_latency = 345,
    .round_latency = 614,
    .square_latency = 280,
    .alone = {.tensor = 0.511, .exponential = 0.531, .fp32 = 0.5, .shared = 0.551, .l2 = 0.515},
    .busy = {.tensor = 2.05, .exponential = 0.53, .fp32 = 0.501, .shared = 1.02, .l2 = 1.01},
    .skew = 0.106,
    .overlap = 1,
    .launch_ns = 5300,
};

}  // namespace attnscope::fa1

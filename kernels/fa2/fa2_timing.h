// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-2 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa2 {

/// mma.sync: its peak on Hopper is 1 / 1.53 of the tensor cores', which wgmma has to itself. One K and one V tile in
/// flight.
inline constexpr KernelTiming forward_timing{
    .block_latency = 5070,
    .step_latency = 0,
    .round_latency = 790,
    .alone = {.tensor = 0.766, .exponential = 0, .fp32 = 0.266, .shared = 0.712, .l2 = 0.622},
    .busy = {.tensor = 1.6, .exponential = 0, .fp32 = 0.0135, .shared = 1.12, .l2 = 0},
    .overlap = 1,
    .tail = 0.622,
    .launch_ns = 7470,
};

/// mma.sync; dQ is added up in L2.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1650,
    .step_latency = 299,
    .round_latency = 797,
    .alone = {.tensor = 0.543, .exponential = 0.566, .fp32 = 0.499, .shared = 0.508, .l2 = 0.494},
    .busy = {.tensor = 1.4, .exponential = 0.5, .fp32 = 0.5, .shared = 1.06, .l2 = 0.949},
    .overlap = 1,
    .tail = 0.499,
    .launch_ns = 6820,
};

/// Before the main kernel: rows of O and dO pass through.
inline constexpr KernelTiming dot_timing{
    .block_latency = 2360,
    .step_latency = 361,
    .round_latency = 584,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.505, .shared = 0, .l2 = 0.587},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 2.73},
    .overlap = 1,
    .tail = 0.3,
    .launch_ns = 3820,
};

/// After it: rows of dQ pass through.
inline constexpr KernelTiming convert_timing{
    .block_latency = 1430,
    .step_latency = 294,
    .round_latency = 492,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.499, .shared = 0, .l2 = 0.493},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.961},
    .overlap = 2.07,
    .tail = 0.3,
    .launch_ns = 4980,
};

}  // namespace attnscope::fa2

// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-3 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa3 {

/// wgmma, warp-specialised: one warpgroup loads by TMA while the others multiply; their softmax and products overlap.
inline constexpr KernelTiming forward_timing{
    .block_latency = 6110,
    .step_latency = 432,
    .round_latency = 462,
    .alone = {.tensor = 0.479, .exponential = 0.494, .fp32 = 0.47, .shared = 0.489, .l2 = 0.395},
    .busy = {.tensor = 0.893, .exponential = 0.563, .fp32 = 0.472, .shared = 0.852, .l2 = 0.732},
    .overlap = 1.76,
    .tail = 0.203,
    .launch_ns = 7520,
};

/// wgmma, warp-specialised.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1830,
    .step_latency = 321,
    .round_latency = 487,
    .alone = {.tensor = 0.488, .exponential = 0.555, .fp32 = 0.5, .shared = 0.463, .l2 = 0.508},
    .busy = {.tensor = 1.12, .exponential = 0.673, .fp32 = 0.499, .shared = 1, .l2 = 1},
    .overlap = 1,
    .tail = 0.3,
    .launch_ns = 7390,
};

/// Before the main kernel: rows of O and dO pass through.
inline constexpr KernelTiming dot_timing{
    .block_latency = 1510,
    .step_latency = 301,
    .round_latency = 502,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.501},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.981},
    .overlap = 2,
    .tail = 0.3,
    .launch_ns = 4030,
};

/// After it: rows of dQ pass through.
inline constexpr KernelTiming convert_timing{
    .block_latency = 1460,
    .step_latency = 297,
    .round_latency = 496,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.498},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.903},
    .overlap = 2.1,
    .tail = 0.3,
    .launch_ns = 3740,
};

}  // namespace attnscope::fa3

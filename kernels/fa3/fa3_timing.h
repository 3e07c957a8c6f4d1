// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-3 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa3 {

/// wgmma, warp-specialised: one warpgroup loads by TMA while the others multiply; their softmax and products overlap.
inline constexpr KernelTiming forward_timing{
    .block_latency = 4690,
    .step_latency = 598,
    .round_latency = 3.3,
    .square_latency = 277,
    .alone = {.tensor = 0.191, .exponential = 0.5, .fp32 = 0.495, .shared = 0.353, .l2 = 0.319},
    .busy = {.tensor = 0.644, .exponential = 0.353, .fp32 = 0.42, .shared = 0.672, .l2 = 1},
    .skew = 0.112,
    .overlap = 1,
    .launch_ns = 6570,
};

/// wgmma, warp-specialised.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1770,
    .step_latency = 317,
    .round_latency = 485,
    .alone = {.tensor = 0.485, .exponential = 0.546, .fp32 = 0.5, .shared = 0.464, .l2 = 0.504},
    .busy = {.tensor = 1.01, .exponential = 0.667, .fp32 = 0.498, .shared = 1, .l2 = 1},
    .skew = 0.102,
    .overlap = 1,
    .launch_ns = 7410,
};

/// Before the main kernel: rows of O and dO pass through.
inline constexpr KernelTiming dot_timing{
    .block_latency = 1510,
    .step_latency = 300,
    .round_latency = 501,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.5},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.983},
    .skew = 0.1,
    .overlap = 2,
    .launch_ns = 4040,
};

/// After it: rows of dQ pass through.
inline constexpr KernelTiming convert_timing{
    .block_latency = 1470,
    .step_latency = 300,
    .round_latency = 497,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.499},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.915},
    .skew = 0.1,
    .overlap = 2.07,
    .launch_ns = 3760,
};

}  // namespace attnscope::fa3

// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-3 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa3 {

/// wgmma, warp-specialised: one warpgroup loads by TMA while the others multiply; their softmax and products overlap.
inline constexpr KernelTiming forward_timing{
    .block_latency = 4380,
    .step_latency = 556,
    .round_latency = 7.11,
    .square_latency = 267,
    .alone = {.tensor = 0.143, .exponential = 0.519, .fp32 = 0.466, .shared = 0.289, .l2 = 0.399},
    .busy = {.tensor = 0.501, .exponential = 0.427, .fp32 = 0.259, .shared = 0.558, .l2 = 0.894},
    .skew = 0.0857,
    .overlap = 1,
    .launch_ns = 8480,
    .use = {.instruction = MatrixInstruction::wgmma,
            .exponentials = 1.07,
            .wavefronts = {.exponential = 0.183, .fp32 = 0.623, .shared = 0.896, .l2 = 0.0979}},
};

/// wgmma, warp-specialised.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1750,
    .step_latency = 316,
    .round_latency = 486,
    .alone = {.tensor = 0.488, .exponential = 0.539, .fp32 = 0.5, .shared = 0.471, .l2 = 0.505},
    .busy = {.tensor = 1.02, .exponential = 0.642, .fp32 = 0.499, .shared = 1, .l2 = 1},
    .skew = 0.102,
    .overlap = 1.12,
    .launch_ns = 7610,
    .use = {.instruction = MatrixInstruction::wgmma,
            .exponentials = 1.21,
            .wavefronts = {.exponential = 1.94, .shared = 1.11, .l2 = 0.874}},
};

/// Before the main kernel: rows of O and dO pass through.
inline constexpr KernelTiming dot_timing{
    .block_latency = 1510,
    .step_latency = 300,
    .round_latency = 501,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.5},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.976},
    .skew = 0.1,
    .overlap = 2,
    .launch_ns = 4040,
    .use = {.wavefronts = {.fp32 = 0.633}},
};

/// After it: rows of dQ pass through.
inline constexpr KernelTiming convert_timing{
    .block_latency = 1470,
    .step_latency = 300,
    .round_latency = 496,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.499},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.9},
    .skew = 0.1,
    .overlap = 2.08,
    .launch_ns = 3760,
    .use = {.wavefronts = {.l2 = 0.356}},
};

/// Before the forward kernel with operands of 8 bits: rows pass through. Not fitted yet: these are dot's.
inline constexpr KernelTiming quantise_timing = dot_timing;

}  // namespace attnscope::fa3

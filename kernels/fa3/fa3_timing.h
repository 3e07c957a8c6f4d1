// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-3 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa3 {

/// wgmma, warp-specialised: one warpgroup loads by TMA while the others multiply; their softmax and products overlap.
inline constexpr KernelTiming forward_timing{
    .block_latency = 2330,
    .step_latency = 198,
    .round_latency = 332,
    .square_latency = 297,
    .alone = {.tensor = 0, .exponential = 0.804, .fp32 = 0.294, .shared = 0.00269, .l2 = 0.407},
    .busy = {.tensor = 0.5, .exponential = 0.512, .fp32 = 0, .shared = 0.532, .l2 = 0.461},
    .skew = 0.0013,
    .overlap = 1.01,
    .launch_ns = 8940,
    .use = {.instruction = MatrixInstruction::wgmma,
            .exponentials = 1.01,
            .wavefronts = {.exponential = 0.00478, .fp32 = 0.533, .shared = 0.931, .l2 = 0.159}},
};

/// wgmma, warp-specialised.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1730,
    .step_latency = 323,
    .round_latency = 493,
    .alone = {.tensor = 0.494, .exponential = 0.54, .fp32 = 0.5, .shared = 0.454, .l2 = 0.507},
    .busy = {.tensor = 1.1, .exponential = 0.685, .fp32 = 0.499, .shared = 1, .l2 = 1},
    .skew = 0.103,
    .overlap = 1.39,
    .launch_ns = 7930,
    .use = {.instruction = MatrixInstruction::wgmma,
            .exponentials = 1.01,
            .wavefronts = {.exponential = 1.31, .shared = 0.85, .l2 = 0.915}},
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

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
    .block_latency = 4310,
    .step_latency = 366,
    .round_latency = 736,
    .square_latency = 192,
    .alone = {.tensor = 0.339, .exponential = 0.232, .fp32 = 0, .shared = 0, .l2 = 0.893},
    .busy = {.tensor = 2.05, .exponential = 0.0209, .fp32 = 0, .shared = 1.32, .l2 = 0},
    .skew = 0.102,
    .overlap = 1,
    .launch_ns = 7400,
};

/// mma.sync; dQ is added up in L2.
inline constexpr KernelTiming backward_timing{
    .block_latency = 2270,
    .step_latency = 108,
    .round_latency = 285,
    .square_latency = 220,
    .alone = {.tensor = 0.685, .exponential = 0.711, .fp32 = 0.503, .shared = 0.656, .l2 = 0.589},
    .busy = {.tensor = 1.81, .exponential = 0.78, .fp32 = 0.506, .shared = 0.887, .l2 = 0.934},
    .skew = 0.118,
    .overlap = 1,
    .launch_ns = 6230,
};

/// Before the main kernel: rows of O and dO pass through.
inline constexpr KernelTiming dot_timing{
    .block_latency = 1450,
    .step_latency = 272,
    .round_latency = 495,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.514, .shared = 0, .l2 = 0.732},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 2.57},
    .skew = 0.11,
    .overlap = 1,
    .launch_ns = 3700,
};

/// After it: rows of dQ pass through.
inline constexpr KernelTiming convert_timing{
    .block_latency = 1390,
    .step_latency = 295,
    .round_latency = 488,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.503},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.871},
    .skew = 0.1,
    .overlap = 2.11,
    .launch_ns = 4200,
};

}  // namespace attnscope::fa2

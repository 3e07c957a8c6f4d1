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
    .block_latency = 4840,
    .step_latency = 217,
    .round_latency = 721,
    .alone = {.tensor = 0.376, .exponential = 0, .fp32 = 0.00737, .shared = 0.363, .l2 = 0.852},
    .busy = {.tensor = 1.94, .exponential = 0, .fp32 = 0, .shared = 1.26, .l2 = 0},
    .skew = 0.099,
    .overlap = 1,
    .launch_ns = 7370,
};

/// mma.sync; dQ is added up in L2.
inline constexpr KernelTiming backward_timing{
    .block_latency = 1580,
    .step_latency = 301,
    .round_latency = 576,
    .alone = {.tensor = 0.502, .exponential = 0.519, .fp32 = 0.5, .shared = 0.502, .l2 = 0.509},
    .busy = {.tensor = 1.98, .exponential = 0.546, .fp32 = 0.503, .shared = 0.946, .l2 = 0.983},
    .skew = 0.101,
    .overlap = 1.05,
    .launch_ns = 4840,
};

/// Before the main kernel: rows of O and dO pass through.
inline constexpr KernelTiming dot_timing{
    .block_latency = 2420,
    .step_latency = 300,
    .round_latency = 588,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.506, .shared = 0, .l2 = 0.593},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 2.79},
    .skew = 0.104,
    .overlap = 1,
    .launch_ns = 3820,
};

/// After it: rows of dQ pass through.
inline constexpr KernelTiming convert_timing{
    .block_latency = 1450,
    .step_latency = 300,
    .round_latency = 495,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.496},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.969},
    .skew = 0.0999,
    .overlap = 2.05,
    .launch_ns = 4990,
};

}  // namespace attnscope::fa2

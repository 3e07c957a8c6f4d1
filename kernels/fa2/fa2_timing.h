// SPDX-License-Identifier: Apache-2.0
// How the FlashAttention-2 kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::fa2 {

/// mma.sync: its peak on Hopper is 2/3 of the tensor cores', which wgmma has to itself. One K and one V tile in
/// flight.
inline constexpr KernelTiming forward_timing{
    .block_latency = 4830,
    .step_latency = 354,
    .round_latency = 678,
    .square_latency = 198,
    .alone = {.tensor = 0.444, .exponential = 0.148, .fp32 = 0, .shared = 0, .l2 = 0.821},
    .busy = {.tensor = 1.72, .exponential = 0.126, .fp32 = 0, .shared = 1.21, .l2 = 0},
    .skew = 0.118,
    .overlap = 1,
    .launch_ns = 8760,
    .use = {.wavefronts = {.exponential = 0.331, .fp32 = 0.396, .shared = 1.13, .l2 = 0.193}},
};

/// mma.sync; dQ is added up in L2.
inline constexpr KernelTiming backward_timing{
    .block_latency = 2430,
    .step_latency = 124,
    .round_latency = 198,
    .square_latency = 235,
    .alone = {.tensor = 0.614, .exponential = 0.695, .fp32 = 0.501, .shared = 0.537, .l2 = 0.571},
    .busy = {.tensor = 1.75, .exponential = 0.795, .fp32 = 0.502, .shared = 0.876, .l2 = 0.843},
    .skew = 0.12,
    .overlap = 1.01,
    .launch_ns = 6540,
    .use = {.exponentials = 1.01, .wavefronts = {.exponential = 4.91, .shared = 0.811}},
};

/// Before the main kernel: rows of O and dO pass through.
inline constexpr KernelTiming dot_timing{
    .block_latency = 1340,
    .step_latency = 269,
    .round_latency = 483,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.514, .shared = 0, .l2 = 0.743},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 2.41},
    .skew = 0.11,
    .overlap = 1,
    .launch_ns = 3670,
    .use = {.wavefronts = {.l2 = 0.056}},
};

/// After it: rows of dQ pass through.
inline constexpr KernelTiming convert_timing{
    .block_latency = 1340,
    .step_latency = 293,
    .round_latency = 483,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.503},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.836},
    .skew = 0.1,
    .overlap = 2.14,
    .launch_ns = 4200,
    .use = {.wavefronts = {.l2 = 0.347}},
};

}  // namespace attnscope::fa2

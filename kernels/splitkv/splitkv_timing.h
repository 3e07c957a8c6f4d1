// SPDX-License-Identifier: Apache-2.0
// Timing constants of the split-KV kernels, fitted on an NVIDIA H200 by tests/gpu/fit_times.py to half of the recorded
// launches.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::splitkv {

/// mma.sync for a few rows; streams K and V.
inline constexpr KernelTiming partial_timing{
    .block_latency = 1470,
    .step_latency = 284,
    .round_latency = 466,
    .alone = {.tensor = 0.496, .exponential = 0.498, .fp32 = 0.498, .shared = 0.491, .l2 = 0.482},
    .busy = {.tensor = 1.4, .exponential = 0.5, .fp32 = 0.5, .shared = 0.988, .l2 = 0.975},
    .skew = 0.0992,
    .overlap = 2.09,
    .launch_ns = 4970,
    .use = {.exponentials = 1.5, .wavefronts = {.l2 = 2.05}},
};

/// A few results per row; starts while the partial kernel ends.
inline constexpr KernelTiming combine_timing{
    .block_latency = 1500,
    .step_latency = 300,
    .round_latency = 501,
    .alone = {.tensor = 0, .exponential = 0.5, .fp32 = 0.5, .shared = 0, .l2 = 0.5},
    .busy = {.tensor = 0, .exponential = 0.5, .fp32 = 0.5, .shared = 0, .l2 = 1},
    .skew = 0.1,
    .overlap = 2,
    .launch_ns = 5050,
    .use = {.exponentials = 7.07, .wavefronts = {.l2 = 0.463}},
};

}  // namespace attnscope::splitkv

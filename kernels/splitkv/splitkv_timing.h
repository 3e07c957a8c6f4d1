// SPDX-License-Identifier: Apache-2.0
// Timing constants of the split-KV kernels, fitted on an NVIDIA H200 by tests/gpu/fit_times.py to half of the recorded
// launches.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::splitkv {

/// mma.sync for a few rows; streams K and V.
inline constexpr KernelTiming partial_timing{
    .block_latency = 1080,
    .step_latency = 133,
    .round_latency = 156,
    .alone = {.tensor = 0.463, .exponential = 0.482, .fp32 = 0.488, .shared = 0.451, .l2 = 0.396},
    .busy = {.tensor = 1.07, .exponential = 0.496, .fp32 = 0.498, .shared = 0.761, .l2 = 0.527},
    .skew = 0.0952,
    .overlap = 2.31,
    .launch_ns = 5540,
    .use = {.exponentials = 1.5, .wavefronts = {.l2 = 2.05}},
};

/// The same for 8-bit K and V.
inline constexpr KernelTiming partial_fp8_timing{
    .block_latency = 622,
    .step_latency = 99.3,
    .round_latency = 98.2,
    .alone = {.tensor = 0.477, .exponential = 0.483, .fp32 = 0.492, .shared = 0.485, .l2 = 0.468},
    .busy = {.tensor = 1.02, .exponential = 0.467, .fp32 = 0.483, .shared = 0.848, .l2 = 0.697},
    .skew = 0.0954,
    .overlap = 2.31,
    .launch_ns = 6370,
    .use = partial_timing.use,
};

/// A few results per row; starts while the partial kernel ends.
inline constexpr KernelTiming combine_timing{
    .block_latency = 2810,
    .step_latency = 382,
    .round_latency = 744,
    .alone = {.tensor = 0, .exponential = 0.504, .fp32 = 0.509, .shared = 0, .l2 = 0.579},
    .busy = {.tensor = 0, .exponential = 0.5, .fp32 = 0.5, .shared = 0, .l2 = 1.96},
    .skew = 0.112,
    .overlap = 1,
    .launch_ns = 3480,
    .use = {.exponentials = 7.07, .wavefronts = {.l2 = 0.463}},
};

}  // namespace attnscope::splitkv

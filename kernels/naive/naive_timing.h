// SPDX-License-Identifier: Apache-2.0
// How standard attention's kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::naive {

/// S = Q K^T, and dP: mma.sync, both tiles loaded before the product.
inline constexpr KernelTiming qk_timing{
    .block_latency = 1560,
    .step_latency = 303,
    .round_latency = 894,
    .alone = {.tensor = 0.357, .exponential = 0, .fp32 = 0.52, .shared = 0.294, .l2 = 0.479},
    .busy = {.tensor = 2.01, .exponential = 0, .fp32 = 0.565, .shared = 0.148, .l2 = 1.67},
    .skew = 0.102,
    .overlap = 1,
    .launch_ns = 5700,
    .use = {.wavefronts = {.fp32 = 0.508, .shared = 1.42}},
};

/// Rows held in registers, long ones read twice: streams.
inline constexpr KernelTiming softmax_timing{
    .block_latency = 1850,
    .step_latency = 421,
    .round_latency = 537,
    .alone = {.tensor = 0, .exponential = 0.451, .fp32 = 0.494, .shared = 0, .l2 = 0.451},
    .busy = {.tensor = 0, .exponential = 0.5, .fp32 = 0.5, .shared = 0, .l2 = 1.54},
    .skew = 0.125,
    .overlap = 1,
    .launch_ns = 4950,
    .use = {.exponentials = 2.27, .wavefronts = {.l2 = 0.288}},
};

/// Of two matrices.
inline constexpr KernelTiming ds_timing{
    .block_latency = 1370,
    .step_latency = 300,
    .round_latency = 486,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.495},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.822},
    .skew = 0.0999,
    .overlap = 2.15,
    .launch_ns = 1270,
    .use = {.wavefronts = {.l2 = 0.165}},
};

/// O = P V, and dQ: mma.sync through a ring of steps.
inline constexpr KernelTiming pv_timing{
    .block_latency = 1650,
    .step_latency = 413,
    .round_latency = 478,
    .alone = {.tensor = 0.339, .exponential = 0, .fp32 = 0.502, .shared = 0.338, .l2 = 0.622},
    .busy = {.tensor = 1.37, .exponential = 0, .fp32 = 0.5, .shared = 0.566, .l2 = 1.31},
    .skew = 0.111,
    .overlap = 1.86,
    .launch_ns = 5710,
    .use = {.wavefronts = {.fp32 = 0.438, .shared = 1.09}},
};

/// dV and dK: the same with the left matrix transposed.
inline constexpr KernelTiming tn_timing{
    .block_latency = 1360,
    .step_latency = 259,
    .round_latency = 576,
    .alone = {.tensor = 0.522, .exponential = 0, .fp32 = 0.498, .shared = 0.532, .l2 = 0.518},
    .busy = {.tensor = 1.4, .exponential = 0, .fp32 = 0.5, .shared = 0.9, .l2 = 0.694},
    .skew = 0.101,
    .overlap = 1.66,
    .launch_ns = 1530,
    .use = {.wavefronts = {.shared = 0.955, .l2 = 0.326}},
};

}  // namespace attnscope::naive

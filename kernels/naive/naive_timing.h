// SPDX-License-Identifier: Apache-2.0
// How standard attention's kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::naive {

/// S = Q K^T, and dP: mma.sync, both tiles loaded before the product.
inline constexpr KernelTiming qk_timing{
    .block_latency = 1600,
    .step_latency = 301,
    .round_latency = 886,
    .alone = {.tensor = 0.447, .exponential = 0, .fp32 = 0.52, .shared = 0.414, .l2 = 0.557},
    .busy = {.tensor = 2.21, .exponential = 0, .fp32 = 0.565, .shared = 0.698, .l2 = 1.44},
    .skew = 0.106,
    .overlap = 1,
    .launch_ns = 5040,
};

/// Rows held in registers, long ones read twice: streams.
inline constexpr KernelTiming softmax_timing{
    .block_latency = 1960,
    .step_latency = 432,
    .round_latency = 549,
    .alone = {.tensor = 0, .exponential = 0.461, .fp32 = 0.495, .shared = 0, .l2 = 0.461},
    .busy = {.tensor = 0, .exponential = 0.5, .fp32 = 0.5, .shared = 0, .l2 = 1.63},
    .skew = 0.126,
    .overlap = 1,
    .launch_ns = 5000,
};

/// Likewise, of two matrices.
inline constexpr KernelTiming ds_timing{
    .block_latency = 1410,
    .step_latency = 300,
    .round_latency = 490,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.497},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.891},
    .skew = 0.0999,
    .overlap = 2.11,
    .launch_ns = 1580,
};

/// O = P V, and dQ: mma.sync through a ring of steps.
inline constexpr KernelTiming pv_timing{
    .block_latency = 1580,
    .step_latency = 304,
    .round_latency = 399,
    .alone = {.tensor = 0.49, .exponential = 0, .fp32 = 0.501, .shared = 0.477, .l2 = 0.567},
    .busy = {.tensor = 1.4, .exponential = 0, .fp32 = 0.5, .shared = 1.02, .l2 = 1.02},
    .skew = 0.101,
    .overlap = 1.83,
    .launch_ns = 5470,
};

/// dV and dK: the same with the left matrix transposed.
inline constexpr KernelTiming tn_timing{
    .block_latency = 1310,
    .step_latency = 306,
    .round_latency = 550,
    .alone = {.tensor = 0.495, .exponential = 0, .fp32 = 0.498, .shared = 0.501, .l2 = 0.508},
    .busy = {.tensor = 1.4, .exponential = 0, .fp32 = 0.5, .shared = 1.23, .l2 = 1.04},
    .skew = 0.1,
    .overlap = 1.94,
    .launch_ns = 948,
};

}  // namespace attnscope::naive

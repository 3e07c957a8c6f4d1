// SPDX-License-Identifier: Apache-2.0
// How standard attention's kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::naive {

/// S = Q K^T, and dP: mma.sync, both tiles loaded before the product.
inline constexpr KernelTiming qk_timing{
    .block_latency = 1350,
    .step_latency = 288,
    .round_latency = 971,
    .alone = {.tensor = 0.443, .exponential = 0, .fp32 = 0.522, .shared = 0.404, .l2 = 0.586},
    .busy = {.tensor = 2.11, .exponential = 0, .fp32 = 0.58, .shared = 0.691, .l2 = 1.35},
    .overlap = 1,
    .tail = 0.3,
    .launch_ns = 5080,
};

/// Rows held in registers, long ones read twice: streams.
inline constexpr KernelTiming softmax_timing{
    .block_latency = 1600,
    .step_latency = 308,
    .round_latency = 512,
    .alone = {.tensor = 0, .exponential = 0.46, .fp32 = 0.495, .shared = 0, .l2 = 0.46},
    .busy = {.tensor = 0, .exponential = 0.5, .fp32 = 0.5, .shared = 0, .l2 = 1.63},
    .overlap = 1.05,
    .tail = 0.3,
    .launch_ns = 5470,
};

/// Likewise, of two matrices.
inline constexpr KernelTiming ds_timing{
    .block_latency = 1360,
    .step_latency = 289,
    .round_latency = 484,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.495},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.873},
    .overlap = 2.15,
    .tail = 0.3,
    .launch_ns = 1680,
};

/// O = P V, and dQ: mma.sync through a ring of steps.
inline constexpr KernelTiming pv_timing{
    .block_latency = 1590,
    .step_latency = 306,
    .round_latency = 507,
    .alone = {.tensor = 0.6, .exponential = 0, .fp32 = 0.502, .shared = 0.601, .l2 = 0.584},
    .busy = {.tensor = 1.4, .exponential = 0, .fp32 = 0.5, .shared = 1.1, .l2 = 0.726},
    .overlap = 2.06,
    .tail = 0.3,
    .launch_ns = 5390,
};

/// dV and dK: the same with the left matrix transposed.
inline constexpr KernelTiming tn_timing{
    .block_latency = 1560,
    .step_latency = 389,
    .round_latency = 608,
    .alone = {.tensor = 0.545, .exponential = 0, .fp32 = 0.499, .shared = 0.559, .l2 = 0.55},
    .busy = {.tensor = 2.21, .exponential = 0, .fp32 = 0.499, .shared = 0.911, .l2 = 0.863},
    .overlap = 1.95,
    .tail = 0.3,
    .launch_ns = 1200,
};

}  // namespace attnscope::naive

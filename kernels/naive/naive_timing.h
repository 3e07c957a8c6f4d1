// SPDX-License-Identifier: Apache-2.0
// How standard attention's kernels use an SM (KernelTiming says what each number stands for). Fitted on an NVIDIA H200
// by tests/gpu/fit_times.py, to the launches of those problems of the recorded sample and of the maps of
// assets/samples/maps.sh that half_of() calls fitted; the others judge them.
#pragma once

#include "kernels/model/kernel_work.h"

namespace attnscope::naive {

/// S = Q K^T, and dP: mma.sync, both tiles loaded before the product.
inline constexpr KernelTiming qk_timing{
    .block_latency = 1710,
    .step_latency = 304,
    .round_latency = 924,
    .alone = {.tensor = 0.384, .exponential = 0, .fp32 = 0.521, .shared = 0.333, .l2 = 0.5},
    .busy = {.tensor = 2.2, .exponential = 0, .fp32 = 0.564, .shared = 0.302, .l2 = 1.72},
    .skew = 0.103,
    .overlap = 1,
    .launch_ns = 5230,
};

/// Rows held in registers, long ones read twice: streams.
inline constexpr KernelTiming softmax_timing{
    .block_latency = 1960,
    .step_latency = 432,
    .round_latency = 549,
    .alone = {.tensor = 0, .exponential = 0.461, .fp32 = 0.495, .shared = 0, .l2 = 0.461},
    .busy = {.tensor = 0, .exponential = 0.5, .fp32 = 0.5, .shared = 0, .l2 = 1.66},
    .skew = 0.126,
    .overlap = 1,
    .launch_ns = 4970,
};

/// Of two matrices.
inline constexpr KernelTiming ds_timing{
    .block_latency = 1400,
    .step_latency = 300,
    .round_latency = 489,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.496},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.859},
    .skew = 0.0999,
    .overlap = 2.12,
    .launch_ns = 1290,
};

/// O = P V, and dQ: mma.sync through a ring of steps.
inline constexpr KernelTiming pv_timing{
    .block_latency = 1630,
    .step_latency = 449,
    .round_latency = 473,
    .alone = {.tensor = 0.353, .exponential = 0, .fp32 = 0.501, .shared = 0.349, .l2 = 0.609},
    .busy = {.tensor = 1.4, .exponential = 0, .fp32 = 0.5, .shared = 0.558, .l2 = 1.39},
    .skew = 0.111,
    .overlap = 1.6,
    .launch_ns = 5450,
};

/// dV and dK: the same with the left matrix transposed.
inline constexpr KernelTiming tn_timing{
    .block_latency = 1330,
    .step_latency = 258,
    .round_latency = 569,
    .alone = {.tensor = 0.531, .exponential = 0, .fp32 = 0.498, .shared = 0.539, .l2 = 0.519},
    .busy = {.tensor = 1.4, .exponential = 0, .fp32 = 0.5, .shared = 0.986, .l2 = 0.728},
    .skew = 0.101,
    .overlap = 1.49,
    .launch_ns = 1270,
};

}  // namespace attnscope::naive

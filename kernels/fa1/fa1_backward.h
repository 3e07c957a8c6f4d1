// SPDX-License-Identifier: Apache-2.0
// FlashAttention backward pass (Algorithm 4): feasibility, model and launch.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/algorithm_parts.h"

namespace attnscope::fa1_backward {

/// Reason why the backward pass is infeasible, if any. Does not check the forward pass.
[[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const TileShape&, const DeviceLimits&);
/// Default tile. The paper's Bc = M / 4d leaves no room for fp32 dK and dV, so Bc is limited by registers: the fastest
/// of those measured on an H200 (N 1024).
[[nodiscard]] TileShape preferred_tile(const AttentionProblem&);
[[nodiscard]] KernelModel model(const AttentionProblem&, const TileShape&, const DeviceLimits&);
[[nodiscard]] KernelLaunch launch(const AttentionProblem&, const TileShape&, const DeviceLimits&);
/// Bytes that concurrent blocks reread for each K/V tile.
[[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, const TileShape&, const DeviceLimits&);

}  // namespace attnscope::fa1_backward

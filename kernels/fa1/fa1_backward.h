// SPDX-License-Identifier: Apache-2.0
// FlashAttention's backward pass (Algorithm 4): its launch.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/algorithm_parts.h"

namespace attnscope::fa1_backward {

/// Why the backward pass cannot run there; the forward pass is not asked.
[[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const TileShape&, const DeviceLimits&);
/// The paper's Bc = M / 4d leaves no room for dK and dV in fp32 beside K and V: Bc is what fits in registers, the best
/// of those measured on an H200 (N 1024).
[[nodiscard]] TileShape wished_tile(const AttentionProblem&);
[[nodiscard]] KernelModel model(const AttentionProblem&, const TileShape&, const DeviceLimits&);
[[nodiscard]] KernelLaunch launch(const AttentionProblem&, const TileShape&, const DeviceLimits&);
/// What the blocks of it that run at once pass through again for each K/V tile.
[[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, const TileShape&, const DeviceLimits&);

}  // namespace attnscope::fa1_backward

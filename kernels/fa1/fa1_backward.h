// SPDX-License-Identifier: Apache-2.0
// FlashAttention's backward pass (Algorithm 4): its launch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "kernels/algorithm.h"
#include "kernels/algorithm_parts.h"
#include "kernels/common_knobs.h"

namespace attnscope::fa1_backward {

/// A forward plan with the launch "bwd" after it; where the forward pass is not measured, its launches become set-up.
/// Pre: the problem's pass is not fwd.
/// The buffers of a forward plan, with those of the backward pass after them.
[[nodiscard]] std::vector<BufferSpec> append_buffers(std::vector<BufferSpec> forward, const AttentionProblem&);
[[nodiscard]] AttentionPlan append(AttentionPlan forward, const AttentionProblem&, const TileShape&,
                                   const DeviceLimits&);

/// Why the backward pass cannot run there; the forward pass is not asked.
[[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const TileShape&, const DeviceLimits&);
/// `accepted` says what can run there, the forward pass included.
[[nodiscard]] TileShape default_tile(const AttentionProblem&, const std::function<bool(const TileShape&)>& accepted);

/// The model of the launch.
[[nodiscard]] KernelModel model(const AttentionProblem&, const TileShape&, const DeviceLimits&);
/// What the blocks of it that run at once pass through again for each K/V tile.
[[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, const TileShape&, const DeviceLimits&);

}  // namespace attnscope::fa1_backward

// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2's backward pass.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/common_knobs.h"

namespace attnscope::fa2_backward {

/// The models of the backward pass's launches. Pre: the problem's pass is not fwd.
[[nodiscard]] std::vector<KernelModel> models(const AttentionProblem&, const Config&);

/// A forward plan with the launches of the backward pass after it. Pre: the problem's pass is not fwd.
[[nodiscard]] AttentionPlan append(AttentionPlan forward, const AttentionProblem&, const Config&);

/// Why the backward pass cannot run there; the forward pass is not asked.
[[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const TileShape&, const DeviceLimits&);
/// `accepted` says what can run there, the forward pass included.
[[nodiscard]] TileShape default_tile(const AttentionProblem&, const std::function<bool(const TileShape&)>& accepted);

}  // namespace attnscope::fa2_backward

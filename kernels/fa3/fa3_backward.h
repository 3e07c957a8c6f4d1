// SPDX-License-Identifier: Apache-2.0
// FlashAttention-3's backward pass.
#pragma once

#include <optional>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/algorithm_parts.h"

namespace attnscope::fa3_backward {

/// The models of the backward pass's launches. Pre: the problem's pass is not fwd.
[[nodiscard]] std::vector<KernelModel> models(const AttentionProblem&, const Config&);

/// A forward plan with the launches of the backward pass after it: dQ's accumulator is cleared, added to and read in
/// whole tiles of Br rows. Pre: the problem's pass is not fwd.
[[nodiscard]] AttentionPlan append(AttentionPlan forward, const AttentionProblem&, const Config&);

/// Why the backward pass has no such problem or tile, on any device; the forward pass is not asked.
[[nodiscard]] std::optional<Refusal> refuse_tile(const AttentionProblem&, const TileShape&);
/// What the main kernel asks of a device. Pre: refuse_tile() is empty.
[[nodiscard]] KernelNeeds needs(const AttentionProblem&, const TileShape&);
/// The one tile that the kernel has at the problem's d.
[[nodiscard]] TileShape default_tile(const AttentionProblem&);

}  // namespace attnscope::fa3_backward

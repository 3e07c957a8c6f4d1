// SPDX-License-Identifier: Apache-2.0
// Forward passes whose blocks keep a Q tile and its O on chip and stream K and V past it (FlashAttention-2, arXiv
// 2307.08691, Algorithm 1; FlashAttention-3 keeps it): one tile program and one closed form, whatever executes them.
#pragma once

#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/descriptor.h"

namespace attnscope::query_stationary {

/// What executes the pass. Its parameters are q, k, v, o, lse, instances, group, n_q, n_k, scale, then the mask's.
struct Kernel {
  KernelSource source;
  KernelNeeds needs;
};

/// The plan of one launch, "fwd". Pre: the problem's pass is fwd.
[[nodiscard]] AttentionPlan forward(const AttentionProblem&, const Tiling&, Kernel);

/// The macros that say problem and tile to the kernel.
[[nodiscard]] std::vector<std::string> defines(const AttentionProblem&, const Tiling&);

}  // namespace attnscope::query_stationary

// SPDX-License-Identifier: Apache-2.0
// Forward passes whose blocks keep a Q tile and its O on chip and stream K and V past it (FlashAttention-2, arXiv
// 2307.08691, Algorithm 1; FlashAttention-3 keeps it): one tile program and one closed form, whatever executes them.
#pragma once

#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/algorithm_parts.h"

namespace attnscope::query_stationary {

/// How a kernel executes it: what its time depends on beside the accesses.
struct Execution {
  int operand_rows = 16;   ///< query rows that share one read of K and V from shared memory
  int chunk_columns = 16;  ///< keys between two rescalings of O
  /// As many blocks as the device holds take row tiles from a counter, "taken"; 0: a block for each row tile.
  std::int64_t persistent_blocks = 0;
  /// Of a box of Q; those of K and V are K tiles. Boxes cross from L2 whole, with what lies outside the matrix, and are
  /// fetched with the padding in them. 0: rows come by themselves.
  int box_rows = 0;
  double exponential_share = 1;  ///< of the scores whose exponentials are ex2
  KernelTiming timing;
};

/// The model of the one launch, "fwd". `on_chip` is what its blocks keep there.
[[nodiscard]] KernelModel model(const AttentionProblem&, const Config&, const KernelNeeds&,
                                std::vector<OnChipPart> on_chip, const Execution&);

/// q, k, v, what the mask reads, o and lse, and of a persistent grid the counter. Pre: the problem's pass is fwd.
[[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem&, bool persistent = false);
/// The plan of it. The kernel's parameters are q, k, v, o, lse (by addresses, or `matrices` in their place), instances,
/// group, n_q, n_k, scale, then the mask's. Pre: the problem's pass is fwd.
[[nodiscard]] AttentionPlan forward(const AttentionProblem&, const Config&, KernelModel, KernelSource,
                                    const Execution& = {}, const std::vector<Argument>& matrices = {});

/// The macros that say problem and tile to the kernel.
[[nodiscard]] std::vector<std::string> defines(const AttentionProblem&, const Config&);

}  // namespace attnscope::query_stationary

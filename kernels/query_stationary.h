// SPDX-License-Identifier: Apache-2.0
// Forward passes whose blocks keep a Q tile and its O on chip and stream K and V (FlashAttention-2, arXiv 2307.08691,
// Algorithm 1; also FlashAttention-3). One tile program and one closed form for all kernel implementations.
#pragma once

#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/algorithm_parts.h"

namespace attnscope::query_stationary {

/// Properties of a kernel implementation that affect its time, besides the accesses.
struct Execution {
  int operand_rows = 16;   ///< query rows that share one shared-memory read of K and V
  int chunk_columns = 16;  ///< keys between two rescalings of O
  /// Blocks of a persistent grid, which take row tiles from the counter "taken"; 0: one block per row tile.
  std::int64_t persistent_blocks = 0;
  /// Rows of a TMA box of Q; boxes of K and V are K tiles. Boxes move whole, including padding and rows outside the
  /// matrix. 0: rows are loaded individually.
  int box_rows = 0;
  double exponential_share = 1;  ///< share of the scores whose exponential uses ex2
  KernelTiming timing;
};

/// Model of the single launch "fwd". `on_chip`: on-chip data of a block.
[[nodiscard]] KernelModel model(const AttentionProblem&, const Config&, const KernelResources&,
                                std::vector<OnChipPart> on_chip, const Execution&);

/// q, k, v, the mask's buffers, o and lse; with `persistent` also the counter. Pre: the problem's pass is fwd.
[[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem&, bool persistent = false);
/// Plan of the forward pass. Kernel parameters: q, k, v, o, lse (addresses, or `matrices` instead), instances, group,
/// n_q, n_k, scale, then the mask's arguments. Pre: the problem's pass is fwd.
[[nodiscard]] AttentionPlan forward(const AttentionProblem&, const Config&, KernelModel, KernelSource,
                                    const Execution& = {}, const std::vector<Argument>& matrices = {});

/// Macros that pass problem and tile to the kernel.
[[nodiscard]] std::vector<std::string> defines(const AttentionProblem&, const Config&);

}  // namespace attnscope::query_stationary

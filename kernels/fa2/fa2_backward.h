// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2's backward pass: its launches, for whichever kernel makes them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/descriptor.h"

namespace attnscope::fa2_backward {

/// What executes the pass. All choices have the same entry names and parameters, and a dq_acc of whole Q tiles: in
/// which order its elements lie there is theirs. Their tile programs differ in the rows of dq_acc, by whole_tiles.
struct Kernels {
  std::string_view file;       ///< the main kernel's
  KernelNeeds needs;           ///< the main kernel's
  std::string_view rows_file;  ///< dot and convert
  int row_threads = 0;
  int row_registers = 0;
  /// Cleared, added to and read in whole tiles of Br rows, also at the ragged end.
  bool whole_tiles = false;
};

/// The kernels for every architecture from sm_80 on.
[[nodiscard]] Kernels portable_kernels(const AttentionProblem&, const TileShape&);

/// Hopper's, on whole warpgroups; nothing where they do not take the problem or the tile, or the device is another.
[[nodiscard]] std::optional<Kernels> hopper_kernels(const AttentionProblem&, const TileShape&, const DeviceLimits&);

/// A forward plan, with the launches "dot", "bwd" and "convert" after it; where the forward pass is not measured, its
/// launches become set-up. Pre: the problem's pass is not fwd.
[[nodiscard]] AttentionPlan append(AttentionPlan forward, const AttentionProblem&, const TileShape&, const Kernels&);

/// Why the backward pass cannot run there; the forward pass is not asked.
[[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const TileShape&, const Kernels&,
                                             const DeviceLimits&);
/// `accepted` says what can run there, the forward pass included.
[[nodiscard]] TileShape default_tile(const AttentionProblem&, const std::function<bool(const TileShape&)>& accepted);

}  // namespace attnscope::fa2_backward

// SPDX-License-Identifier: Apache-2.0
// Backward passes whose blocks keep a K/V tile with its dK and dV on chip, stream Q and dO past it and add to dQ in
// global memory (FlashAttention-2, arXiv 2307.08691, Algorithm 2; FlashAttention-3 keeps it): tile programs and closed
// forms of their three launches, whatever executes them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/algorithm_parts.h"

namespace attnscope::key_stationary {

/// What executes the pass. All choices have a dq_acc of whole Q tiles: in which order its elements lie there is theirs.
/// Their parameters and tile programs differ by whole_tiles.
struct Kernels {
  std::string_view file;            ///< the main kernel's
  std::string_view entry;           ///< the main kernel's; with "_dot" and "_convert" behind it, those of rows_file
  KernelNeeds needs;                ///< the main kernel's
  std::vector<OnChipPart> on_chip;  ///< the main kernel's
  std::string_view rows_file;       ///< dot and convert
  int row_threads = 0;
  int row_registers = 0;
  int chunk_columns = 16;          ///< keys of a step's pieces that wait for one another
  std::int64_t operand_bytes = 0;  ///< that a step reads from shared memory
  KernelTiming timing{};           ///< the main kernel's
  KernelTiming dot_timing{};
  KernelTiming convert_timing{};
  int delta_request_rows = 8;  ///< of D, that one request of a warp of dot stores
  /// The main kernel takes q and dout as tensor maps, by boxes of Br rows that cross whole; dq_acc is cleared, added to
  /// and read in whole tiles. Both also at the ragged end.
  bool whole_tiles = false;
};

/// The models of the launches "dot", "bwd" and "convert". Pre: the problem's pass is not fwd.
[[nodiscard]] std::vector<KernelModel> models(const AttentionProblem&, const Config&, const Kernels&);

/// What the pass has beside the buffers of its forward pass.
[[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem&, const TileShape&);
/// Those launches.
[[nodiscard]] std::vector<KernelLaunch> launches(const AttentionProblem&, const Config&, const Kernels&);

/// Cause::shape when a launch needs more blocks than a grid has.
[[nodiscard]] std::optional<Refusal> refuse_grids(std::string_view algorithm, const AttentionProblem&,
                                                  const TileShape&);

}  // namespace attnscope::key_stationary

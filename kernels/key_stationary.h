// SPDX-License-Identifier: Apache-2.0
// Backward passes whose blocks keep a K/V tile with its dK and dV on chip, stream Q and dO, and accumulate dQ in global
// memory (FlashAttention-2, arXiv 2307.08691, Algorithm 2; also FlashAttention-3). Tile programs and closed forms of
// their three launches, for any kernel implementation.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/algorithm_parts.h"

namespace attnscope::key_stationary {

/// Implementation of the pass. Every implementation has a dq_acc of whole Q tiles; the order of elements inside a tile
/// is private to it. Parameters and tile programs differ only by whole_tiles.
struct Kernels {
  std::string_view file;            ///< main kernel
  std::string_view entry;           ///< main kernel; suffixes "_dot" and "_convert" give the entries of rows_file
  KernelResources needs;            ///< main kernel
  std::vector<OnChipPart> on_chip;  ///< main kernel
  std::string_view rows_file;       ///< source of dot and convert
  int row_threads = 0;
  int row_registers = 0;
  int chunk_columns = 16;          ///< keys per chunk of a step; chunks depend on each other
  std::int64_t operand_bytes = 0;  ///< read from shared memory per step
  KernelTiming timing{};           ///< main kernel
  KernelTiming dot_timing{};
  KernelTiming convert_timing{};
  int delta_request_rows = 8;  ///< rows of D per store request of a warp in dot
  /// The main kernel loads q and dout through tensor maps, in whole boxes of Br rows. dq_acc is cleared, accumulated
  /// and read in whole tiles. Both include the ragged end.
  bool whole_tiles = false;
};

/// Models of the launches "dot", "bwd" and "convert". Pre: the problem's pass is not fwd.
[[nodiscard]] std::vector<KernelModel> models(const AttentionProblem&, const Config&, const Kernels&);

/// Buffers that the pass needs besides those of its forward pass.
[[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem&, const TileShape&);
[[nodiscard]] std::vector<KernelLaunch> launches(const AttentionProblem&, const Config&, const Kernels&);

/// Returns Cause::shape if a launch needs more blocks than a grid can have.
[[nodiscard]] std::optional<Refusal> refuse_grids(std::string_view algorithm, const AttentionProblem&,
                                                  const TileShape&);

}  // namespace attnscope::key_stationary

// SPDX-License-Identifier: Apache-2.0
// Order of the blocks of a launch in closed form: per tile and head instead of per block.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/common_knobs.h"
#include "kernels/model/block_order.h"
#include "kernels/model/tile_grid.h"

namespace attnscope {

/// A launch in which each block owns one tile of one head.
struct HeadTileLaunch {
  std::int64_t heads = 1;  ///< over all batch entries
  Raster raster = Raster::q_fastest;
  bool last_tile_first = false;      ///< a head's last tile is processed first
  std::int64_t heads_per_group = 1;  ///< interleaved heads, see head_block()
  /// Tiles of a head in ascending order, per batch entry; a single list if all entries are equal.
  std::vector<std::vector<BlockRun>> tiles{};
};

/// Order of a launch whose `tiles` are these runs per batch entry, with one block per tile. `block_of` returns the cost
/// of each block of a run.
[[nodiscard]] BlockOrder make_block_order(HeadTileLaunch, std::span<const std::vector<TileRun>> by_entry,
                                          const std::function<BlockRun(const TileRun&)>& block_of);
/// Returns an empty order if all blocks have equal cost. Runs in time linear in the result and in `tiles`.
[[nodiscard]] BlockOrder make_block_order(const HeadTileLaunch&);

}  // namespace attnscope

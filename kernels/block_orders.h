// SPDX-License-Identifier: Apache-2.0
// The orders in which the algorithms' launches hand out their blocks, closed: by tile and head, not block by block.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/common_knobs.h"
#include "kernels/model/block_order.h"
#include "kernels/model/tile_grid.h"

namespace attnscope {

/// A launch, each of whose blocks owns one tile of one head.
struct HeadTiles {
  std::int64_t heads = 1;  ///< of all batch entries
  Raster raster = Raster::q_fastest;
  bool last_first = false;   ///< a head's last tile is its first block
  std::int64_t in_turn = 1;  ///< heads that go together: head_block()
  /// By batch entry, one where they are equal: a head's tiles, from its first on.
  std::vector<std::vector<BlockRun>> tiles{};
};

/// Of a launch whose `tiles` are these runs by batch entry, each run's blocks by `block_of`: its blocks are as many as
/// its tiles.
[[nodiscard]] BlockOrder order_of(HeadTiles, std::span<const std::vector<TileRun>> by_entry,
                                  const std::function<BlockRun(const TileRun&)>& block_of);
/// Empty where all its blocks are alike. Closed: as long as what is told of it, and a pass over `tiles`.
[[nodiscard]] BlockOrder order_of(const HeadTiles&);

}  // namespace attnscope

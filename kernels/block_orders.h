// SPDX-License-Identifier: Apache-2.0
// The orders in which the algorithms' launches hand out their blocks, closed: by tile and head, not block by block.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/common_knobs.h"
#include "kernels/model/block_order.h"

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

/// Empty where all its blocks are alike. Closed: as long as what is told of it, and a pass over `tiles`.
[[nodiscard]] BlockOrder order_of(const HeadTiles&);

}  // namespace attnscope

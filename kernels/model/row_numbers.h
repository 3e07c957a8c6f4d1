// SPDX-License-Identifier: Apache-2.0
// Numbers of query rows (l, m, LSE, D): fp32, one a row, one head's after the other's. Eight fill a sector, so that
// heads, and their tiles with them, begin anywhere in one; and each request of a warp moves whole sectors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/tile_grid.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// How a kernel asks for them.
struct RowNumbers {
  std::int64_t head_rows = 0;     ///< numbers of a head
  std::int64_t tile_rows = 0;     ///< requests begin at the first row of a tile: a multiple of 8, or a whole head
  std::int64_t request_rows = 0;  ///< of one request, but for the last of a tile: a multiple of 8

  /// Of tiles of `visits`, of each of the heads [first, first + heads): what all requests move.
  struct Visits {
    std::int64_t all = 0;   ///< tiles of one head, each as often as it is visited
    std::int64_t last = 0;  ///< of these, its last tile
  };
  [[nodiscard]] std::int64_t bytes(const Visits& visits, std::int64_t first, std::int64_t heads) const;
  /// Each tile of all heads once.
  [[nodiscard]] std::int64_t bytes_once(std::int64_t heads) const;
  /// Of each query head's Q tiles those that K tiles see, once for each of these; `rows` as BatchGrid::row_runs().
  [[nodiscard]] std::int64_t bytes_seen(const AttentionProblem&, std::span<const std::vector<TileRun>> rows) const;

  /// The access to rows [row, row + rows) of head `head`'s numbers.
  [[nodiscard]] TileAccess access(Tensor, Access, std::int64_t head, std::int64_t row, std::int64_t rows, Phase,
                                  std::uint8_t on_chip) const;

 private:
  /// Sectors of the requests for `rows` rows whose first one lies `place` numbers into its sector.
  [[nodiscard]] std::int64_t sectors(std::int64_t place, std::int64_t rows) const;
};

}  // namespace attnscope

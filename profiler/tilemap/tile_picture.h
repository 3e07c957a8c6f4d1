// SPDX-License-Identifier: Apache-2.0
// The Q x K grid of tiles of one head: what the mask leaves of each tile, and in which order the tile program comes by.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::analysis {

/// Of the pairs of query and key in a tile.
enum class TileSight : std::uint8_t {
  masked,   ///< none is visible
  partial,  ///< some are
  visible,  ///< all are
};

/// Cells of more tiles than this a side stand for several tiles each.
inline constexpr std::int64_t most_cells = 256;

struct TileCellSight {
  TileSight sight = TileSight::masked;
  bool visited = false;     ///< by the program; where the picture says nothing of its order, what is not masked
  std::int64_t order = -1;  ///< place of the cell's first visit among all visits of the head, from 0; -1: none known
};

struct TilePicture {
  std::int64_t q_tiles = 0;  ///< Tr = ceil(n_q / Br)
  std::int64_t k_tiles = 0;  ///< Tc = ceil(n_k / Bc), padding included
  std::int64_t group = 1;    ///< tiles along each side of a cell
  int rows = 0;
  int columns = 0;
  std::vector<TileCellSight> cells;  ///< row by row
  std::string kernel;                ///< whose program gave the order; empty: no order is known
  std::int64_t visits = 0;           ///< of tiles, in that order; a tile may be visited again
  bool too_long = false;             ///< the program has more steps than are walked for a picture
  /// Tiles of each TileSight; nothing where a cell is of several and asking each takes too long.
  std::optional<std::array<std::int64_t, 3>> tiles;

  [[nodiscard]] const TileCellSight& at(int row, int column) const {
    return cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
  }
  /// Cells of that kind.
  [[nodiscard]] std::int64_t cells_of(TileSight sight) const;
};

/// Of the first query head of a batch entry. Walks the program of one head, and looks at the first access of every
/// other block. Nothing when `cancelled` says so. Pre: the configuration runs there.
[[nodiscard]] std::optional<TilePicture> tile_picture(const Algorithm&, const AttentionProblem&, const Config&,
                                                      const DeviceLimits&, std::int64_t entry,
                                                      const std::function<bool()>& cancelled = {});

/// Whether the picture is made in few milliseconds.
[[nodiscard]] bool is_quick_picture(const AttentionProblem&, const TileShape&);

}  // namespace attnscope::analysis

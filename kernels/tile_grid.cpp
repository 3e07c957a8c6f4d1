// SPDX-License-Identifier: Apache-2.0
#include "kernels/tile_grid.h"

#include <algorithm>

#include "kernels/integer.h"

namespace attnscope {

TileGrid::TileGrid(const AttentionProblem& problem, const TileShape& tile)
    : causal_(problem.mask == Mask::causal),
      n_q_(problem.n_q),
      n_k_(problem.n_k),
      br_(tile.br),
      bc_(tile.bc),
      q_tiles_(ceil_div(problem.n_q, tile.br)),
      k_tiles_(ceil_div(problem.n_k, tile.bc)) {}

std::int64_t TileGrid::q_rows(std::int64_t i) const {
  return std::min(br_, n_q_ - i * br_);
}

std::int64_t TileGrid::k_rows(std::int64_t j) const {
  return std::min(bc_, n_k_ - j * bc_);
}

std::int64_t TileGrid::k_tiles_seen(std::int64_t i) const {
  if (!causal_ || i == q_tiles_ - 1) return k_tiles_;
  return ceil_div(std::max(causal_end(i), std::int64_t{0}), bc_);
}

std::int64_t TileGrid::first_q_tile(std::int64_t j) const {
  if (!causal_) return 0;
  const std::int64_t first_row = j * bc_ + n_q_ - n_k_;  // the first that sees key j Bc
  return std::max(first_row, std::int64_t{0}) / br_;
}

std::int64_t TileGrid::tiles_seen() const {
  if (!causal_) return q_tiles_ * k_tiles_;
  // Tiles before `first` see nothing; the last one sees everything and is added apart, since it may be ragged.
  const std::int64_t last = q_tiles_ - 1;
  const std::int64_t first = std::min(first_q_tile(0), last);
  return floor_sum(last - first, bc_, br_, causal_end(first) + bc_ - 1) + k_tiles_;
}

std::int64_t TileGrid::key_rows_seen() const {
  if (!causal_) return q_tiles_ * n_k_;
  // Q tiles that see the last K tile read all n_k rows; those before read whole tiles of Bc rows.
  const std::int64_t reads_all = first_q_tile(k_tiles_ - 1);
  const std::int64_t tiles_before = tiles_seen() - (q_tiles_ - reads_all) * k_tiles_;
  return tiles_before * bc_ + (q_tiles_ - reads_all) * n_k_;
}

std::int64_t TileGrid::query_rows_seen() const {
  const std::int64_t missing = q_tiles_ * br_ - n_q_;  // only the last Q tile is ragged, and it sees every K tile
  return tiles_seen() * br_ - missing * k_tiles_;
}

}  // namespace attnscope

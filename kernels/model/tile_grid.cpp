// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/tile_grid.h"

#include <algorithm>
#include <numeric>

#include "kernels/model/integer.h"

namespace attnscope {

namespace {

/// A grid has the one length that is its own: with the list in each, a batch's grids would take its square.
Mask without_lengths(const Mask& mask) {
  return {.left = mask.left,
          .right = mask.right,
          .lengths = Mask::Lengths::full,
          .length_list = {},
          .blocks = mask.blocks,
          .block_size = mask.block_size,
          .block_parameter = mask.block_parameter};
}

}  // namespace

TileGrid::TileGrid(const AttentionProblem& problem, const TileShape& tile, std::int64_t entry)
    : mask_(without_lengths(problem.mask)),
      n_q_(problem.n_q),
      length_(key_length(problem, entry)),
      far_(problem.n_q + problem.n_k + 1),
      br_(tile.br),
      bc_(tile.bc),
      q_tiles_(ceil_div(problem.n_q, tile.br)),
      k_tiles_(ceil_div(problem.n_k, tile.bc)) {}

std::int64_t TileGrid::q_rows(std::int64_t i) const {
  return std::min(br_, n_q_ - i * br_);
}

std::int64_t TileGrid::k_rows(std::int64_t j) const {
  return std::clamp<std::int64_t>(length_ - j * bc_, 0, bc_);
}

std::int64_t TileGrid::k_begin(std::int64_t i) const {
  const std::int64_t left = mask_.left == Mask::unlimited ? far_ : mask_.left;
  const std::int64_t first_key = i * br_ + length_ - n_q_ - left;  // of the tile's first row
  return std::min(std::max<std::int64_t>(first_key, 0) / bc_, k_end(i));
}

std::int64_t TileGrid::k_end(std::int64_t i) const {
  const std::int64_t right = mask_.right == Mask::unlimited ? far_ : mask_.right;
  const std::int64_t last_row = i * br_ + q_rows(i) - 1;
  return ceil_div(std::clamp<std::int64_t>(last_row + length_ - n_q_ + right + 1, 0, length_), bc_);
}

std::int64_t TileGrid::q_begin(std::int64_t j) const {
  const std::int64_t right = mask_.right == Mask::unlimited ? far_ : mask_.right;
  const std::int64_t first_row = j * bc_ - (length_ - n_q_ + right);  // the first that sees key j Bc
  return std::min(std::max<std::int64_t>(first_row, 0) / br_, q_end(j));
}

std::int64_t TileGrid::q_end(std::int64_t j) const {
  if (k_rows(j) == 0) return 0;
  const std::int64_t left = mask_.left == Mask::unlimited ? far_ : mask_.left;
  const std::int64_t last_key = j * bc_ + k_rows(j) - 1;
  const std::int64_t rows = last_key - (length_ - n_q_) + left + 1;  // those before it see the last key or one before
  return ceil_div(std::clamp<std::int64_t>(rows, 0, n_q_), br_);
}

bool TileGrid::visited(std::int64_t i, std::int64_t j) const {
  if (j < k_begin(i) || j >= k_end(i)) return false;
  return !mask_.sparse() || mask_.block_counts(i * br_ / mask_.block_size, j * bc_ / mask_.block_size);
}

std::vector<std::int64_t> TileGrid::k_tiles_of(std::int64_t i) const {
  std::vector<std::int64_t> tiles;
  for (std::int64_t j = k_begin(i); j < k_end(i); ++j) {
    if (visited(i, j)) tiles.push_back(j);
  }
  return tiles;
}

std::vector<std::int64_t> TileGrid::q_tiles_of(std::int64_t j) const {
  std::vector<std::int64_t> tiles;
  for (std::int64_t i = q_begin(j); i < q_end(j); ++i) {
    if (visited(i, j)) tiles.push_back(i);
  }
  return tiles;
}

std::int64_t TileGrid::k_tiles_seen(std::int64_t i) const {
  if (!mask_.sparse()) return k_end(i) - k_begin(i);
  std::int64_t seen = 0;
  for (std::int64_t j = k_begin(i); j < k_end(i); ++j) seen += visited(i, j) ? 1 : 0;
  return seen;
}

std::int64_t TileGrid::q_tiles_seen(std::int64_t j) const {
  if (!mask_.sparse()) return q_end(j) - q_begin(j);
  std::int64_t seen = 0;
  for (std::int64_t i = q_begin(j); i < q_end(j); ++i) seen += visited(i, j) ? 1 : 0;
  return seen;
}

std::int64_t TileGrid::query_rows_touched() const {
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < q_tiles_; ++i) rows += k_tiles_seen(i) > 0 ? q_rows(i) : 0;
  return rows;
}

std::int64_t TileGrid::key_rows_touched() const {
  std::int64_t rows = 0;
  for (std::int64_t j = 0; j < k_tiles_; ++j) rows += q_tiles_seen(j) > 0 ? k_rows(j) : 0;
  return rows;
}

std::int64_t TileGrid::tiles_seen() const {
  std::int64_t tiles = 0;
  for (std::int64_t i = 0; i < q_tiles_; ++i) tiles += k_tiles_seen(i);
  return tiles;
}

std::int64_t TileGrid::key_rows_seen() const {
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < q_tiles_; ++i) {
    const std::int64_t seen = k_tiles_seen(i);
    if (seen == 0) continue;
    // Only the last tile that holds keys is ragged.
    const std::int64_t last = (length_ - 1) / bc_;
    rows += seen * bc_ - (visited(i, last) ? bc_ - k_rows(last) : 0);
  }
  return rows;
}

std::int64_t TileGrid::query_rows_seen() const {
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < q_tiles_; ++i) rows += k_tiles_seen(i) * q_rows(i);
  return rows;
}

BatchGrid::BatchGrid(const AttentionProblem& problem, const TileShape& tile)
    : batch_(problem.batch), heads_q_(problem.heads_q), heads_kv_(problem.heads_kv) {
  const std::int64_t distinct = problem.mask.padded() ? problem.batch : 1;
  for (std::int64_t entry = 0; entry < distinct; ++entry) grids_.emplace_back(problem, tile, entry);
}

const TileGrid& BatchGrid::of(std::int64_t instance) const {
  return grids_.size() == 1 ? grids_.front() : grids_.at(static_cast<std::size_t>(instance / heads_q_));
}

const TileGrid& BatchGrid::of_kv(std::int64_t kv_instance) const {
  return grids_.size() == 1 ? grids_.front() : grids_.at(static_cast<std::size_t>(kv_instance / heads_kv_));
}

std::int64_t BatchGrid::sum(std::int64_t (TileGrid::*count)() const) const {
  const std::int64_t once =
      std::accumulate(grids_.begin(), grids_.end(), std::int64_t{0},
                      [&](std::int64_t all, const TileGrid& grid) { return all + (grid.*count)(); });
  return once * heads_q_ * (batch_ / std::ssize(grids_));
}

std::int64_t BatchGrid::sum_kv(std::int64_t (TileGrid::*count)() const) const {
  return sum(count) / heads_q_ * heads_kv_;
}

}  // namespace attnscope

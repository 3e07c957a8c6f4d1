// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/tile_grid.h"

#include <algorithm>

#include "kernels/model/integer.h"

namespace attnscope {

namespace {

/// A grid keeps only its own length: copies of the list would make a batch's grids quadratic in size.
Mask without_lengths(const Mask& mask) {
  return {.left = mask.left,
          .right = mask.right,
          .lengths = Mask::Lengths::full,
          .length_list = {},
          .blocks = mask.blocks,
          .block_size = mask.block_size,
          .block_parameter = mask.block_parameter};
}

/// Number of tiles among [first, last) in visible squares, `each` adjacent tiles per square. `counted(a, b)` returns
/// the number of visible squares among [a, b).
template <class Counted>
std::int64_t count_visible_tiles(std::int64_t each, std::int64_t first, std::int64_t last, const Counted& counted) {
  if (first >= last) return 0;
  const std::int64_t from = first / each;
  const std::int64_t to = (last - 1) / each + 1;
  // Usually the range is aligned to squares.
  const std::int64_t before = first - from * each;
  const std::int64_t behind = to * each - last;
  std::int64_t tiles = counted(from, to) * each;
  if (before > 0) tiles -= counted(from, from + 1) * before;
  if (behind > 0) tiles -= counted(to - 1, to) * behind;
  return tiles;
}

/// The n-th tile, from 0, at or after `first` in a visible square. `nth_square` returns the n-th visible square.
template <class NthSquare>
std::int64_t nth_visible_tile(std::int64_t each, std::int64_t first, std::int64_t n, bool first_counts,
                              const NthSquare& nth_square) {
  const std::int64_t from = first / each;
  // Counts from the start of the first square.
  if (first_counts) n += first - from * each;
  return nth_square(from, n / each) * each + n % each;
}

}  // namespace

std::int64_t visited_tiles(std::span<const TileRun> runs) {
  std::int64_t visited = 0;
  for (const TileRun& run : runs) visited += run.tiles * run.seen;
  return visited;
}

std::int64_t touched_tiles(std::span<const TileRun> runs) {
  std::int64_t touched = 0;
  for (const TileRun& run : runs) touched += run.seen > 0 ? run.tiles : 0;
  return touched;
}

std::int64_t mask_reads_by_square(std::span<const TileRun> runs) {
  std::int64_t squares = 0;
  for (const TileRun& run : runs) squares += run.tiles * run.mask_reads_by_square;
  return squares;
}

std::int64_t mask_reads_by_tile(std::span<const TileRun> runs) {
  std::int64_t squares = 0;
  for (const TileRun& run : runs) squares += run.tiles * run.mask_reads_by_tile;
  return squares;
}

double mean_mask_reads(std::span<const std::vector<TileRun>> by_entry, std::int64_t (*read)(std::span<const TileRun>)) {
  std::int64_t squares = 0;
  for (const std::vector<TileRun>& runs : by_entry) squares += read(runs);
  return static_cast<double>(squares) / static_cast<double>(by_entry.size());
}

TileGrid::TileGrid(const AttentionProblem& problem, const TileShape& tile, std::int64_t entry)
    : mask_(without_lengths(problem.mask)),
      n_q_(problem.n_q),
      length_(key_length(problem, entry)),
      unlimited_side_(problem.n_q + problem.n_k + 1),
      br_(tile.br),
      bc_(tile.bc),
      q_tiles_(ceil_div(problem.n_q, tile.br)),
      k_tiles_(ceil_div(problem.n_k, tile.bc)) {
  if (!mask_.has_block_mask()) return;
  pattern_ = BlockPattern::of(mask_, ceil_div(problem.n_q, mask_.block_size), ceil_div(problem.n_k, mask_.block_size));
}

std::int64_t TileGrid::q_rows(std::int64_t i) const {
  return std::min(br_, n_q_ - i * br_);
}

std::int64_t TileGrid::k_rows(std::int64_t j) const {
  return std::clamp<std::int64_t>(length_ - j * bc_, 0, bc_);
}

TileGrid::TileRange TileGrid::k_range(std::int64_t i) const {
  const std::int64_t last = k_end(i);
  if (mask_.left == Mask::unlimited) return {0, last};
  const std::int64_t first_key = i * br_ + length_ - n_q_ - mask_.left;  // first visible key of the tile's first row
  return {std::min(std::max<std::int64_t>(first_key, 0) / bc_, last), last};
}

std::int64_t TileGrid::k_begin(std::int64_t i) const {
  return k_range(i).first;
}

std::int64_t TileGrid::k_end(std::int64_t i) const {
  if (mask_.right == Mask::unlimited) return ceil_div(length_, bc_);
  const std::int64_t last_row = i * br_ + q_rows(i) - 1;
  return ceil_div(std::clamp<std::int64_t>(last_row + length_ - n_q_ + mask_.right + 1, 0, length_), bc_);
}

std::int64_t TileGrid::q_begin(std::int64_t j) const {
  const std::int64_t right = mask_.right == Mask::unlimited ? unlimited_side_ : mask_.right;
  const std::int64_t first_row = j * bc_ - (length_ - n_q_ + right);  // first row that sees key j Bc
  return std::min(std::max<std::int64_t>(first_row, 0) / br_, q_end(j));
}

std::int64_t TileGrid::q_end(std::int64_t j) const {
  const std::int64_t keys = k_rows(j);
  if (keys == 0) return 0;
  if (mask_.left == Mask::unlimited) return q_tiles_;
  const std::int64_t last_key = j * bc_ + keys - 1;
  const std::int64_t rows =
      last_key - (length_ - n_q_) + mask_.left + 1;  // rows before it see the last key or an earlier one
  return ceil_div(std::clamp<std::int64_t>(rows, 0, n_q_), br_);
}

bool TileGrid::visited(std::int64_t i, std::int64_t j) const {
  return visited(i, j, k_range(i));
}

bool TileGrid::visited(std::int64_t i, std::int64_t j, const TileRange& tiles) const {
  if (j < tiles.first || j >= tiles.last) return false;
  return !mask_.has_block_mask() || pattern_->counts(i * br_ / mask_.block_size, j * bc_ / mask_.block_size);
}

std::int64_t TileGrid::nth_k_tile(std::int64_t i, std::int64_t n) const {
  const std::int64_t first = k_begin(i);
  if (!mask_.has_block_mask()) return first + n;
  const std::int64_t row = i * br_ / mask_.block_size;
  return nth_visible_tile(
      mask_.block_size / bc_, first, n, pattern_->counts(row, first * bc_ / mask_.block_size),
      [&](std::int64_t from, std::int64_t square) { return pattern_->nth_in_row(row, from, square); });
}

std::int64_t TileGrid::nth_q_tile(std::int64_t j, std::int64_t n) const {
  const std::int64_t first = q_begin(j);
  if (!mask_.has_block_mask()) return first + n;
  const std::int64_t column = j * bc_ / mask_.block_size;
  return nth_visible_tile(
      mask_.block_size / br_, first, n, pattern_->counts(first * br_ / mask_.block_size, column),
      [&](std::int64_t from, std::int64_t square) { return pattern_->nth_in_column(column, from, square); });
}

std::int64_t TileGrid::visible_k_tiles(std::int64_t i) const {
  return visible_k_tiles(i, k_range(i));
}

std::int64_t TileGrid::visible_k_tiles(std::int64_t i, const TileRange& tiles) const {
  if (!mask_.has_block_mask()) return tiles.last - tiles.first;
  const std::int64_t row = i * br_ / mask_.block_size;
  return count_visible_tiles(
      mask_.block_size / bc_, tiles.first, tiles.last,
      [&](std::int64_t first, std::int64_t last) { return pattern_->count_in_row(row, first, last); });
}

std::int64_t TileGrid::visible_q_tiles(std::int64_t j) const {
  const std::int64_t first_tile = q_begin(j);
  const std::int64_t last_tile = q_end(j);
  if (!mask_.has_block_mask() || first_tile == last_tile) return last_tile - first_tile;
  const std::int64_t column = j * bc_ / mask_.block_size;
  return count_visible_tiles(mask_.block_size / br_, first_tile, last_tile, [&](std::int64_t first, std::int64_t last) {
    return pattern_->count_in_column(column, first, last);
  });
}

std::int64_t TileGrid::equal_row_count() const {
  if (mask_.left != Mask::unlimited || mask_.right != Mask::unlimited) return 1;
  return mask_.has_block_mask() ? mask_.block_size / br_ : q_tiles_;
}

std::int64_t TileGrid::equal_column_count() const {
  if (mask_.left != Mask::unlimited || mask_.right != Mask::unlimited) return 1;
  return mask_.has_block_mask() ? mask_.block_size / bc_ : k_tiles_;
}

TileRun TileGrid::row_run(std::int64_t i, std::int64_t tiles) const {
  const TileRange reach = k_range(i);
  TileRun run{.tiles = tiles, .seen = visible_k_tiles(i, reach)};
  if (!mask_.has_block_mask() || reach.first >= reach.last) return run;
  const std::int64_t first = reach.first * bc_ / mask_.block_size;
  const std::int64_t last = (reach.last - 1) * bc_ / mask_.block_size + 1;
  run.mask_reads_by_square = last - first - pattern_->count_in_row(i * br_ / mask_.block_size, first, last) + run.seen;
  run.mask_reads_by_tile = reach.last - reach.first;
  return run;
}

TileRun TileGrid::column_run(std::int64_t j, std::int64_t tiles) const {
  TileRun run{.tiles = tiles, .seen = visible_q_tiles(j)};
  if (!mask_.has_block_mask()) return run;
  const std::int64_t first_tile = q_begin(j);
  const std::int64_t last_tile = q_end(j);
  if (first_tile >= last_tile) return run;
  const std::int64_t first = first_tile * br_ / mask_.block_size;
  const std::int64_t last = (last_tile - 1) * br_ / mask_.block_size + 1;
  run.mask_reads_by_square =
      last - first - pattern_->count_in_column(j * bc_ / mask_.block_size, first, last) + run.seen;
  run.mask_reads_by_tile = last_tile - first_tile;
  return run;
}

std::vector<TileRun> TileGrid::row_runs() const {
  const std::int64_t alike = equal_row_count();
  std::vector<TileRun> runs;
  runs.reserve(static_cast<std::size_t>(ceil_div(q_tiles_, alike)));
  for (std::int64_t i = 0; i < q_tiles_; i += alike) {
    runs.push_back(row_run(i, std::min(alike, q_tiles_ - i)));
  }
  return runs;
}

std::vector<TileRun> TileGrid::column_runs() const {
  const std::int64_t alike = equal_column_count();
  const std::int64_t with_keys = ceil_div(length_, bc_);
  std::vector<TileRun> runs;
  runs.reserve(static_cast<std::size_t>(ceil_div(with_keys, alike) + 1));
  for (std::int64_t j = 0; j < with_keys; j += alike) {
    runs.push_back(column_run(j, std::min(alike, with_keys - j)));
  }
  if (with_keys < k_tiles_) runs.push_back({.tiles = k_tiles_ - with_keys, .seen = 0});
  return runs;
}

ColumnCounts TileGrid::columns(std::span<const TileRun> runs) const {
  ColumnCounts counts;
  std::int64_t j = 0;
  for (const TileRun& run : runs) {
    const std::int64_t end = j + run.tiles;
    if (run.seen > 0) {
      counts.k_tiles_touched += run.tiles;
      for (; j < end; ++j) counts.key_rows_touched += k_rows(j);
    }
    j = end;
  }
  return counts;
}

TileCounts TileGrid::counts(std::span<const TileRun> runs) const {
  TileCounts counts;
  if (length_ == 0) return counts;
  // Only the last tile with keys is ragged.
  const std::int64_t last = (length_ - 1) / bc_;
  const std::int64_t missing = bc_ - k_rows(last);
  std::int64_t i = 0;
  for (const TileRun& run : runs) {
    const std::int64_t end = i + run.tiles;
    if (run.seen > 0) {
      const std::int64_t rows = std::min(n_q_, end * br_) - i * br_;
      const bool sees_last = missing > 0 && visited(i, last);
      counts.tiles += run.tiles * run.seen;
      counts.q_tiles_touched += run.tiles;
      counts.query_rows_touched += rows;
      counts.query_rows_read += run.seen * rows;
      counts.key_rows_read += run.tiles * (run.seen * bc_ - (sees_last ? missing : 0));
    }
    i = end;
  }
  return counts;
}

BatchGrid::BatchGrid(const AttentionProblem& problem, const TileShape& tile)
    : batch_(problem.batch), heads_q_(problem.heads_q), heads_kv_(problem.heads_kv) {
  const std::int64_t distinct = problem.mask.padded() ? problem.batch : 1;
  for (std::int64_t entry = 0; entry < distinct; ++entry) grids_.emplace_back(problem, tile, entry);
}

const TileGrid& BatchGrid::of(std::int64_t instance) const {
  return grids_.size() == 1 ? grids_.front() : grids_.at(static_cast<std::size_t>(instance / heads_q_));
}

const TileGrid& BatchGrid::kv_grid(std::int64_t kv_instance) const {
  return grids_.size() == 1 ? grids_.front() : grids_.at(static_cast<std::size_t>(kv_instance / heads_kv_));
}

std::vector<std::vector<TileRun>> BatchGrid::row_runs() const {
  std::vector<std::vector<TileRun>> runs;
  runs.reserve(grids_.size());
  for (const TileGrid& grid : grids_) runs.push_back(grid.row_runs());
  return runs;
}

std::vector<std::vector<TileRun>> BatchGrid::column_runs() const {
  std::vector<std::vector<TileRun>> runs;
  runs.reserve(grids_.size());
  for (const TileGrid& grid : grids_) runs.push_back(grid.column_runs());
  return runs;
}

TileCounts BatchGrid::counts(std::span<const std::vector<TileRun>> rows) const {
  const std::int64_t times = heads_q_ * (batch_ / std::ssize(grids_));
  TileCounts sum;
  for (std::size_t entry = 0; entry < grids_.size(); ++entry) {
    const TileCounts one = grids_[entry].counts(rows[entry]);
    sum.tiles += times * one.tiles;
    sum.query_rows_touched += times * one.query_rows_touched;
    sum.key_rows_read += times * one.key_rows_read;
    sum.query_rows_read += times * one.query_rows_read;
    sum.q_tiles_touched += times * one.q_tiles_touched;
  }
  return sum;
}

ColumnCounts BatchGrid::kv_columns(std::span<const std::vector<TileRun>> columns) const {
  const std::int64_t times = heads_kv_ * (batch_ / std::ssize(grids_));
  ColumnCounts sum;
  for (std::size_t entry = 0; entry < grids_.size(); ++entry) {
    const ColumnCounts one = grids_[entry].columns(columns[entry]);
    sum.k_tiles_touched += times * one.k_tiles_touched;
    sum.key_rows_touched += times * one.key_rows_touched;
  }
  return sum;
}

namespace {

constexpr int number_bytes = 4;
constexpr std::int64_t values_per_sector = sector_bytes / number_bytes;

}  // namespace

std::int64_t RowValues::sectors(std::int64_t place, std::int64_t rows) const {
  // A request that begins inside a sector moves one extra sector.
  const std::int64_t whole = rows / request_rows;
  const std::int64_t rest = rows % request_rows;
  return whole * (request_rows / values_per_sector + (place > 0 ? 1 : 0)) +
         (rest > 0 ? ceil_div(place + rest, values_per_sector) : 0);
}

std::int64_t RowValues::bytes(const VisitCounts& visits, std::int64_t first, std::int64_t heads) const {
  const std::int64_t last_rows = head_rows - (ceil_div(head_rows, tile_rows) - 1) * tile_rows;
  std::int64_t all = 0;
  // Every eighth head begins at the same index in its sector.
  for (std::int64_t head = first; head < first + std::min(heads, values_per_sector); ++head) {
    const std::int64_t alike = ceil_div(first + heads - head, values_per_sector);
    const std::int64_t place = head % values_per_sector * (head_rows % values_per_sector) % values_per_sector;
    all += alike * ((visits.all - visits.last) * sectors(place, tile_rows) + visits.last * sectors(place, last_rows));
  }
  return all * sector_bytes;
}

std::int64_t RowValues::single_visit_bytes(std::int64_t heads) const {
  return bytes({.all = ceil_div(head_rows, tile_rows), .last = 1}, 0, heads);
}

std::int64_t RowValues::visible_tile_bytes(const AttentionProblem& p,
                                           std::span<const std::vector<TileRun>> rows) const {
  const auto heads = p.instances() / std::ssize(rows);
  std::int64_t all = 0;
  for (std::size_t entry = 0; entry < rows.size(); ++entry) {
    const std::vector<TileRun>& of_head = rows[entry];
    all += bytes({.all = visited_tiles(of_head), .last = of_head.back().seen}, static_cast<std::int64_t>(entry) * heads,
                 heads);
  }
  return all;
}

TileAccess RowValues::access(Tensor tensor, Access access, std::int64_t head, std::int64_t row,
                             std::int64_t rows) const {
  TileAccess numbers{tensor, access, head, row, rows, 0, 1, number_bytes};
  numbers.request_rows = static_cast<std::uint8_t>(request_rows);
  numbers.place = static_cast<std::int8_t>((head * head_rows + row) % values_per_sector);
  return numbers;
}

}  // namespace attnscope

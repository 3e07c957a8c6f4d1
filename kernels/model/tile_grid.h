// SPDX-License-Identifier: Apache-2.0
// Tr x Tc grid of tiles over the score matrix and its visible tiles; common to the FlashAttention kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/block_pattern.h"
#include "kernels/model/knobs.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

struct TileCounts {
  std::int64_t tiles = 0;               ///< visited
  std::int64_t query_rows_touched = 0;  ///< rows of Q tiles that see any key
  std::int64_t key_rows_read = 0;       ///< rows of K that Q tiles read in total
  std::int64_t query_rows_read = 0;     ///< rows of Q that K tiles read in total
  std::int64_t q_tiles_touched = 0;     ///< Q tiles that see any key

  bool operator==(const TileCounts&) const = default;
};

struct ColumnCounts {
  std::int64_t k_tiles_touched = 0;  ///< K tiles that any query sees
  std::int64_t key_rows_touched = 0;

  bool operator==(const ColumnCounts&) const = default;
};

/// Consecutive tiles of one side that each see the same number of tiles of the other side.
struct TileRun {
  std::int64_t tiles = 0;
  std::int64_t seen = 0;
  // Squares of the block mask that a kernel reads per tile; 0 without a block mask.
  std::int64_t mask_reads_by_square =
      0;  ///< kernel skips whole squares: one read per skipped square and per visited tile
  std::int64_t mask_reads_by_tile = 0;  ///< kernel tests each tile that window and lengths leave

  bool operator==(const TileRun&) const = default;
};

/// Number of visited tiles, summed over the runs of row_runs() or column_runs().
[[nodiscard]] std::int64_t visited_tiles(std::span<const TileRun>);
/// Number of tiles of one side that see at least one tile of the other side.
[[nodiscard]] std::int64_t touched_tiles(std::span<const TileRun>);
/// Number of block-mask squares read, summed over all tiles.
[[nodiscard]] std::int64_t mask_reads_by_square(std::span<const TileRun>);
[[nodiscard]] std::int64_t mask_reads_by_tile(std::span<const TileRun>);
/// Mean of mask_reads_by_square() or mask_reads_by_tile() over batch entries; times the number of heads, the total.
[[nodiscard]] double mean_mask_reads(std::span<const std::vector<TileRun>> by_entry,
                                     std::int64_t (*read)(std::span<const TileRun>));

/// Grid of one batch entry. A kernel visits K tiles [k_begin(i), k_end(i)) of Q tile i, or Q tiles [q_begin(j),
/// q_end(j)) of K tile j, and skips those that the block mask excludes (visited() is false).
class TileGrid {
 public:
  /// Pre: invalid_reason(problem) is empty; br, bc > 0 and, with a block mask, divisors of its block size.
  TileGrid(const AttentionProblem& problem, const TileShape& tile, std::int64_t entry = 0);

  [[nodiscard]] std::int64_t q_tiles() const { return q_tiles_; }  ///< Tr = ceil(n_q / Br)
  [[nodiscard]] std::int64_t k_tiles() const { return k_tiles_; }  ///< Tc = ceil(n_k / Bc), including padding
  [[nodiscard]] std::int64_t q_rows(std::int64_t i) const;         ///< rows of Q tile i inside the matrix
  [[nodiscard]] std::int64_t k_rows(std::int64_t j) const;         ///< rows of K tile j without padding

  /// K tiles with a key that some row of Q tile i sees through the window; empty if none.
  [[nodiscard]] std::int64_t k_begin(std::int64_t i) const;
  [[nodiscard]] std::int64_t k_end(std::int64_t i) const;
  /// Q tiles that see part of K tile j through the window.
  [[nodiscard]] std::int64_t q_begin(std::int64_t j) const;
  [[nodiscard]] std::int64_t q_end(std::int64_t j) const;
  /// Returns true if kernels compute tile (i, j).
  [[nodiscard]] bool visited(std::int64_t i, std::int64_t j) const;
  /// The n-th visited tile, from 0, of a row or a column of the grid. Pre: n is below the number of visited tiles.
  [[nodiscard]] std::int64_t nth_k_tile(std::int64_t i, std::int64_t n) const;
  [[nodiscard]] std::int64_t nth_q_tile(std::int64_t j, std::int64_t n) const;
  [[nodiscard]] std::int64_t visible_k_tiles(std::int64_t i) const;
  [[nodiscard]] std::int64_t visible_q_tiles(std::int64_t j) const;

  /// Visited K tiles of each Q tile; adjacent runs may be equal. O(Tr) or less.
  [[nodiscard]] std::vector<TileRun> row_runs() const;
  /// Visited Q tiles of each K tile. O(Tc) or less.
  [[nodiscard]] std::vector<TileRun> column_runs() const;

  /// Totals of row_runs(). O(Tr), also with a block mask, whose squares are counted by words.
  [[nodiscard]] TileCounts counts(std::span<const TileRun> rows) const;
  /// Totals of column_runs(). O(Tc).
  [[nodiscard]] ColumnCounts columns(std::span<const TileRun> columns) const;

 private:
  /// Range [first, last) of tiles of the other side.
  struct TileRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  [[nodiscard]] TileRange k_range(std::int64_t i) const;
  /// Number of adjacent Q tiles, counted from the first, that see the same K tiles; and of K tiles with keys that the
  /// same Q tiles see. Without a window: all, or those of one row or column of squares.
  [[nodiscard]] std::int64_t equal_row_count() const;
  [[nodiscard]] std::int64_t equal_column_count() const;
  /// Same, with k_range(i) passed by the caller.
  [[nodiscard]] bool visited(std::int64_t i, std::int64_t j, const TileRange&) const;
  [[nodiscard]] std::int64_t visible_k_tiles(std::int64_t i, const TileRange&) const;
  [[nodiscard]] TileRun row_run(std::int64_t i, std::int64_t tiles) const;
  [[nodiscard]] TileRun column_run(std::int64_t j, std::int64_t tiles) const;

  Mask mask_;
  std::shared_ptr<const BlockPattern> pattern_;
  std::int64_t n_q_;
  std::int64_t length_;          ///< keys without padding
  std::int64_t unlimited_side_;  ///< replaces an unlimited side of the window
  std::int64_t br_;
  std::int64_t bc_;
  std::int64_t q_tiles_;
  std::int64_t k_tiles_;
};

struct BatchRuns {
  std::vector<std::vector<TileRun>> rows;
  std::vector<std::vector<TileRun>> columns;
};

/// Grids of all batch entries; a single one if they are equal.
class BatchGrid {
 public:
  BatchGrid(const AttentionProblem& problem, const TileShape& tile);

  /// Grid of a query head's instance, batch entry x heads_q + head.
  [[nodiscard]] const TileGrid& of(std::int64_t instance) const;
  [[nodiscard]] const TileGrid& kv_grid(std::int64_t kv_instance) const;
  /// TileGrid::row_runs() and column_runs() per batch entry; a single list if entries are equal.
  [[nodiscard]] std::vector<std::vector<TileRun>> row_runs() const;
  [[nodiscard]] std::vector<std::vector<TileRun>> column_runs() const;
  /// Totals over all query heads' instances, from row_runs().
  [[nodiscard]] TileCounts counts(std::span<const std::vector<TileRun>> rows) const;
  /// Totals over all K/V heads' instances, from column_runs().
  [[nodiscard]] ColumnCounts kv_columns(std::span<const std::vector<TileRun>> columns) const;

 private:
  std::int64_t batch_;
  std::int64_t heads_q_;
  std::int64_t heads_kv_;
  std::vector<TileGrid> grids_;
};

/// One fp32 value per query row (l, m, LSE, D), head after head. Eight values fill a sector, so heads and tiles may
/// begin inside a sector; each request of a warp moves whole sectors.
struct RowValues {
  std::int64_t head_rows = 0;     ///< values per head
  std::int64_t tile_rows = 0;     ///< requests begin at the first row of a tile: a multiple of 8, or a whole head
  std::int64_t request_rows = 0;  ///< rows per request except the last of a tile: a multiple of 8

  /// Tile visits per head. bytes(): bytes of all requests of the heads [first, first + heads).
  struct VisitCounts {
    std::int64_t all = 0;   ///< visits of all tiles of a head
    std::int64_t last = 0;  ///< visits of its last tile
  };
  [[nodiscard]] std::int64_t bytes(const VisitCounts& visits, std::int64_t first, std::int64_t heads) const;
  /// Bytes if each tile of all heads is visited once.
  [[nodiscard]] std::int64_t single_visit_bytes(std::int64_t heads) const;
  /// Bytes if each Q tile is visited once per K tile that it sees; `rows` as from BatchGrid::row_runs().
  [[nodiscard]] std::int64_t visible_tile_bytes(const AttentionProblem&,
                                                std::span<const std::vector<TileRun>> rows) const;

  /// Access to rows [row, row + rows) of head `head`.
  [[nodiscard]] TileAccess access(Tensor, Access, std::int64_t head, std::int64_t row, std::int64_t rows) const;

 private:
  /// Sectors of the requests for `rows` rows, the first row at index `place` of its sector.
  [[nodiscard]] std::int64_t sectors(std::int64_t place, std::int64_t rows) const;
};

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// The Tr x Tc grid of tiles over the score matrix, and which of its tiles the mask leaves something of: what the
// FlashAttention kernels have in common.
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

/// What the tiles that kernels compute add up to.
struct TileCounts {
  std::int64_t tiles = 0;               ///< visited
  std::int64_t query_rows_touched = 0;  ///< rows of the Q tiles that see any key
  std::int64_t key_rows_seen = 0;       ///< rows of K that all Q tiles together read
  std::int64_t query_rows_seen = 0;     ///< rows of Q that all K tiles together read
  std::int64_t q_tiles_touched = 0;     ///< Q tiles that see any key

  bool operator==(const TileCounts&) const = default;
};

/// The same, along the other side.
struct ColumnCounts {
  std::int64_t k_tiles_touched = 0;   ///< that any query sees
  std::int64_t key_rows_touched = 0;  ///< their rows

  bool operator==(const ColumnCounts&) const = default;
};

/// Tiles along one side that follow one another and see as many of the other side each.
struct TileRun {
  std::int64_t tiles = 0;
  std::int64_t seen = 0;
  // Of each, under a block mask, 0 without one: squares that a kernel reads to find them.
  std::int64_t read_by_square = 0;  ///< it passes over whole squares: one for each of those, and for each tile it sees
  std::int64_t read_by_tile = 0;    ///< it goes from tile to tile: one for each that window and lengths leave

  bool operator==(const TileRun&) const = default;
};

/// Tiles of the grid that a head visits, from either side's runs.
[[nodiscard]] std::int64_t visited_tiles(std::span<const TileRun>);
/// Tiles of the side whose runs they are that see any of the other.
[[nodiscard]] std::int64_t touched_tiles(std::span<const TileRun>);
/// Squares that are read on all their ways.
[[nodiscard]] std::int64_t read_by_square(std::span<const TileRun>);
[[nodiscard]] std::int64_t read_by_tile(std::span<const TileRun>);
/// Either of them in the mean over batch entries: of all heads it is so many times as there are heads.
[[nodiscard]] double mean_read(std::span<const std::vector<TileRun>> by_entry,
                               std::int64_t (*read)(std::span<const TileRun>));

/// The grid of one batch entry. A kernel walks the K tiles [k_begin(i), k_end(i)) of Q tile i, or the Q tiles
/// [q_begin(j), q_end(j)) of K tile j, and leaves out those that the block mask leaves out whole (visited() is false).
class TileGrid {
 public:
  /// Pre: invalid_reason(problem) is empty; br, bc > 0 and, under a block mask, divisors of its block size.
  TileGrid(const AttentionProblem& problem, const TileShape& tile, std::int64_t entry = 0);

  [[nodiscard]] std::int64_t q_tiles() const { return q_tiles_; }  ///< Tr = ceil(n_q / Br)
  [[nodiscard]] std::int64_t k_tiles() const { return k_tiles_; }  ///< Tc = ceil(n_k / Bc), padding included
  [[nodiscard]] std::int64_t q_rows(std::int64_t i) const;         ///< rows of Q tile i inside the matrix
  [[nodiscard]] std::int64_t k_rows(std::int64_t j) const;         ///< rows of K tile j that are keys, no padding

  /// The K tiles that hold a key which the window lets some row of Q tile i see; empty when all its rows see none.
  [[nodiscard]] std::int64_t k_begin(std::int64_t i) const;
  [[nodiscard]] std::int64_t k_end(std::int64_t i) const;
  /// The Q tiles that, by the window, see something of K tile j.
  [[nodiscard]] std::int64_t q_begin(std::int64_t j) const;
  [[nodiscard]] std::int64_t q_end(std::int64_t j) const;
  /// Whether kernels compute tile (i, j).
  [[nodiscard]] bool visited(std::int64_t i, std::int64_t j) const;
  /// The n-th visited tile of a row or a column of the grid, from 0: an algorithm's program asks for one after the
  /// other and keeps no list. Pre: n is below their number.
  [[nodiscard]] std::int64_t nth_k_tile(std::int64_t i, std::int64_t n) const;
  [[nodiscard]] std::int64_t nth_q_tile(std::int64_t j, std::int64_t n) const;
  /// How many they are.
  [[nodiscard]] std::int64_t k_tiles_seen(std::int64_t i) const;
  [[nodiscard]] std::int64_t q_tiles_seen(std::int64_t j) const;

  /// How many K tiles the Q tiles see, from the first on; equal neighbours may be two runs. O(Tr), or less.
  [[nodiscard]] std::vector<TileRun> row_runs() const;
  /// How many Q tiles see the K tiles. O(Tc), or less.
  [[nodiscard]] std::vector<TileRun> column_runs() const;

  /// Of row_runs(). O(Tr), under a block mask too, whose squares are counted a word at a time.
  [[nodiscard]] TileCounts counts(std::span<const TileRun> rows) const;
  /// Of column_runs(). O(Tc).
  [[nodiscard]] ColumnCounts columns(std::span<const TileRun> columns) const;

 private:
  /// [first, last) of the tiles along the other side.
  struct Stretch {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  [[nodiscard]] Stretch k_stretch(std::int64_t i) const;
  /// Neighbouring Q tiles, counted from the first one on, that see the same K tiles; and K tiles that hold keys, seen
  /// by the same: without a window all, or those of one row or column of squares.
  [[nodiscard]] std::int64_t rows_alike() const;
  [[nodiscard]] std::int64_t columns_alike() const;
  /// With the stretch of Q tile i at hand.
  [[nodiscard]] bool visited(std::int64_t i, std::int64_t j, const Stretch&) const;
  [[nodiscard]] std::int64_t k_tiles_seen(std::int64_t i, const Stretch&) const;
  /// Of `tiles` tiles that are like this one.
  [[nodiscard]] TileRun row_run(std::int64_t i, std::int64_t tiles) const;
  [[nodiscard]] TileRun column_run(std::int64_t j, std::int64_t tiles) const;

  Mask mask_;                                    ///< window and blocks
  std::shared_ptr<const BlockPattern> pattern_;  ///< under a block mask
  std::int64_t n_q_;
  std::int64_t length_;  ///< keys that are no padding
  std::int64_t far_;     ///< an unlimited side of the window
  std::int64_t br_;
  std::int64_t bc_;
  std::int64_t q_tiles_;
  std::int64_t k_tiles_;
};

/// The runs of both sides, each by batch entry.
struct BatchRuns {
  std::vector<std::vector<TileRun>> rows;
  std::vector<std::vector<TileRun>> columns;
};

/// The grids of all batch entries: one where they are equal.
class BatchGrid {
 public:
  BatchGrid(const AttentionProblem& problem, const TileShape& tile);

  /// The grid of a query head's instance, batch entry x heads_q + head.
  [[nodiscard]] const TileGrid& of(std::int64_t instance) const;
  /// The grid of a K/V head's instance.
  [[nodiscard]] const TileGrid& of_kv(std::int64_t kv_instance) const;
  /// TileGrid::row_runs() and column_runs() by batch entry, one where they are equal.
  [[nodiscard]] std::vector<std::vector<TileRun>> row_runs() const;
  [[nodiscard]] std::vector<std::vector<TileRun>> column_runs() const;
  /// Sums over all query heads' instances, of row_runs().
  [[nodiscard]] TileCounts counts(std::span<const std::vector<TileRun>> rows) const;
  /// Sums over all K/V heads' instances, of column_runs().
  [[nodiscard]] ColumnCounts columns_kv(std::span<const std::vector<TileRun>> columns) const;

 private:
  std::int64_t batch_;
  std::int64_t heads_q_;
  std::int64_t heads_kv_;
  std::vector<TileGrid> grids_;
};

/// Numbers of query rows (l, m, LSE, D): fp32, one a row, one head's after the other's. Eight fill a sector, so that
/// heads, and their tiles with them, begin anywhere in one; and each request of a warp moves whole sectors.
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
  [[nodiscard]] TileAccess access(Tensor, Access, std::int64_t head, std::int64_t row, std::int64_t rows) const;

 private:
  /// Sectors of the requests for `rows` rows whose first one lies `place` numbers into its sector.
  [[nodiscard]] std::int64_t sectors(std::int64_t place, std::int64_t rows) const;
};

}  // namespace attnscope

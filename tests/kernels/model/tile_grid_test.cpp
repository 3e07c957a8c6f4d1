// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/tile_grid.h"
#include "kernels/common_knobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/integer.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

using test::mask_of;

TEST(Integer, CeilDivAndRoundUp) {
  EXPECT_EQ(ceil_div(0, 16), 0);
  EXPECT_EQ(ceil_div(1, 16), 1);
  EXPECT_EQ(ceil_div(16, 16), 1);
  EXPECT_EQ(ceil_div(17, 16), 2);
  EXPECT_EQ(round_up(17, 16), 32);
}

std::int64_t tiles_of(const TileGrid& grid) {
  return grid.counts(grid.row_runs()).tiles;
}

TEST(TileGrid, FullMaskSeesEverything) {
  const TileGrid grid({.n_q = 130, .n_k = 100}, {.br = 64, .bc = 32});
  EXPECT_EQ(grid.q_tiles(), 3);
  EXPECT_EQ(grid.k_tiles(), 4);
  EXPECT_EQ(grid.q_rows(2), 2);
  EXPECT_EQ(grid.k_rows(3), 4);
  EXPECT_EQ(grid.visible_k_tiles(0), 4);
  EXPECT_EQ(grid.q_begin(3), 0);
  EXPECT_EQ(tiles_of(grid), 12);
  EXPECT_EQ(grid.counts(grid.row_runs()).key_rows_read, 300);
  EXPECT_EQ(grid.counts(grid.row_runs()).query_rows_read, 520);
}

TEST(TileGrid, CausalByHand) {
  // 4 x 2 tiles of 64 x 128: rows 0..63 see keys 0..63, and so on.
  const TileGrid square({.mask = Mask::causal, .n_q = 256, .n_k = 256}, {.br = 64, .bc = 128});
  EXPECT_EQ(square.visible_k_tiles(0), 1);
  EXPECT_EQ(square.visible_k_tiles(1), 1);
  EXPECT_EQ(square.visible_k_tiles(2), 2);
  EXPECT_EQ(square.visible_k_tiles(3), 2);
  EXPECT_EQ(square.q_begin(1), 2);
  EXPECT_EQ(tiles_of(square), 6);
  EXPECT_EQ(square.counts(square.row_runs()).key_rows_read, 6 * 128);

  // 5 queries, 2 keys: queries 0..2 see no key.
  const TileGrid tall({.mask = Mask::causal, .n_q = 5, .n_k = 2}, {.br = 1, .bc = 1});
  EXPECT_EQ(tall.visible_k_tiles(2), 0);
  EXPECT_EQ(tall.visible_k_tiles(3), 1);
  EXPECT_EQ(tall.visible_k_tiles(4), 2);
  EXPECT_EQ(tall.q_begin(0), 3);
  EXPECT_EQ(tall.q_begin(1), 4);
}

std::vector<std::int64_t> each_of(const std::vector<TileRun>& runs) {
  std::vector<std::int64_t> seen;
  for (const TileRun& run : runs) seen.insert(seen.end(), static_cast<std::size_t>(run.tiles), run.seen);
  return seen;
}

/// Compares every count of a grid with the mask's definition, pair by pair.
void expect_counts(const AttentionProblem& p, const Tiling& tile, std::int64_t entry) {
  const TileGrid grid(p, tile, entry);
  const std::string label = to_string(p.mask) + " " + std::to_string(p.n_q) + "x" + std::to_string(p.n_k) + " tile " +
                            describe(tile) + " entry " + std::to_string(entry);
  const std::int64_t length = key_length(p, entry);
  std::int64_t tiles = 0;
  std::int64_t key_rows = 0;
  std::int64_t query_rows = 0;
  std::int64_t queries_touched = 0;
  std::vector<std::int64_t> row_sizes;
  std::vector<std::int64_t> column_sizes;
  std::vector<std::int64_t> rows_of(static_cast<std::size_t>(grid.q_tiles()));
  std::vector<std::vector<std::int64_t>> q_tiles_of(static_cast<std::size_t>(grid.k_tiles()));
  for (std::int64_t i = 0; i < grid.q_tiles(); ++i) {
    std::vector<std::int64_t> k_tiles;
    for (std::int64_t j = 0; j < grid.k_tiles(); ++j) {
      bool any = false;
      for (std::int64_t row = i * tile.br; row < i * tile.br + grid.q_rows(i); ++row) {
        const std::int64_t diagonal = row + length - p.n_q;
        for (std::int64_t key = j * tile.bc; key < std::min<std::int64_t>((j + 1) * tile.bc, length); ++key) {
          any |= (p.mask.left == Mask::unlimited || key >= diagonal - p.mask.left) &&
                 (p.mask.right == Mask::unlimited || key <= diagonal + p.mask.right);
        }
      }
      ASSERT_EQ(any, j >= grid.k_begin(i) && j < grid.k_end(i)) << label << " tile " << i << ", " << j;
      ASSERT_EQ(any, i >= grid.q_begin(j) && i < grid.q_end(j)) << label << " tile " << i << ", " << j;
      const bool counts = !p.mask.has_block_mask() ||
                          p.mask.block_counts(i * tile.br / p.mask.block_size, j * tile.bc / p.mask.block_size);
      ASSERT_EQ(grid.visited(i, j), any && counts) << label << " tile " << i << ", " << j;
      if (!any || !counts) continue;
      k_tiles.push_back(j);
      q_tiles_of[static_cast<std::size_t>(j)].push_back(i);
      ++tiles;
      key_rows += grid.k_rows(j);
      query_rows += grid.q_rows(i);
    }
    ASSERT_LE(grid.k_begin(i), grid.k_end(i)) << label;
    for (std::size_t n = 0; n < k_tiles.size(); ++n) {
      ASSERT_EQ(grid.nth_k_tile(i, static_cast<std::int64_t>(n)), k_tiles[n]) << label;
    }
    ASSERT_EQ(grid.visible_k_tiles(i), std::ssize(k_tiles)) << label;
    row_sizes.push_back(std::ssize(k_tiles));
    queries_touched += k_tiles.empty() ? 0 : grid.q_rows(i);
  }
  std::int64_t keys_touched = 0;
  std::int64_t tiles_touched = 0;
  std::int64_t keys = 0;
  for (std::int64_t j = 0; j < grid.k_tiles(); ++j) {
    const auto& seen = q_tiles_of[static_cast<std::size_t>(j)];
    ASSERT_LE(grid.q_begin(j), grid.q_end(j)) << label;
    for (std::size_t n = 0; n < seen.size(); ++n) {
      ASSERT_EQ(grid.nth_q_tile(j, static_cast<std::int64_t>(n)), seen[n]) << label;
    }
    ASSERT_EQ(grid.visible_q_tiles(j), std::ssize(seen)) << label;
    column_sizes.push_back(std::ssize(seen));
    keys_touched += seen.empty() ? 0 : grid.k_rows(j);
    tiles_touched += seen.empty() ? 0 : 1;
    keys += grid.k_rows(j);
  }
  ASSERT_EQ(keys, length) << label;
  ASSERT_EQ(tiles_of(grid), tiles) << label;
  ASSERT_EQ(grid.counts(grid.row_runs()).key_rows_read, key_rows) << label;
  ASSERT_EQ(grid.counts(grid.row_runs()).query_rows_read, query_rows) << label;
  ASSERT_EQ(grid.counts(grid.row_runs()).query_rows_touched, queries_touched) << label;
  ASSERT_EQ(grid.columns(grid.column_runs()).key_rows_touched, keys_touched) << label;
  ASSERT_EQ(grid.columns(grid.column_runs()).k_tiles_touched, tiles_touched) << label;
  ASSERT_EQ(each_of(grid.row_runs()), row_sizes) << label;
  ASSERT_EQ(each_of(grid.column_runs()), column_sizes) << label;
}

TEST(TileGrid, WindowsAndLengthsMatchTheMask) {
  for (const char* text :
       {"full", "causal", "window:0:0", "window:7:0", "window:3:5", "window:inf:4", "window:6:inf", "window:30:2",
        "lengths:ramp", "lengths:0/19/5", "causal+lengths:ramp", "window:2:3+lengths:0/19/5"}) {
    for (const std::int64_t n_q : {1, 4, 13, 19, 33}) {
      for (const std::int64_t n_k : {19, 24}) {
        for (const auto& [br, bc] : {std::pair{1, 1}, std::pair{4, 3}, std::pair{5, 8}, std::pair{16, 4},
                                     std::pair{8, 32}, std::pair{64, 16}}) {
          const AttentionProblem p{.mask = mask_of(text), .batch = 3, .n_q = n_q, .n_k = n_k};
          for (std::int64_t entry = 0; entry < 3; ++entry) expect_counts(p, {.br = br, .bc = bc}, entry);
        }
      }
    }
  }
}

/// Traversal of one side of the score matrix as in the kernels (kernels/device/visibility.cuh); counts reads of the
/// block mask up to each next tile and after the last one.
struct Walk {
  std::int64_t reads = 0;
  template <class Counts>
  void by_square(std::int64_t at, std::int64_t end, std::int64_t tile, std::int64_t square, const Counts& counts) {
    while (at < end) {
      ++reads;
      at = counts(at) ? at + tile : (at / square + 1) * square;
    }
  }
  void by_tile(std::int64_t at, std::int64_t end, std::int64_t tile) {
    for (; at < end; at += tile) ++reads;
  }
};

void expect_reads(const AttentionProblem& p, const Tiling& tile) {
  const TileGrid grid(p, tile, 0);
  const std::int64_t square = p.mask.block_size;
  Walk rows;
  Walk rows_by_tile;
  for (std::int64_t i = 0; i < grid.q_tiles(); ++i) {
    const std::int64_t begin = grid.k_begin(i) * tile.bc;
    const std::int64_t end = grid.k_end(i) * tile.bc;
    rows.by_square(begin, end, tile.bc, square,
                   [&](std::int64_t key) { return p.mask.block_counts(i * tile.br / square, key / square); });
    rows_by_tile.by_tile(begin, end, tile.bc);
  }
  Walk columns;
  Walk columns_by_tile;
  for (std::int64_t j = 0; j < grid.k_tiles(); ++j) {
    const std::int64_t begin = grid.q_begin(j) * tile.br;
    const std::int64_t end = grid.q_end(j) * tile.br;
    columns.by_square(begin, end, tile.br, square,
                      [&](std::int64_t row) { return p.mask.block_counts(row / square, j * tile.bc / square); });
    columns_by_tile.by_tile(begin, end, tile.br);
  }
  EXPECT_EQ(mask_reads_by_square(grid.row_runs()), rows.reads) << to_string(p.mask) << describe(tile);
  EXPECT_EQ(mask_reads_by_tile(grid.row_runs()), rows_by_tile.reads) << to_string(p.mask) << describe(tile);
  EXPECT_EQ(mask_reads_by_square(grid.column_runs()), columns.reads) << to_string(p.mask) << describe(tile);
  EXPECT_EQ(mask_reads_by_tile(grid.column_runs()), columns_by_tile.reads) << to_string(p.mask) << describe(tile);
}

TEST(TileGrid, MaskReadsMatchKernelTraversal) {
  for (const char* text : {"blocks:16:butterfly", "blocks:16:stride3", "blocks:32:random30",
                           "causal+blocks:16:butterfly", "window:20:9+blocks:32:stride3"}) {
    for (const std::int64_t n_q : {1, 47, 150}) {
      for (const auto& [br, bc] : {std::pair{16, 16}, std::pair{8, 16}, std::pair{4, 8}, std::pair{16, 2}}) {
        expect_reads({.mask = mask_of(text), .n_q = n_q, .n_k = 190}, {.br = br, .bc = bc});
      }
    }
  }
  const TileGrid whole({.n_q = 190, .n_k = 190}, {.br = 16, .bc = 16});
  EXPECT_EQ(mask_reads_by_square(whole.row_runs()) + mask_reads_by_tile(whole.column_runs()), 0)
      << "there is no block mask";
}

TEST(TileGrid, BlocksMatchTheMask) {
  for (const char* text : {"blocks:16:butterfly", "blocks:16:stride2", "blocks:32:random30",
                           "causal+blocks:16:butterfly", "window:20:9+blocks:32:stride3",
                           "lengths:61/0+blocks:16:random50", "causal+lengths:ramp+blocks:32:butterfly"}) {
    for (const std::int64_t n_q : {1, 47, 80, 150}) {
      for (const auto& [br, bc] : {std::pair{16, 16}, std::pair{8, 16}, std::pair{4, 8}, std::pair{16, 2}}) {
        const AttentionProblem p{.mask = mask_of(text), .batch = 2, .n_q = n_q, .n_k = 93};
        for (std::int64_t entry = 0; entry < 2; ++entry) expect_counts(p, {.br = br, .bc = bc}, entry);
      }
    }
  }
}

TEST(BatchGrid, SumsInstancesPerEntry) {
  for (const char* text :
       {"full", "causal", "lengths:ramp", "window:9:3+lengths:40/0/7", "causal+lengths:ramp+blocks:16:stride2"}) {
    const AttentionProblem p{.mask = mask_of(text), .batch = 3, .heads_q = 6, .heads_kv = 2, .n_q = 50, .n_k = 40};
    const Tiling tile{.br = 16, .bc = 8};
    const BatchGrid batch(p, tile);
    TileCounts sum;
    ColumnCounts columns;
    for (std::int64_t i = 0; i < p.instances(); ++i) {
      const TileGrid grid(p, tile, i / 6);
      sum.tiles += tiles_of(grid);
      sum.query_rows_touched += grid.counts(grid.row_runs()).query_rows_touched;
      sum.key_rows_read += grid.counts(grid.row_runs()).key_rows_read;
      sum.query_rows_read += grid.counts(grid.row_runs()).query_rows_read;
      sum.q_tiles_touched += grid.counts(grid.row_runs()).q_tiles_touched;
    }
    for (std::int64_t i = 0; i < p.kv_instances(); ++i) {
      const TileGrid grid(p, tile, i / 2);
      const ColumnCounts of_head = grid.columns(grid.column_runs());
      columns.k_tiles_touched += of_head.k_tiles_touched;
      columns.key_rows_touched += of_head.key_rows_touched;
    }
    EXPECT_EQ(batch.counts(batch.row_runs()), sum) << text;
    EXPECT_EQ(batch.kv_columns(batch.column_runs()), columns) << text;
    for (std::int64_t i = 0; i < p.instances(); ++i) {
      EXPECT_EQ(tiles_of(batch.of(i)), tiles_of(TileGrid(p, tile, i / 6))) << text << ' ' << i;
      EXPECT_EQ(batch.of(i).k_end(1), TileGrid(p, tile, i / 6).k_end(1)) << text << ' ' << i;
    }
    for (std::int64_t i = 0; i < p.kv_instances(); ++i) {
      EXPECT_EQ(tiles_of(batch.kv_grid(i)), tiles_of(TileGrid(p, tile, i / 2))) << text << ' ' << i;
    }
  }
}

// Heads of 5 values begin at indices 0, 5, 2, 7, 4 and 1 of their sectors: 1, 2, 1, 2, 2 and 1 sectors a visit.
TEST(RowValues, HeadsOfLaterEntriesBeginElsewhereInTheirSectors) {
  const AttentionProblem p{
      .mask = mask_of("lengths:32/16"), .batch = 2, .heads_q = 3, .heads_kv = 3, .n_q = 5, .n_k = 32};
  const std::vector<std::vector<TileRun>> rows = BatchGrid(p, TileShape{.br = 16, .bc = 16}).row_runs();
  const RowValues values{.head_rows = 5, .tile_rows = 16, .request_rows = 16};
  EXPECT_EQ(values.visible_tile_bytes(p, rows), (2 * 4 + 5) * 32) << "the first entry sees two tiles, the second one";
}

}  // namespace
}  // namespace attnscope

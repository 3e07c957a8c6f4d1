// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/tile_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "kernels/model/integer.h"
#include "kernels/registry.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

AttentionProblem problem_of(const char* mask, std::int64_t n_q = 512, std::int64_t n_k = 512) {
  AttentionProblem problem = fixtures::spec("fa2", 512, 64, 64, 64).problem;
  problem.heads_q = problem.heads_kv = 2;
  problem.n_q = n_q;
  problem.n_k = n_k;
  problem.mask = *parse_mask(mask);
  return problem;
}

TilePicture picture(const char* algorithm, const AttentionProblem& problem, const Config& config,
                    std::int64_t entry = 0) {
  return tile_picture(*built_in_algorithms().find(algorithm), problem, config, fixtures::h200(), entry).value();
}

/// Whether the mask lets query `row` see `key`, pair by pair.
bool sees(const AttentionProblem& p, std::int64_t entry, std::int64_t row, std::int64_t key) {
  const KeyRange keys = visible_keys(p, entry, row);
  if (key < keys.first || key >= keys.last) return false;
  return !p.mask.sparse() || p.mask.block_counts(row / p.mask.block_size, key / p.mask.block_size);
}

TileSight by_pairs(const AttentionProblem& p, std::int64_t entry, const KeyRange& rows, const KeyRange& keys) {
  std::int64_t visible = 0;
  for (std::int64_t row = rows.first; row < rows.last; ++row) {
    for (std::int64_t key = keys.first; key < keys.last; ++key) visible += sees(p, entry, row, key) ? 1 : 0;
  }
  const std::int64_t all = (rows.last - rows.first) * (keys.last - keys.first);
  return visible == 0 ? TileSight::masked : visible == all ? TileSight::visible : TileSight::partial;
}

TEST(TilePicture, SightIsWhatThePairsSay) {
  for (const char* mask : {"full", "causal", "window:100:20", "window:0:0", "lengths:ramp", "causal+lengths:333/50",
                           "blocks:64:butterfly", "causal+blocks:64:random30", "window:60:9+blocks:128:stride3"}) {
    for (const auto& [n_q, n_k] : {std::pair{512, 512}, std::pair{300, 401}, std::pair{401, 130}}) {
      AttentionProblem problem = problem_of(mask, n_q, n_k);
      problem.batch = 2;
      if (!invalid_reason(problem).empty()) continue;
      for (const std::int64_t entry : {0, 1}) {
        const TilePicture got = picture("fa2", problem, TileShape{.br = 64, .bc = 32}, entry);
        ASSERT_EQ(got.rows, ceil_div(n_q, 64));
        ASSERT_EQ(got.columns, ceil_div(n_k, 32));
        std::array<std::int64_t, 3> counts{};
        for (int i = 0; i < got.rows; ++i) {
          for (int j = 0; j < got.columns; ++j) {
            const KeyRange rows{i * 64, std::min<std::int64_t>((i + 1) * 64, n_q)};
            const KeyRange keys{j * 32, std::min<std::int64_t>((j + 1) * 32, n_k)};
            const TileSight expected = by_pairs(problem, entry, rows, keys);
            ++counts.at(static_cast<std::size_t>(expected));
            ASSERT_EQ(got.at(i, j).sight, expected)
                << mask << " " << n_q << "x" << n_k << " entry " << entry << " tile " << i << "," << j;
            EXPECT_EQ(got.at(i, j).visited, got.at(i, j).sight != TileSight::masked)
                << "FlashAttention leaves out what is masked, and nothing else";
          }
        }
        EXPECT_EQ(got.tiles, counts) << mask << " " << n_q << "x" << n_k << " entry " << entry;
      }
    }
  }
}

TEST(TilePicture, OrderIsTheLoopOrders) {
  // FA2 goes along the keys of one Q tile after the other; FA1 goes down the queries of one K tile after the other.
  const TilePicture fa2 = picture("fa2", problem_of("full"), TileShape{.br = 64, .bc = 64});
  const TilePicture fa1 = picture("fa1", problem_of("full"), TileShape{.br = 64, .bc = 64});
  EXPECT_EQ(fa2.kernel, "fwd");
  EXPECT_EQ(fa2.visits, 64);
  EXPECT_EQ(fa1.visits, 64);
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      EXPECT_EQ(fa2.at(i, j).order % 8, j);
      EXPECT_EQ(fa1.at(i, j).order, j * 8 + i);
    }
  }
  EXPECT_EQ(fa2.at(0, 0).order, 0);
  // The longest rows of a causal mask are handed out first.
  const TilePicture causal = picture("fa2", problem_of("causal"), TileShape{.br = 64, .bc = 64});
  EXPECT_EQ(causal.visits, 36);
  EXPECT_EQ(causal.at(7, 0).order, 0);
  EXPECT_EQ(causal.at(0, 0).order, 35);
  EXPECT_EQ(causal.at(0, 1).order, -1);
  EXPECT_EQ(causal.cells_of(TileSight::partial), 8);
  EXPECT_EQ(causal.cells_of(TileSight::visible), 28);
  EXPECT_EQ(causal.cells_of(TileSight::masked), 28);
}

TEST(TilePicture, EveryVisitedTileHasAPlaceOfItsOwn) {
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const Pass pass : {Pass::fwd, Pass::bwd}) {
      AttentionProblem problem = problem_of("causal", 320, 320);
      problem.pass = pass;
      problem.heads_q = 4;  // two share a K/V head
      if (algorithm->facts().decodes) problem = fixtures::decode_spec(algorithm->name(), 1024).problem;
      const Config config = algorithm->default_config(problem, fixtures::h200());
      if (algorithm->refusal(problem, config, fixtures::h200())) continue;
      SCOPED_TRACE(algorithm->name() + " " + describe(problem));
      const TilePicture got = picture(algorithm->name().c_str(), problem, config);
      EXPECT_FALSE(got.kernel.empty());
      // What does not weigh every pair by itself brings few of them together.
      const bool every_pair = algorithm->facts().flops == pass_flops;
      std::vector<std::int64_t> places;
      for (const TileCellSight& cell : got.cells) {
        EXPECT_TRUE(cell.visited || cell.sight == TileSight::masked || !every_pair);
        EXPECT_EQ(cell.visited, cell.order >= 0);
        if (cell.visited) places.push_back(cell.order);
      }
      std::ranges::sort(places);
      EXPECT_EQ(std::ranges::adjacent_find(places), places.end());
      EXPECT_EQ(places.front(), 0);
    }
  }
}

TEST(TilePicture, StandardAttentionComputesWhatTheMaskHides) {
  const TilePicture got = picture("naive", problem_of("causal"), TileShape{.br = 64, .bc = 64});
  EXPECT_EQ(got.kernel, "qk");
  EXPECT_EQ(got.visits, 64);
  EXPECT_EQ(got.at(0, 7).sight, TileSight::masked);
  EXPECT_TRUE(got.at(0, 7).visited);
}

TEST(TilePicture, LargeGridsAreAggregated) {
  AttentionProblem problem = problem_of("causal", 16'384, 16'384);
  problem.heads_q = problem.heads_kv = 1;
  const TilePicture got = picture("fa2", problem, TileShape{.br = 32, .bc = 16});
  EXPECT_EQ(got.q_tiles, 512);
  EXPECT_EQ(got.k_tiles, 1024);
  EXPECT_EQ(got.group, 4);
  EXPECT_EQ(got.rows, 128);
  EXPECT_EQ(got.columns, 256);
  // A cell is 128 queries by 64 keys: two on the diagonal in each row.
  for (int i = 0; i < got.rows; ++i) {
    for (int j = 0; j < got.columns; ++j) {
      const TileSight expected = j < 2 * i       ? TileSight::visible
                                 : j < 2 * i + 2 ? TileSight::partial
                                                 : TileSight::masked;
      ASSERT_EQ(got.at(i, j).sight, expected) << i << "," << j;
    }
  }
  // Tiles, not cells: row i of 512 sees 2 i of them whole and 2 in part.
  EXPECT_THAT(got.tiles.value(), ::testing::ElementsAre(261'632, 1024, 261'632));
}

TEST(TilePicture, TilesOfAPatternThatAreTooManyAreNotCounted) {
  AttentionProblem problem = problem_of("blocks:64:butterfly", 1 << 15, 1 << 15);
  problem.heads_q = problem.heads_kv = 1;
  EXPECT_FALSE(picture("fa2", problem, TileShape{.br = 16, .bc = 16}).tiles) << "2048 x 2048, each a look";
  const TilePicture fewer = picture("fa2", problem, TileShape{.br = 64, .bc = 64});
  EXPECT_EQ(fewer.group, 2);
  // Squares whose distance is 0 or a power of two: 512 and, to either side, 511, 510, 508, ... 256.
  EXPECT_THAT(fewer.tiles.value(), ::testing::ElementsAre(512 * 512 - 8706, 0, 8706));
}

TEST(TilePicture, ProgramsThatAreTooLongHaveNoOrder) {
  AttentionProblem problem = problem_of("full", 1 << 17, 1 << 17);
  problem.heads_q = problem.heads_kv = 1;
  const TilePicture got = picture("fa2", problem, TileShape{.br = 16, .bc = 16});
  EXPECT_TRUE(got.too_long);
  EXPECT_TRUE(got.kernel.empty());
  EXPECT_EQ(got.cells_of(TileSight::visible), 256 * 256);
  EXPECT_THAT(got.tiles.value(), ::testing::ElementsAre(0, 0, 8192 * 8192));
  EXPECT_TRUE(std::ranges::all_of(got.cells, [](const TileCellSight& c) { return c.visited && c.order == -1; }));
}

TEST(TilePicture, CanBeCancelled) {
  const Algorithm& fa2 = *built_in_algorithms().find("fa2");
  int asked = 0;
  EXPECT_FALSE(tile_picture(fa2, problem_of("full"), TileShape{.br = 64, .bc = 64}, fixtures::h200(), 0,
                            [&] { return ++asked > 1; }));
}

TEST(TilePicture, BlockMasksAndLargeGridsAreNotQuick) {
  EXPECT_TRUE(is_quick_picture(problem_of("causal"), {64, 64}));
  EXPECT_FALSE(is_quick_picture(problem_of("blocks:64:butterfly"), {64, 64}));
  EXPECT_FALSE(is_quick_picture(problem_of("full", 1 << 16, 1 << 16), {16, 16}));
}

}  // namespace
}  // namespace attnscope::analysis

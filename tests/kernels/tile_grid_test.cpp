// SPDX-License-Identifier: Apache-2.0
#include "kernels/tile_grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "kernels/integer.h"

namespace attnscope {
namespace {

TEST(Integer, CeilDivAndRoundUp) {
  EXPECT_EQ(ceil_div(0, 16), 0);
  EXPECT_EQ(ceil_div(1, 16), 1);
  EXPECT_EQ(ceil_div(16, 16), 1);
  EXPECT_EQ(ceil_div(17, 16), 2);
  EXPECT_EQ(round_up(17, 16), 32);
}

TEST(Integer, FloorSumMatchesAdding) {
  for (std::int64_t m : {1, 2, 7, 16, 48}) {
    for (std::int64_t a : {0, 1, 5, 16, 31, 100}) {
      for (std::int64_t b : {0, 1, 15, 47, 200}) {
        std::int64_t sum = 0;
        for (std::int64_t n = 0; n < 40; ++n) {
          EXPECT_EQ(floor_sum(n, m, a, b), sum) << n << " " << m << " " << a << " " << b;
          sum += (a * n + b) / m;
        }
      }
    }
  }
}

TEST(TileGrid, FullMaskSeesEverything) {
  const TileGrid grid({.n_q = 130, .n_k = 100}, {.br = 64, .bc = 32});
  EXPECT_EQ(grid.q_tiles(), 3);
  EXPECT_EQ(grid.k_tiles(), 4);
  EXPECT_EQ(grid.q_rows(2), 2);
  EXPECT_EQ(grid.k_rows(3), 4);
  EXPECT_EQ(grid.k_tiles_seen(0), 4);
  EXPECT_EQ(grid.q_begin(3), 0);
  EXPECT_EQ(grid.tiles_seen(), 12);
  EXPECT_EQ(grid.key_rows_seen(), 300);
  EXPECT_EQ(grid.query_rows_seen(), 520);
}

TEST(TileGrid, CausalByHand) {
  // 4 x 2 tiles of 64 x 128: rows 0..63 see keys 0..63, and so on.
  const TileGrid square({.mask = Mask::causal, .n_q = 256, .n_k = 256}, {.br = 64, .bc = 128});
  EXPECT_EQ(square.k_tiles_seen(0), 1);
  EXPECT_EQ(square.k_tiles_seen(1), 1);
  EXPECT_EQ(square.k_tiles_seen(2), 2);
  EXPECT_EQ(square.k_tiles_seen(3), 2);
  EXPECT_EQ(square.q_begin(1), 2);
  EXPECT_EQ(square.tiles_seen(), 6);
  EXPECT_EQ(square.key_rows_seen(), 6 * 128);

  // 5 queries, 2 keys: queries 0..2 see none.
  const TileGrid tall({.mask = Mask::causal, .n_q = 5, .n_k = 2}, {.br = 1, .bc = 1});
  EXPECT_EQ(tall.k_tiles_seen(2), 0);
  EXPECT_EQ(tall.k_tiles_seen(3), 1);
  EXPECT_EQ(tall.k_tiles_seen(4), 2);
  EXPECT_EQ(tall.q_begin(0), 3);
  EXPECT_EQ(tall.q_begin(1), 4);
}

/// Counts by the mask itself, pair by pair.
TEST(TileGrid, CausalMatchesTheMask) {
  for (std::int64_t n_q = 1; n_q < 26; ++n_q) {
    for (std::int64_t n_k = 1; n_k < 26; ++n_k) {
      for (int br : {1, 3, 4, 16}) {
        for (int bc : {1, 4, 5, 32}) {
          const TileGrid grid({.mask = Mask::causal, .n_q = n_q, .n_k = n_k}, {.br = br, .bc = bc});
          std::int64_t tiles = 0;
          std::int64_t key_rows = 0;
          std::int64_t query_rows = 0;
          for (std::int64_t i = 0; i < grid.q_tiles(); ++i) {
            std::int64_t seen = 0;
            for (std::int64_t j = 0; j < grid.k_tiles(); ++j) {
              bool any = false;
              for (std::int64_t row = i * br; row < i * br + grid.q_rows(i); ++row) {
                for (std::int64_t key = j * bc; key < j * bc + grid.k_rows(j); ++key) any |= key <= row + n_k - n_q;
              }
              EXPECT_EQ(any, i >= grid.q_begin(j));
              if (!any) continue;
              ++seen;
              key_rows += grid.k_rows(j);
              query_rows += grid.q_rows(i);
            }
            ASSERT_EQ(grid.k_tiles_seen(i), seen) << n_q << "x" << n_k << " tile " << br << "x" << bc << " i " << i;
            tiles += seen;
          }
          ASSERT_EQ(grid.tiles_seen(), tiles) << n_q << "x" << n_k << " tile " << br << "x" << bc;
          ASSERT_EQ(grid.key_rows_seen(), key_rows) << n_q << "x" << n_k << " tile " << br << "x" << bc;
          ASSERT_EQ(grid.query_rows_seen(), query_rows) << n_q << "x" << n_k << " tile " << br << "x" << bc;
        }
      }
    }
  }
}

}  // namespace
}  // namespace attnscope

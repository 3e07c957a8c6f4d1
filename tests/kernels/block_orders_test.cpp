// SPDX-License-Identifier: Apache-2.0
// Small block orders computed by hand. model_test.cpp compares the orders of all launches with their tile programs.
#include "kernels/block_orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/registry.h"

namespace attnscope {
namespace {

std::vector<BlockRun> rising(std::int64_t blocks = 1) {
  return {{.blocks = blocks, .steps = 1}, {.blocks = blocks, .steps = 2}, {.blocks = blocks, .steps = 3}};
}
std::vector<BlockRun> falling(std::int64_t blocks) {
  return {{.blocks = blocks, .steps = 3}, {.blocks = blocks, .steps = 2}, {.blocks = blocks, .steps = 1}};
}

TEST(BlockOrders, HeadByHead) {
  EXPECT_EQ(make_block_order({.heads = 4, .tiles = {rising()}}), (BlockOrder{{.times = 4, .runs = rising()}}));
  EXPECT_EQ(make_block_order({.heads = 4, .last_tile_first = true, .tiles = {rising()}}),
            (BlockOrder{{.times = 4, .runs = falling(1)}}));
}

TEST(BlockOrders, IncompleteGroupOfHeadsComesFirst) {
  EXPECT_EQ(make_block_order({.heads = 5, .last_tile_first = true, .heads_per_group = 2, .tiles = {rising()}}),
            (BlockOrder{{.times = 1, .runs = falling(1)}, {.times = 2, .runs = falling(2)}}));
  EXPECT_EQ(make_block_order({.heads = 5, .heads_per_group = 2, .tiles = {rising()}}),
            (BlockOrder{{.times = 1, .runs = rising()}, {.times = 2, .runs = rising(2)}}));
  EXPECT_EQ(make_block_order({.heads = 5, .last_tile_first = true, .heads_per_group = 9, .tiles = {rising()}}),
            (BlockOrder{{.times = 1, .runs = falling(5)}}));
}

TEST(BlockOrders, TileByTile) {
  EXPECT_EQ(
      make_block_order({.heads = 5, .raster = Raster::heads_fastest, .last_tile_first = true, .tiles = {rising()}}),
      (BlockOrder{{.times = 1, .runs = falling(5)}}));
}

TEST(BlockOrders, EntriesOfDifferentLengths) {
  // Two entries of two heads each, three interleaved: a single head first, then its neighbor with both heads of the
  // second entry.
  const std::vector<BlockRun> shorter{{.blocks = 2, .steps = 1}, {.blocks = 1, .steps = 2}};
  const BlockOrder order =
      make_block_order({.heads = 4, .last_tile_first = true, .heads_per_group = 3, .tiles = {rising(), shorter}});
  ASSERT_EQ(order.size(), 2U);
  EXPECT_EQ(order[0].runs, falling(1));
  const std::vector<BlockRun> both{{.blocks = 1, .steps = 3}, {.blocks = 3, .steps = 2}, {.blocks = 5, .steps = 1}};
  EXPECT_EQ(order[1].runs, both);
}

/// Earlier blocks are merged into one run with their mean; no block is lost.
TEST(BlockOrders, EarlierBlocksAreMerged) {
  const HeadTileLaunch launch{.heads = 3000, .last_tile_first = true, .heads_per_group = 2, .tiles = {rising()}};
  const BlockOrder order = make_block_order(launch);
  ASSERT_EQ(order.size(), 2U);
  ASSERT_EQ(order[0].runs.size(), 1U);
  const BlockRun& before = order[0].runs[0];
  EXPECT_EQ(before.steps, 2);
  EXPECT_EQ(order[1].runs, falling(2));
  EXPECT_EQ(order[1].times, (min_listed_blocks + 5) / 6);
  EXPECT_EQ(before.blocks + order[1].times * 6, 9000);

  // All heads interleaved: the first tiles are merged.
  const BlockOrder by_tile =
      make_block_order({.heads = 1500, .raster = Raster::heads_fastest, .last_tile_first = true, .tiles = {rising()}});
  ASSERT_EQ(by_tile.size(), 2U);
  EXPECT_EQ(by_tile[0].runs, (std::vector<BlockRun>{{.blocks = 1500, .steps = 3}}));
  EXPECT_EQ(by_tile[1].runs, (std::vector<BlockRun>{{.blocks = 1500, .steps = 2}, {.blocks = 1500, .steps = 1}}));
}

TEST(BlockOrders, DifferentMaskReadsAreNotEqual) {
  const std::vector<BlockRun> tiles{{.blocks = 2, .steps = 1, .mask_reads = 5},
                                    {.blocks = 1, .steps = 1, .mask_reads = 6}};
  EXPECT_EQ(make_block_order({.heads = 1, .tiles = {tiles}}), (BlockOrder{{.times = 1, .runs = tiles}}));
}

TEST(BlockOrders, EmptyIfAllBlocksAreEqual) {
  EXPECT_TRUE(make_block_order({.heads = 7, .last_tile_first = true, .tiles = {{{.blocks = 9, .steps = 4}}}}).empty());
}

/// Registers determine the blocks per SM; values from the compiler for an H200, by tile.
TEST(RegisterEstimates, MatchCompiledOccupancy) {
  struct Compiled {
    std::string_view algorithm;
    Pass pass;
    std::int64_t d;
    TileShape tile;
    int registers;
  };
  using enum Pass;
  for (const auto& [name, pass, d, tile, registers] :
       {Compiled{"fa2", fwd, 64, {.br = 112, .bc = 64}, 142}, Compiled{"fa2", fwd, 64, {.br = 112, .bc = 256}, 133},
        Compiled{"fa2", fwd, 64, {.br = 160, .bc = 32}, 173}, Compiled{"fa2", fwd, 64, {.br = 192, .bc = 48}, 201},
        Compiled{"fa2", fwd, 64, {.br = 80, .bc = 64}, 146}, Compiled{"fa2", fwd, 64, {.br = 128, .bc = 64}, 226},
        Compiled{"fa2", fwd, 64, {.br = 96, .bc = 32}, 183}, Compiled{"fa2", fwd, 128, {.br = 128, .bc = 64}, 255},
        Compiled{"fa2", bwd, 64, {.br = 64, .bc = 64}, 148}, Compiled{"fa2", bwd, 64, {.br = 32, .bc = 64}, 144},
        Compiled{"fa2", bwd, 64, {.br = 128, .bc = 32}, 144}, Compiled{"fa2", bwd, 64, {.br = 64, .bc = 32}, 113},
        Compiled{"fa2", bwd, 128, {.br = 64, .bc = 128}, 253}}) {
    const DeviceLimits& h200 = *find_gpu("H200");
    const AttentionProblem p{.pass = pass,
                             .mask = pass == fwd ? Mask(Mask::causal) : Mask(Mask::none),
                             .heads_q = 16,
                             .heads_kv = 16,
                             .n_q = 4096,
                             .n_k = 4096,
                             .d = d};
    const AttentionModel model = built_in_algorithms().find(name)->model(p, tile, h200);
    const auto kernel = std::ranges::find(model.kernels, pass == fwd ? "fwd" : "bwd", &KernelModel::name);
    ASSERT_NE(kernel, model.kernels.end());
    LaunchFootprint compiled = kernel->footprint();
    compiled.registers_per_thread = registers;
    EXPECT_EQ(theoretical_occupancy(h200, kernel->footprint()).blocks_per_sm,
              theoretical_occupancy(h200, compiled).blocks_per_sm)
        << name << " d " << d << " tile " << tile.br << "x" << tile.bc << ": " << kernel->registers_per_thread;
  }
}

}  // namespace
}  // namespace attnscope

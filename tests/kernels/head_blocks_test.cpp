// SPDX-License-Identifier: Apache-2.0
// Order in which a launch schedules its row tiles: each exactly once, and SMs stay busy until its end.
#include "kernels/device/head_blocks_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/registry.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {
namespace {

TEST(HeadBlocks, VisitsEachTileOnce) {
  for (const int tiles : {1, 2, 7, 24, 128}) {
    for (const int instances : {1, 3, 16, 43, 192}) {
      for (const int heads_per_group : {1, 4, 10, 43, 500}) {
        for (const bool last_tile_first : {false, true}) {
          std::set<std::pair<int, int>> seen;
          for (int block = 0; block < tiles * instances; ++block) {
            const HeadBlock<int> at = head_block(block, tiles, instances, heads_per_group, last_tile_first);
            ASSERT_TRUE(at.tile >= 0 && at.tile < tiles && at.instance >= 0 && at.instance < instances);
            seen.emplace(at.tile, at.instance);
          }
          EXPECT_EQ(seen.size(), static_cast<std::size_t>(tiles * instances))
              << tiles << " tiles, " << instances << " heads, " << heads_per_group << " in turn";
        }
      }
    }
  }
}

TEST(HeadBlocks, LongestTileOfEachHeadFirst) {
  for (const bool last_tile_first : {false, true}) {
    for (int block = 0; block < 12; ++block) {
      const HeadBlock<int> at = head_block(block, 4, 3, 1, last_tile_first);
      EXPECT_EQ(at.tile, head_block(block, 4, last_tile_first).tile);
      EXPECT_EQ(at.instance, head_block(block, 4, last_tile_first).instance);
    }
  }
  EXPECT_EQ(head_block(5, 4, 3, 1, false).tile, 1);
  EXPECT_EQ(head_block(5, 4, 3, 1, false).instance, 1);
  // Three heads, two interleaved: the single head first, then the others tile by tile.
  std::vector<std::pair<int, int>> order;
  for (int block = 0; block < 6; ++block) {
    const HeadBlock<int> at = head_block(block, 2, 3, 2, true);
    order.emplace_back(at.tile, at.instance);
  }
  const std::vector<std::pair<int, int>> expected{{1, 0}, {0, 0}, {1, 1}, {1, 2}, {0, 1}, {0, 2}};
  EXPECT_EQ(order, expected);
}

TEST(HeadBlocks, InterleavesHeads) {
  EXPECT_EQ(interleaved_heads<std::int64_t>(16'384), 2);
  EXPECT_EQ(interleaved_heads<std::int64_t>(131'072), 1);
  EXPECT_EQ(interleaved_heads(5003), 6);
  EXPECT_EQ(interleaved_heads(512), 32) << "many short heads would fetch all their keys at once";
}

/// Utilization of `places` slots until the last block ends, with greedy scheduling. A block's duration is its number of
/// steps.
double slot_utilization(const TileProgram& program, std::size_t places) {
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> free_at;
  for (std::size_t i = 0; i < places; ++i) free_at.push(0);
  std::int64_t work = 0;
  std::int64_t end = 0;
  for (std::int64_t block = 0; block < program.blocks(); ++block) {
    const std::int64_t steps = program.steps(block);
    const std::int64_t done = free_at.top() + steps;
    free_at.pop();
    free_at.push(done);
    work += steps;
    end = std::max(end, done);
  }
  return static_cast<double>(work) / static_cast<double>(end * static_cast<std::int64_t>(places));
}

TEST(HeadBlocks, CausalLaunchKeepsSmsBusy) {
  const DeviceLimits& gpu = *find_gpu("h200");
  for (const std::int64_t d : {64, 128}) {
    for (const std::int64_t n : {1024, 2048, 8192, 16'384}) {
      const std::int64_t heads = 2048 / d;
      AttentionProblem problem{
          .mask = Mask::causal, .batch = 16'384 / n, .heads_q = heads, .heads_kv = heads, .n_q = n, .n_k = n, .d = d};
      for (const auto& [name, pass, tile, a_multiprocessor] :
           {std::tuple("fa2", Pass::fwd, TileShape{.br = 128, .bc = 64}, 2),
            std::tuple("fa3", Pass::fwd, TileShape{.br = 128, .bc = 128}, 1),
            std::tuple("fa2", Pass::bwd, TileShape{.br = 64, .bc = 128}, 1),
            std::tuple("fa3", Pass::bwd, TileShape{.br = 64, .bc = 128}, 1)}) {
        problem.pass = pass;
        const AttentionPlan plan = built_in_algorithms().find(name)->plan(problem, tile, gpu);
        const auto main = std::ranges::find(plan.launches, pass == Pass::fwd ? "fwd" : "bwd",
                                            [](const KernelLaunch& launch) { return launch.name; });
        ASSERT_NE(main, plan.launches.end());
        EXPECT_GT(slot_utilization(*main->program, static_cast<std::size_t>(a_multiprocessor * gpu.sm_count)), 0.96)
            << name << ' ' << describe(problem);
      }
    }
  }
}

}  // namespace
}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// Launches of a few blocks whose places were found by hand, and longer ones dealt out by a program without shortcuts.
#include "kernels/model/block_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace attnscope {
namespace {

/// A block takes its steps, by itself or not.
double its_steps(const BlockRun& block, double /*at_once*/) {
  return block.steps;
}

/// Two at once take three halves of the time.
double shared(const BlockRun& block, double at_once) {
  return block.steps * (1 + at_once) / 2;
}

BlockOrder one_by_one(const std::vector<double>& steps) {
  BlockTurn turn;
  for (const double each : steps) append(turn.runs, {.blocks = 1, .steps = each});
  return {turn};
}

TEST(BlockOrder, RunsOfBlocksThatAreAlike) {
  const BlockOrder order = one_by_one({3, 3, 2, 3});
  const std::vector<BlockRun> expected{{.blocks = 2, .steps = 3}, {.blocks = 1, .steps = 2}, {.blocks = 1, .steps = 3}};
  EXPECT_EQ(order.front().runs, expected);
}

TEST(DealtCycles, EachBlockGoesToThePlaceThatIsFreeFirst) {
  // 5, 3 and 2 begin. At 2 the third SM takes 4 (to 6), at 3 the second takes 1 (to 4) and then 6 (to 10).
  const DealtCycles dealt = dealt_cycles(one_by_one({5, 3, 2, 4, 1, 6}), 3, 1, its_steps);
  EXPECT_EQ(dealt.all, 10);
  EXPECT_EQ(dealt.evenly, 7);
}

TEST(DealtCycles, TheLongestFirstEndTogether) {
  // 6, 5, 4 begin; 3, 2 and 1 go where 4, 5 and 6 end.
  EXPECT_EQ(dealt_cycles(one_by_one({6, 5, 4, 3, 2, 1}), 3, 1, its_steps).all, 7);
}

TEST(DealtCycles, TurnsAreRepeated) {
  // 4 2 1 4 2 1: from 1 on the third SM has 4 (to 5), from 2 the second has 2 (to 4) and then nothing; the 1 comes
  // at 4.
  const BlockOrder order{
      {.times = 2, .runs = {{.blocks = 1, .steps = 4}, {.blocks = 1, .steps = 2}, {.blocks = 1, .steps = 1}}}};
  const DealtCycles dealt = dealt_cycles(order, 3, 1, its_steps);
  EXPECT_EQ(dealt.all, 5);
  EXPECT_NEAR(dealt.evenly, 14.0 / 3, 1e-12);
}

TEST(DealtCycles, TheFirstBlocksGoToAllSmsInTurn) {
  // Two places on each of two SMs: 4 and 6 together, 2 alone. Both take 3/2 until 4 has ended at 6; 6 then has a third
  // of its steps left.
  EXPECT_EQ(dealt_cycles(one_by_one({4, 2, 6}), 2, 2, shared).all, 8);
}

TEST(DealtCycles, WhereNothingIsLeftToGiveOutABlockGoesOnByItself) {
  // One SM: 4 and 2 begin; at 3 comes 6, as long as there are two. 4 ends at 6, where 6 has two thirds of its steps
  // left.
  EXPECT_EQ(dealt_cycles(one_by_one({4, 2, 6}), 1, 2, shared).all, 6 + 4);
}

/// Block by block to the place that is free first, found by looking at all.
double dealt_by_looking(const std::vector<double>& steps, std::size_t places) {
  std::vector<double> ends(places, 0);
  for (const double each : steps) *std::ranges::min_element(ends) += each;
  return std::ranges::max(ends);
}

TEST(DealtCycles, ManyAtRandom) {
  std::mt19937 random(7);
  for (const int blocks : {1, 30, 131, 132, 133, 700, 2048}) {
    std::vector<double> steps;
    steps.reserve(static_cast<std::size_t>(blocks));
    for (int i = 0; i < blocks; ++i) steps.push_back(1 + static_cast<double>(random() % 40));
    EXPECT_EQ(dealt_cycles(one_by_one(steps), 132, 1, its_steps).all, dealt_by_looking(steps, 132)) << blocks;
  }
}

TEST(DealtCycles, OfVeryManyTheLastOnesShowHowTheyEnd) {
  std::vector<double> steps;
  for (int head = 0; head < 400; ++head) {
    for (int tile = 0; tile < 64; ++tile) steps.push_back(1000 * (tile + 2));
  }
  BlockOrder order = one_by_one(std::vector(steps.begin(), steps.begin() + 64));
  order.front().times = 400;
  const double all = dealt_by_looking(steps, 132);
  EXPECT_NEAR(dealt_cycles(order, 132, 1, its_steps).all, all, 0.005 * all);
  EXPECT_NEAR(dealt_cycles(order, 132, 1, its_steps).evenly, 400 * 1000 * (65 * 32 + 64.0) / 132, 1);
}

}  // namespace
}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/device_limits.h"
#include "tests/kernels/programs.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

using test::h200;

constexpr std::int64_t many_blocks = 1'000'000;

void expect_occupancy(const LaunchFootprint& launch, int blocks, double pct, std::string_view limiter) {
  const Occupancy occupancy = theoretical_occupancy(h200(), launch);
  EXPECT_EQ(occupancy.blocks_per_sm, blocks);
  EXPECT_DOUBLE_EQ(occupancy.warps_pct, pct);
  EXPECT_EQ(occupancy.limiter, limiter);
}

// Expected values by hand from the tables of the CUDA programming guide for compute capability 9.0: 64 warps, 32
// blocks, 65,536 registers, 228 KiB of shared memory, 1 KiB of it reserved for each block.
TEST(Occupancy, Threads) {
  expect_occupancy({many_blocks, 1024, 32, 0}, 2, 100, "threads");
  expect_occupancy({many_blocks, 256, 0, 0}, 8, 100, "threads");
}

TEST(Occupancy, Blocks) {
  expect_occupancy({many_blocks, 32, 16, 0}, 32, 50, "blocks");
}

TEST(Occupancy, RegistersAreHandedOutInUnitsOf256AWarp) {
  // 255 registers: 8,160 a warp become 8,192; 8 warps fit: 2 blocks of 4.
  expect_occupancy({many_blocks, 128, 255, 0}, 2, 12.5, "registers");
  // 168 registers: 5,376 a warp; 3 warps in each of four partitions: 3 blocks of 4.
  expect_occupancy({many_blocks, 128, 168, 0}, 3, 18.75, "registers");
  // 128 registers: 4,096 a warp; 16 warps fit, 3 blocks of 5.
  expect_occupancy({many_blocks, 160, 128, 0}, 3, 23.4375, "registers");
  // 184 registers: 5,888 a warp; two warps in each partition: 8 blocks of one warp.
  expect_occupancy({many_blocks, 32, 184, 0}, 8, 12.5, "registers");
}

TEST(Occupancy, MostRegistersAreWhatStillLetsOneBlockIn) {
  for (int threads = 32; threads <= 1024; threads += 32) {
    const int most = most_registers_per_thread(h200(), threads);
    EXPECT_GE(theoretical_occupancy(h200(), {many_blocks, threads, most, 0}).blocks_per_sm, 1) << threads;
    if (most < 255) {
      EXPECT_EQ(theoretical_occupancy(h200(), {many_blocks, threads, most + 1, 0}).blocks_per_sm, 0) << threads;
    }
  }
  EXPECT_EQ(most_registers_per_thread(h200(), 256), 255);
  EXPECT_EQ(most_registers_per_thread(h200(), 384), 168);
  EXPECT_EQ(most_registers_per_thread(h200(), 1024), 64);
}

TEST(Occupancy, SharedMemoryIncludesWhatIsReserved) {
  expect_occupancy({many_blocks, 128, 32, 65'536}, 3, 18.75, "shared memory");
  expect_occupancy({many_blocks, 128, 32, 115'712}, 2, 12.5, "shared memory");
  expect_occupancy({many_blocks, 128, 32, 115'713}, 1, 6.25, "shared memory");
}

TEST(Occupancy, TooLargeABlockDoesNotFitAtAll) {
  expect_occupancy({many_blocks, 128, 32, 233'472}, 0, 0, "shared memory");
}

TEST(Occupancy, AGridThatDoesNotFillTheSmsIsItsOwnLimit) {
  expect_occupancy({263, 1024, 32, 0}, 2, 100, "grid");
  expect_occupancy({264, 1024, 32, 0}, 2, 100, "threads");
}

}  // namespace
}  // namespace attnscope

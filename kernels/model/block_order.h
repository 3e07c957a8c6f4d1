// SPDX-License-Identifier: Apache-2.0
// In which order a launch hands out its blocks, and how long each one is: what a time needs where blocks differ.
#pragma once

#include <cstdint>
#include <vector>

namespace attnscope {

/// Blocks that follow one another and are alike.
struct BlockRun {
  std::int64_t blocks = 0;
  double steps = 0;   ///< of each: TileProgram::steps
  double rounds = 0;  ///< of each: its part of KernelWork::rounds, and so of the units' work

  bool operator==(const BlockRun&) const = default;
};

/// Runs that come `times` times one after the other.
struct BlockTurn {
  std::int64_t times = 1;
  std::vector<BlockRun> runs{};

  bool operator==(const BlockTurn&) const = default;
};

/// By blockIdx.x, from 0 on. Empty where all blocks of the launch are alike.
using BlockOrder = std::vector<BlockTurn>;

/// Blocks at the end of a turn; they lengthen its last run where they are like it.
void append(std::vector<BlockRun>& runs, BlockRun run);

}  // namespace attnscope

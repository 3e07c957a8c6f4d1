// SPDX-License-Identifier: Apache-2.0
// In which order a launch hands out its blocks, and how long each one is: what a time needs where blocks differ.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace attnscope {

/// Blocks that follow one another and are alike.
struct BlockRun {
  std::int64_t blocks = 0;
  double steps = 0;         ///< of each: TileProgram::steps
  double rounds = 0;        ///< of each: its part of KernelWork::rounds, and so of the units' work
  double squares_read = 0;  ///< of each: its part of KernelWork::squares_read

  /// Whether its blocks are like the other's, however many they are.
  [[nodiscard]] bool alike(const BlockRun& other) const {
    return steps == other.steps && rounds == other.rounds && squares_read == other.squares_read;
  }
  bool operator==(const BlockRun&) const = default;
};

/// Runs that come `times` times one after the other.
struct BlockTurn {
  std::int64_t times = 1;
  std::vector<BlockRun> runs{};

  bool operator==(const BlockTurn&) const = default;
};

/// Blocks at the end of a launch that its order tells one by one at least: as many as take a tenth of a millisecond.
/// How the SMs began those before them hardly shows at the end, and of many heads and batch entries each by itself they
/// would take longer to tell than all else of a model.
inline constexpr std::int64_t blocks_told = 2048;

/// By blockIdx.x, from 0 on; of those before the last `blocks_told` one run may stand for all, with their mean. Empty
/// where all blocks of the launch are alike.
using BlockOrder = std::vector<BlockTurn>;

/// Blocks at the end of a turn; they lengthen its last run where they are like it.
void append(std::vector<BlockRun>& runs, BlockRun run);

/// SM cycles that such a block takes while so many, itself among them, share its SM.
using BlockCycles = std::function<double(const BlockRun& block, double at_once)>;

struct DealtCycles {
  double all = 0;     ///< until the last block ends
  double evenly = 0;  ///< if every place had work to the end
};

/// The first blocks go to all SMs in turn, until every place is taken; each of the others to the place that is free
/// first. Once none is left to give out, those whose neighbours ended go on by themselves. Of a launch of very many,
/// the last 2048 are given out one by one, and the places share what comes before. Pre: the order is not empty, sms and
/// places (of each SM) are at least 1.
[[nodiscard]] DealtCycles dealt_cycles(const BlockOrder&, int sms, int places, const BlockCycles&);

}  // namespace attnscope

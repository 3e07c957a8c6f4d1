// SPDX-License-Identifier: Apache-2.0
// Order and cost of the blocks of a launch: input of the time model if blocks differ.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace attnscope {

/// Consecutive blocks of equal cost.
struct BlockRun {
  std::int64_t blocks = 0;
  double steps = 0;       ///< per block: TileProgram::steps
  double rounds = 0;      ///< per block: its part of KernelWork::rounds; its work is proportional to it
  double mask_reads = 0;  ///< per block: its part of KernelWork::mask_reads

  /// Returns true if the blocks have equal cost; their number does not matter.
  [[nodiscard]] bool has_equal_cost(const BlockRun& other) const {
    return steps == other.steps && rounds == other.rounds && mask_reads == other.mask_reads;
  }
  bool operator==(const BlockRun&) const = default;
};

/// Runs that are repeated `times` times.
struct RepeatedRuns {
  std::int64_t times = 1;
  std::vector<BlockRun> runs{};

  bool operator==(const RepeatedRuns&) const = default;
};

/// Minimum number of blocks at the end of a launch that are listed individually: about 0.1 ms of work. Earlier blocks
/// hardly affect the end of the launch, and listing all blocks of many heads and batch entries would take longer than
/// the rest of the model.
inline constexpr std::int64_t min_listed_blocks = 2048;

/// In order of blockIdx.x. Blocks before the last `min_listed_blocks` may be merged into one run of their mean. Empty
/// if all blocks have equal cost.
using BlockOrder = std::vector<RepeatedRuns>;

/// Appends blocks; extends the last run if they have equal cost.
void append(std::vector<BlockRun>& runs, BlockRun run);

/// SM cycles of a block while `at_once` blocks, including itself, share its SM.
using BlockCycles = std::function<double(const BlockRun& block, double at_once)>;

struct ScheduledCycles {
  double all = 0;       ///< until the last block ends
  double balanced = 0;  ///< with perfect load balance
};

/// Time of a launch whose blocks are scheduled greedily: the first blocks go round-robin to the SMs until all slots are
/// occupied, each later block to the first free slot. Once no block is left to start, blocks whose neighbors have ended
/// run faster. In very large launches only the last 2048 blocks are scheduled individually; the slots share the earlier
/// work equally. Pre: the order is not empty; sms and places (slots per SM) are at least 1.
[[nodiscard]] ScheduledCycles scheduled_cycles(const BlockOrder&, int sms, int places, const BlockCycles&);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/block_order.h"

namespace attnscope {

void append(std::vector<BlockRun>& runs, BlockRun run) {
  if (run.blocks == 0) return;
  if (!runs.empty() && runs.back().alike(run)) {
    runs.back().blocks += run.blocks;
  } else {
    runs.push_back(run);
  }
}

}  // namespace attnscope

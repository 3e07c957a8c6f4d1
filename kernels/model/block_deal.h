// SPDX-License-Identifier: Apache-2.0
// Blocks of a launch on the SMs: in their order, each to the place that is free first.
#pragma once

#include <functional>

#include "kernels/model/block_order.h"

namespace attnscope {

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

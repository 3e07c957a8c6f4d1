// SPDX-License-Identifier: Apache-2.0
// In which order the points of a plan are measured, where the plan is measured several times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attnscope {

/// How often a plan is measured.
struct SweepRounds {
  int count = 1;
  std::uint64_t seed = 0;  ///< what the order in each round comes of; none where there is one
};

/// The places of `points` points in the order of round `round`: the plan's own where there is one round, else shuffled
/// anew in each, so that what drifts over a round does not favour the same point in all of them. The same for the same
/// numbers, whatever the machine: a run that goes on does so in its own order.
[[nodiscard]] std::vector<std::size_t> round_order(std::size_t points, int round, const SweepRounds&);

}  // namespace attnscope

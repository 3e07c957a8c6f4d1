// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attnscope {

struct SweepRounds {
  int count = 1;
  std::uint64_t seed = 0;  ///< seeds the shuffles; unused for one round
};

/// Returns the point indices in the order of round `round`: plan order if there is one round, else a new shuffle per
/// round, so that drift within a round does not favor the same point every time. Deterministic on every machine, so a
/// resumed run continues in its order.
[[nodiscard]] std::vector<std::size_t> round_order(std::size_t points, int round, const SweepRounds&);

}  // namespace attnscope

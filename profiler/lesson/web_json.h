// SPDX-License-Identifier: Apache-2.0
// What the files that make the page's JSON share.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/lesson/player.h"

namespace attnscope::analysis::lesson {

/// The tiles of one head's S, and of each round those that it works on: row, column, rows, columns; heads one below the
/// other.
struct PairRounds {
  std::int64_t rows = 0;  ///< 0: no scores are computed
  std::int64_t cols = 0;
  std::vector<std::vector<std::array<std::int64_t, 4>>> rounds{};
};
[[nodiscard]] PairRounds pair_rounds(const TilePlayer&);

}  // namespace attnscope::analysis::lesson

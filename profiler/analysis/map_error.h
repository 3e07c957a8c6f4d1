// SPDX-License-Identifier: Apache-2.0
// How far a map of simulated tiles lies from the tiles of it that were recorded.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "profiler/analysis/point_table.h"

namespace attnscope::analysis {

struct MapError {
  std::size_t tiles = 0;   ///< that are both simulated and recorded
  double median = 0;       ///< of |simulated / recorded time - 1|
  double worst = 0;        ///< the largest
  double chosen_over = 1;  ///< recorded time of the tile that is simulated as the fastest, over that of the fastest
};

/// Of simulated rows of one problem on one GPU, held to what the table has recorded of the very points there. Nothing
/// for fewer than `fewest_tiles` of them.
[[nodiscard]] std::optional<MapError> map_error(const PointTable&, std::span<const Row> simulated);
inline constexpr std::size_t fewest_tiles = 3;

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
// Points of map cells, whether collected or not.
#pragma once

#include <optional>

#include "profiler/plan/point_spec.h"
#include "profiler/tilemap/tile_map.h"

namespace attnscope::analysis {

/// Returns the point of a cell: the collected one, or one composed from other points of its row and column. Returns
/// nullopt if an axis is not a field or knob, or if the algorithm is unknown.
[[nodiscard]] std::optional<PointSpec> point_of(const PointTable&, const TileMap&, TileMap::Place);

}  // namespace attnscope::analysis

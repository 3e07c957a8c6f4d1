// SPDX-License-Identifier: Apache-2.0
// The points that the places of a map stand for, collected or not.
#pragma once

#include <optional>

#include "profiler/plan/point_spec.h"
#include "profiler/tilemap/tile_map.h"

namespace attnscope::analysis {

/// What is asked for to fill a place: the point that was collected there, or, where none was, one that differs from the
/// map's others by what the axes say. Nothing where an axis is no field or knob, and of an algorithm that is not ours.
[[nodiscard]] std::optional<PointSpec> point_of(const PointTable&, const TileMap&, TileMap::Place);

}  // namespace attnscope::analysis

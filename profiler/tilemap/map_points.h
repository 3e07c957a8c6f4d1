// SPDX-License-Identifier: Apache-2.0
// The points that the places of a map stand for: those that were collected, those that were not, and those between.
#pragma once

#include <optional>
#include <vector>

#include "profiler/plan/point_spec.h"
#include "profiler/tilemap/tile_map.h"

namespace attnscope::analysis {

/// Places of a map, both ends among them.
struct MapArea {
  TileMap::Place from;
  TileMap::Place to;

  /// With `from` the lower left one.
  [[nodiscard]] static MapArea between(TileMap::Place a, TileMap::Place b);
  [[nodiscard]] bool holds(TileMap::Place) const;
  [[nodiscard]] int rows() const { return to.row - from.row + 1; }
  [[nodiscard]] int columns() const { return to.column - from.column + 1; }
  bool operator==(const MapArea&) const = default;
};

/// What is asked for to fill a place: the point that was collected there, or, where none was, one that differs from the
/// map's others by what the axes say. Nothing where an axis is no field or knob, and of an algorithm that is not ours.
[[nodiscard]] std::optional<PointSpec> point_of(const PointTable&, const TileMap&, TileMap::Place);

/// Of all places of an area, or of those without a point.
enum class Wanted { all, missing };
[[nodiscard]] std::vector<PointSpec> points_in(const PointTable&, const TileMap&, const MapArea&, Wanted);
/// What lies between neighbouring places of an area: on an axis of numbers halfway between two values, with every value
/// of the other axis, old and new. Of those that run by what is known of the device; none of a device that is an axis.
[[nodiscard]] std::vector<PointSpec> points_between(const PointTable&, const TileMap&, const MapArea&);

}  // namespace attnscope::analysis

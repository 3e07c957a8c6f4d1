// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/map_points.h"

#include <string>
#include <utility>

#include "profiler/plan/fields.h"

namespace attnscope::analysis {
namespace {

bool is_square_point(const PointSpec& point) {
  return point.problem.n_q == point.problem.n_k;
}

/// With n_k on an axis and n_q not, square problems stay square.
void follow_keys(const PointAxis& axis, PointSpec& point) {
  if (axis.covers_field("n_k") && !axis.covers_field("n_q")) point.problem.n_q = point.problem.n_k;
}

void copy_known_values(const PointAxis& axis, const PointSpec& from, PointSpec& to) {
  const bool both_square = is_square_point(from) && is_square_point(to);
  for (const std::string& name : axis.names) {
    if (const attnscope::Field* field = attnscope::find_field(name)) {
      field->restore(to, field->get(from));
    } else {
      const KnobValue* value = from.knobs.find(name);
      to.knobs.set(name, value != nullptr ? *value : KnobValue(std::int64_t{0}));  // 0 removes the knob
    }
  }
  if (both_square) follow_keys(axis, to);
}

std::optional<Row> collected_row(const TileMap& map, bool column, int place) {
  const auto count = static_cast<int>(column ? map.y.size() : map.x.size());
  for (int i = 0; i < count; ++i) {
    const TileCell& cell = map.at(column ? TileMap::Place{i, place} : TileMap::Place{place, i});
    if (cell.disposition) return cell.row;
  }
  return std::nullopt;
}

/// Returns whether cells are configurations; false if an axis is the device.
bool has_config_axes(const TileMap& map) {
  return !map.empty() && !map.x.axis.names.empty() && !map.y.axis.names.empty();
}

}  // namespace

std::optional<PointSpec> point_of(const PointTable& table, const TileMap& map, TileMap::Place place) {
  if (!has_config_axes(map)) return std::nullopt;
  const auto if_known_algorithm = [&](PointSpec point) {
    return table.algorithms().find(point.algorithm) != nullptr ? std::optional(std::move(point)) : std::nullopt;
  };
  const TileCell& cell = map.at(place);
  if (cell.disposition) return if_known_algorithm(table.spec(cell.row));
  const auto of_column = collected_row(map, true, place.column);
  const auto of_row = collected_row(map, false, place.row);
  if (!of_column || !of_row) return std::nullopt;
  PointSpec point = table.spec(*of_row);
  copy_known_values(map.x.axis, table.spec(*of_column), point);
  return if_known_algorithm(std::move(point));
}

}  // namespace attnscope::analysis

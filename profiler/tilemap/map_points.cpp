// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/map_points.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "profiler/plan/fields.h"

namespace attnscope::analysis {
namespace {

bool as_many_queries(const PointSpec& point) {
  return point.problem.n_q == point.problem.n_k;
}

/// Beside an axis of keys alone "as many queries as keys" is one choice: queries follow.
void follow_keys(const PointAxis& axis, PointSpec& point) {
  if (axis.speaks_for("n_k") && !axis.speaks_for("n_q")) point.problem.n_q = point.problem.n_k;
}

/// Gives a point another's values on an axis.
void take_values(const PointAxis& axis, const PointSpec& from, PointSpec& to) {
  const bool both_square = as_many_queries(from) && as_many_queries(to);
  for (const std::string& name : axis.names) {
    if (const attnscope::Field* field = attnscope::find_field(name)) {
      field->restore(to, field->get(from));
    } else {
      const KnobValue* value = from.knobs.find(name);
      to.knobs.set(name, value != nullptr ? *value : KnobValue(std::int64_t{0}));  // 0 takes it away
    }
  }
  if (both_square) follow_keys(axis, to);
}

/// A number on an axis that had others; false where the point cannot have it. Lengths and heads that are one choice
/// change together where they are equal.
bool set_number(const PointAxis& axis, std::int64_t number, PointSpec& point) {
  const bool square = as_many_queries(point);
  const bool equal = axis.names.size() < 2 || (axis.names.size() == 2 && square);
  for (const std::string& name : axis.names) {
    if (!equal && name != axis.names.back()) continue;
    if (const attnscope::Field* field = attnscope::find_field(name)) {
      if (!set_field(*field, point, std::to_string(number))) return false;
    } else {
      point.knobs.set(name, number);
    }
  }
  if (square) follow_keys(axis, point);
  return true;
}

/// A collected point of that column or row, or any of the map.
std::optional<Row> row_along(const TileMap& map, bool column, int place) {
  const auto count = static_cast<int>(column ? map.y.size() : map.x.size());
  for (int i = 0; i < count; ++i) {
    const TileCell& cell = map.at(column ? TileMap::Place{i, place} : TileMap::Place{place, i});
    if (cell.disposition) return cell.row;
  }
  return std::nullopt;
}

/// Where an axis is the device, a place is no configuration.
bool axes_are_choices(const TileMap& map) {
  return !map.empty() && !map.x.axis.names.empty() && !map.y.axis.names.empty();
}

/// A value of an axis: one that is there, by its place, or a number between two.
struct Step {
  int place = 0;
  std::optional<std::int64_t> number;
};

std::vector<Step> steps_of(const MapAxis& axis, int from, int to) {
  std::vector<Step> steps;
  for (int place = from; place <= to; ++place) {
    steps.push_back({place, std::nullopt});
    if (place == to || !axis.axis.number) continue;
    const double low = axis.values[static_cast<std::size_t>(place)].order;
    const double high = axis.values[static_cast<std::size_t>(place) + 1].order;
    const auto middle = static_cast<std::int64_t>(std::floor((low + high) / 2));
    if (static_cast<double>(middle) > low && static_cast<double>(middle) < high) steps.push_back({place, middle});
  }
  return steps;
}

/// Whether the device's limits and the kernel let it run, as far as theory knows.
bool runs(const PointTable& table, const PointSpec& point, const DeviceLimits& limits) {
  const Algorithm* algorithm = table.algorithms().find(point.algorithm);
  return algorithm != nullptr && invalid_reason(point.problem).empty() &&
         !algorithm->refusal(point.problem, point.config(), limits);
}

}  // namespace

MapArea MapArea::between(TileMap::Place a, TileMap::Place b) {
  return {{std::min(a.row, b.row), std::min(a.column, b.column)},
          {std::max(a.row, b.row), std::max(a.column, b.column)}};
}

bool MapArea::holds(TileMap::Place place) const {
  return place.row >= from.row && place.row <= to.row && place.column >= from.column && place.column <= to.column;
}

std::optional<PointSpec> point_of(const PointTable& table, const TileMap& map, TileMap::Place place) {
  if (!axes_are_choices(map)) return std::nullopt;
  const auto if_ours = [&](PointSpec point) {
    return table.algorithms().find(point.algorithm) != nullptr ? std::optional(std::move(point)) : std::nullopt;
  };
  const TileCell& cell = map.at(place);
  if (cell.disposition) return if_ours(table.spec(cell.row));
  const auto of_column = row_along(map, true, place.column);
  const auto of_row = row_along(map, false, place.row);
  if (!of_column || !of_row) return std::nullopt;
  PointSpec point = table.spec(*of_row);
  take_values(map.x.axis, table.spec(*of_column), point);
  return if_ours(std::move(point));
}

std::vector<PointSpec> points_in(const PointTable& table, const TileMap& map, const MapArea& area, Wanted wanted) {
  std::vector<PointSpec> points;
  for (int row = area.from.row; row <= area.to.row; ++row) {
    for (int column = area.from.column; column <= area.to.column; ++column) {
      const bool missing = !map.at({row, column}).disposition;
      if (wanted == Wanted::missing && !missing) continue;
      if (auto point = point_of(table, map, {row, column})) points.push_back(*std::move(point));
    }
  }
  return points;
}

std::vector<PointSpec> points_between(const PointTable& table, const TileMap& map, const MapArea& area) {
  std::vector<PointSpec> points;
  if (!axes_are_choices(map)) return points;
  for (const Step& y : steps_of(map.y, area.from.row, area.to.row)) {
    for (const Step& x : steps_of(map.x, area.from.column, area.to.column)) {
      if (!x.number && !y.number) continue;
      auto point = point_of(table, map, {y.place, x.place});
      const auto donor = row_along(map, false, y.place);
      if (!point || !donor) continue;
      if (y.number && !set_number(map.y.axis, *y.number, *point)) continue;
      if (x.number && !set_number(map.x.axis, *x.number, *point)) continue;
      if (runs(table, *point, table.run(*donor).limits)) points.push_back(*std::move(point));
    }
  }
  return points;
}

}  // namespace attnscope::analysis

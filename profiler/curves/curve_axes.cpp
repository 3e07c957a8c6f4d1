// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/curve_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernels/model/io_model.h"
#include "messages/facet.h"
#include "messages/facet_help.h"
#include "profiler/tilemap/tile_map.h"

namespace attnscope::analysis {
namespace {

bool of_the_tile(std::string_view name) {
  const Field* field = attnscope::find_field(name);
  return field != nullptr && field->role == FieldRole::tile;
}

/// Each has a curve of its own, and the tile is chosen by itself.
bool of_a_curve(std::string_view key) {
  return key == field_name::algorithm || key == device_facet_key || key == tile_facet()->key;
}

bool is_knob(const Algorithms& algorithms, std::string_view name) {
  return std::ranges::find(algorithms.knobs(), name, &Knob::name) != algorithms.knobs().end();
}

std::optional<std::int64_t> memory_at(const PointTable& table, Row row) {
  const Algorithm* algorithm = table.algorithms().find(table.algorithm(row));
  if (algorithm == nullptr) return std::nullopt;
  const AttentionProblem problem = table.problem(row);
  return memory_of_tile(table.tile_of(row).tile, problem.d, algorithm->facts().traffic_side(problem.pass));
}

}  // namespace

PointAxis axis_of_facet(const FacetPtr& facet, const Algorithms& algorithms) {
  const std::vector<PointAxis> axes = point_axes(algorithms);
  if (const PointAxis* known = find_axis(axes, facet->key)) return *known;
  return {.facet = facet};
}

bool gives_tile(const PointAxis& axis) {
  return std::ranges::any_of(axis.names, of_the_tile);
}

std::vector<FacetPtr> facets_beside_curves(const PointAxis& axis, const FacetPtr& group, const Algorithms& algorithms) {
  std::vector<PointAxis> axes{axis};
  if (group) axes.push_back(axis_of_facet(group, algorithms));
  const bool knobs = std::ranges::any_of(axes, [&](const PointAxis& each) {
    return std::ranges::any_of(each.names, [&](const std::string& name) {
      return is_knob(algorithms, name) ||
             (of_the_tile(name) && each.key() != tile_facet()->key && each.key() != memory_axis().key());
    });
  });
  std::vector<FacetPtr> facets = facets_beside(axes, algorithms);
  std::erase_if(facets, [&](const FacetPtr& facet) {
    return of_a_curve(facet->key) || (!knobs && is_knob(algorithms, facet->key));
  });
  return facets;
}

std::vector<FacetPtr> all_curve_facets(const Algorithms& algorithms) {
  std::vector<FacetPtr> facets = all_map_facets(algorithms);
  std::erase_if(facets, [](const FacetPtr& facet) { return of_a_curve(facet->key); });
  return facets;
}

const PointAxis& memory_axis() {
  static const PointAxis axis{
      .facet = std::make_shared<const Facet>(
          Facet{"m", say::facet::m{}, say::facet_help::m{},
                [](const PointTable& table) {
                  CodeColumn column;
                  std::map<std::int64_t, std::uint32_t> codes;
                  std::vector<std::int64_t> at;
                  for (Row row = 0; row < table.size(); ++row) {
                    at.push_back(memory_at(table, row).value_or(0));
                    codes.try_emplace(at.back(), 0);
                  }
                  for (auto& [elements, code] : codes) {
                    code = static_cast<std::uint32_t>(column.values.size());
                    column.values.push_back({static_cast<double>(elements), fmt::to_string(elements)});
                  }
                  for (const std::int64_t m : at) column.codes.push_back(codes[m]);
                  return column;
                }}),
      .names = {"br", "bc"},
      .number = true};
  return axis;
}

std::vector<PointAxis> varying_curve_axes(const PointTable& table, std::span<const Row> rows) {
  std::vector<PointAxis> axes = varying_axes(table, rows);
  std::erase_if(axes, [](const PointAxis& axis) { return of_a_curve(axis.key()); });
  const CodeColumn& memory = table.codes(*memory_axis().facet);
  std::set<std::uint32_t> there;
  for (const Row row : rows) {
    if (memory.values[memory.codes[row]].order > 0) there.insert(memory.codes[row]);
  }
  if (there.size() > 1) axes.push_back(memory_axis());
  return axes;
}

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/curve_axes.h"

#include <algorithm>
#include <utility>

#include "profiler/tilemap/tile_map.h"

namespace attnscope::analysis {
namespace {

bool is_tile_field(std::string_view name) {
  const Field* field = attnscope::find_field(name);
  return field != nullptr && field->role == FieldRole::tile;
}

/// These facets have separate curves or are chosen automatically (tile).
bool is_separate_curve(std::string_view key) {
  return key == field_name::algorithm || key == device_facet_key || key == tile_facet()->key;
}

bool is_knob(std::string_view name) {
  return known_algorithms().find_knob(name) != nullptr;
}

}  // namespace

PointAxis axis_of_facet(const FacetPtr& facet) {
  const std::vector<PointAxis> axes = point_axes();
  if (const PointAxis* known = find_axis(axes, facet->key)) return *known;
  return {.facet = facet};
}

bool sets_tile_dimension(const PointAxis& axis) {
  return std::ranges::any_of(axis.names, is_tile_field);
}

std::vector<FacetPtr> fixed_curve_facets(const PointAxis& axis, const FacetPtr& group) {
  std::vector<PointAxis> axes{axis};
  if (group) axes.push_back(axis_of_facet(group));
  const bool knobs = std::ranges::any_of(axes, [&](const PointAxis& each) {
    return std::ranges::any_of(each.names, [&](const std::string& name) {
      return is_knob(name) || (is_tile_field(name) && each.key() != tile_facet()->key);
    });
  });
  std::vector<FacetPtr> facets = fixed_facets(axes);
  std::erase_if(
      facets, [&](const FacetPtr& facet) { return is_separate_curve(facet->key) || (!knobs && is_knob(facet->key)); });
  return facets;
}

std::vector<FacetPtr> all_curve_facets() {
  std::vector<FacetPtr> facets = all_map_facets();
  std::erase_if(facets, [](const FacetPtr& facet) { return is_separate_curve(facet->key); });
  return facets;
}

std::vector<PointAxis> varying_curve_axes(const PointTable& table, std::span<const Row> rows) {
  std::vector<PointAxis> axes = varying_axes(table, rows);
  std::erase_if(axes, [](const PointAxis& axis) { return is_separate_curve(axis.key()); });
  return axes;
}

}  // namespace attnscope::analysis

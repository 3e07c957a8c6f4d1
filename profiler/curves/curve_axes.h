// SPDX-License-Identifier: Apache-2.0
// Axes and groups of curves, and the facets that select the points of one plot.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/points/facets.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Returns the facets that must be fixed to get the points of one plot: all fields except axis, group, algorithm and
/// device (which have separate curves). Knobs are included only if axis or group is a knob or a tile dimension;
/// otherwise one tile with its knobs is chosen per algorithm.
[[nodiscard]] std::vector<FacetPtr> fixed_curve_facets(const PointAxis& axis, const FacetPtr& group);
/// Returns the union of all results of fixed_curve_facets().
[[nodiscard]] std::vector<FacetPtr> all_curve_facets();
[[nodiscard]] std::vector<PointAxis> varying_curve_axes(const PointTable&, std::span<const Row> rows);

/// Returns the axis of a facet, with the fields that it covers.
[[nodiscard]] PointAxis axis_of_facet(const FacetPtr&);
[[nodiscard]] bool sets_tile_dimension(const PointAxis&);

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
// What curves can be drawn over and grouped by, and what then narrows their points.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/points/facets.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// What narrows points to those of one plot: every field that neither the axis nor the group speaks for, but the
/// algorithm and the device, which are curves of their own. Knobs only where the axis, or the group, is a knob or a
/// side of the tile; else a tile stands for its algorithm with all that it was told.
[[nodiscard]] std::vector<FacetPtr> facets_beside_curves(const PointAxis& axis, const FacetPtr& group,
                                                         const Algorithms& = Algorithms::known());
/// What facets_beside_curves() may give, each once.
[[nodiscard]] std::vector<FacetPtr> all_curve_facets(const Algorithms& = Algorithms::known());
/// Axes that have two values or more among these rows.
[[nodiscard]] std::vector<PointAxis> varying_curve_axes(const PointTable&, std::span<const Row> rows);

/// The axis that a facet is, with the fields that it stands for.
[[nodiscard]] PointAxis axis_of_facet(const FacetPtr&, const Algorithms&);
/// Whether it gives a side of the tile.
[[nodiscard]] bool gives_tile(const PointAxis&);

}  // namespace attnscope::analysis

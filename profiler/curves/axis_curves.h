// SPDX-License-Identifier: Apache-2.0
// Any metric against any axis of points, grouped by any other: what is not N, or not bytes, time or rate.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "profiler/curves/curves.h"
#include "profiler/points/facets.h"

namespace attnscope::analysis {

struct AxisCurveRequest {
  PointAxis axis;            ///< of the abscissa
  std::string metric;        ///< key of the metrics table
  FacetPtr group = nullptr;  ///< a curve for each of its values; null: none
  std::set<std::string> algorithms;
  /// Where neither axis nor group says the tile: the one that covers the most of the axis, or at each place its
  /// fastest.
  TileSelection::Rule tile = TileSelection::Rule::widest;
  bool model = true;  ///< beside each curve, where theory has the metric
};

/// What narrows points to those of one plot: every field that neither the axis nor the group speaks for, but the
/// algorithm and the device, which are curves of their own. Knobs only where the axis, or the group, is a knob or a
/// side of the tile; else a tile stands for its algorithm with all that it was told.
[[nodiscard]] std::vector<FacetPtr> facets_beside_curves(const PointAxis& axis, const FacetPtr& group,
                                                         const Algorithms& = Algorithms::known());
/// What facets_beside_curves() may give, each once.
[[nodiscard]] std::vector<FacetPtr> all_curve_facets(const Algorithms& = Algorithms::known());
/// The memory on chip that the paper's rule makes the point's tile of, in elements (memory_of_tile()): an axis of
/// curves, which no field states.
[[nodiscard]] const PointAxis& memory_axis();
/// Axes that have two values or more among these rows, that of the memory among them.
[[nodiscard]] std::vector<PointAxis> varying_curve_axes(const PointTable&, std::span<const Row> rows);

/// `rows` are of one plot. Runs as in build_curves(): runs that share no place make one series, others one each, the
/// newest first. Points of CurvePoint::n are numbers of the axis, or places of words, counted from 1.
[[nodiscard]] CurveSet build_axis_curves(const PointTable&, std::span<const Row> rows, const AxisCurveRequest&);

}  // namespace attnscope::analysis

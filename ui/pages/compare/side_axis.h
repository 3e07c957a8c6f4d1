// SPDX-License-Identifier: GPL-3.0-or-later
// Axis that divides points into sides: the run, a property of the run, or a field or knob of the points.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/compare/alignment.h"
#include "profiler/points/facets.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

struct SideAxis {
  QString key;  ///< "run", "driver", "device", "algorithm"
  QString label;
  std::vector<std::string> names;    ///< Names of fields or knobs; empty for properties of runs.
  std::vector<std::uint32_t> codes;  ///< Side of each row.
  std::vector<QString> values;       ///< Side name of each code.

  /// Returns the side of that name; null: none.
  [[nodiscard]] std::optional<std::uint32_t> side_named(const QString& name) const;
};
/// Returns the axes with two or more sides: properties of runs (sides in order of start time), then device, algorithm,
/// tile and knobs, then fields of the problem.
[[nodiscard]] std::vector<SideAxis> side_axes(const PointSet& points);
/// Returns the side with the most points that another side also has (the first of several). Null if no two sides share
/// a point.
[[nodiscard]] std::optional<std::uint32_t> best_matched_side(const PointSet& points, const SideAxis& axis);
/// Aligns points by all fields except those that define the sides.
[[nodiscard]] analysis::Alignment alignment_except(const analysis::PointTable& table, const SideAxis& axis,
                                                   const std::vector<Row>& base, const std::vector<Row>& other,
                                                   std::optional<analysis::ComparedTiles> tiles);

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// By what points fall into sides: their runs, what these were made with, or a field or knob of the points.
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
  std::vector<std::string> names;    ///< of the fields, or of the knob; none of a property of runs
  std::vector<std::uint32_t> codes;  ///< by row: its side
  std::vector<QString> values;       ///< by code

  /// The side of that name; nothing where there is none.
  [[nodiscard]] std::optional<std::uint32_t> side_named(const QString& name) const;
};
/// Those of two sides or more. First properties of the runs, whose sides are in the order in which they began, then
/// device, algorithm, tile and knobs, last fields of the problem.
[[nodiscard]] std::vector<SideAxis> side_axes(const PointSet& points);
/// The side with the most points that another one has too; the first of several, nothing where no two have one.
[[nodiscard]] std::optional<std::uint32_t> fullest_side(const PointSet& points, const SideAxis& axis);
/// By what both sides have in common, except what makes them sides.
[[nodiscard]] analysis::Alignment alignment_beside(const analysis::PointTable& table, const SideAxis& axis,
                                                   const std::vector<Row>& base, const std::vector<Row>& other);

}  // namespace attnscope::ui

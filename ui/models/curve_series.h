// SPDX-License-Identifier: GPL-3.0-or-later
// Curves of the page "Curves" in the window. Their content and names come from analysis.
#pragma once

#include <QString>
#include <memory>
#include <string_view>
#include <vector>

#include "profiler/curves/curve_panels.h"
#include "profiler/points/facets.h"
#include "ui/runs/point_set.h"
#include "ui/text/values.h"

namespace attnscope::ui {

using analysis::Boundary;
using analysis::Curve;
using analysis::CurveKind;
using analysis::CurvePoint;
using analysis::CurveRequest;
using analysis::FailedPoint;
using analysis::Ordinate;
using analysis::Quantity;
using analysis::TileSelection;

/// Maximum number of curves or series in a plot. Legends and labels of thousands would freeze the window.
inline constexpr std::size_t max_drawn_curves = 100;

struct CurveSet : analysis::CurveSet {
  QString title;
  std::size_t undrawn_curves = 0;  ///< Curves beyond max_drawn_curves.
  std::shared_ptr<const PointSet> points;

  [[nodiscard]] ShownPoint at(Row row) const { return (*points)[row]; }
  [[nodiscard]] const analysis::PointTable& table() const { return points->table(); }
};

/// `filter`: one problem, or the properties that all points along the axis share.
[[nodiscard]] CurveSet build_curves(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                                    const CurveRequest& request);

[[nodiscard]] std::vector<Row> drawn_rows(const CurveSet& set);
/// Returns the runs of the points on the curves and of failed points.
[[nodiscard]] std::vector<RunPtr> drawn_runs(const CurveSet& set);

[[nodiscard]] ShownValues values_of(const CurveSet& set);
[[nodiscard]] QString format_quantity(double value, const Curve& curve);
/// Suffix of file names of bytes at a level; empty for DRAM.
[[nodiscard]] inline QString level_suffix(Quantity level) {
  return level == Quantity::sm_l2 ? QStringLiteral("-sm-l2") : QString();
}
/// Returns the legend name of an algorithm: "FA2", "Naive", "Split-KV"; unknown algorithms keep their name.
[[nodiscard]] QString short_title(std::string_view algorithm);
[[nodiscard]] inline QString facet_value_text(const analysis::Facet& facet, const analysis::FacetValue& value) {
  return facet.key == "algorithm" ? short_title(value.text) : QString::fromStdString(analysis::localized_text(value));
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The curves of the page "Curves" as the window shows them. What they are and how they are called is analysis' work.
#pragma once

#include <QString>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/curves/curve_words.h"
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

struct CurveSet : analysis::CurveSet {
  QString title;
  std::shared_ptr<const PointSet> points;  ///< what rows refer to

  [[nodiscard]] ShownPoint at(Row row) const { return (*points)[row]; }
  [[nodiscard]] const analysis::PointTable& table() const { return points->table(); }
};

/// `filter` stands on the problem, or on what all points of the axis have in common.
[[nodiscard]] CurveSet build_curves(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                                    const CurveRequest& request);

/// Of the points on the curves.
[[nodiscard]] std::vector<Row> drawn_rows(const CurveSet& set);
/// The runs of what is drawn: of the curves' points, and of those that gave no value.
[[nodiscard]] std::vector<RunPtr> drawn_runs(const CurveSet& set);

/// Every point of the curves that are drawn, theory's too, for other programs.
[[nodiscard]] ShownValues values_of(const CurveSet& set);
/// A curve's value with its unit.
[[nodiscard]] QString format_quantity(double value, const Curve& curve);
/// "FA2", "Naive", "Split-KV": for legends; an algorithm that is not ours by the name that it came with.
[[nodiscard]] QString short_title(std::string_view algorithm);
/// A facet's value as it is, but an algorithm by its short title, as everywhere in the window.
[[nodiscard]] inline QString value_words(const analysis::Facet& facet, const analysis::FacetValue& value) {
  return facet.key == "algorithm" ? short_title(value.text) : QString::fromStdString(analysis::shown_text(value));
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: Apache-2.0
// Curves of points, narrowed to one problem as a view does it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/curves.h"
#include "profiler/analysis/problem_filter.h"
#include "tests/profiler/analysis/fixtures.h"

namespace attnscope::analysis {

inline CurveRequest everything() {
  CurveRequest request;
  request.algorithms = {"naive", "fa1", "fa2"};
  request.paper_count = true;
  return request;
}

/// A table, the rows of its first problem (or that of the `choices`, values by field), and their curves.
struct Drawn {
  Drawn(const fixtures::Points& points, const CurveRequest& request,
        const std::vector<std::pair<std::string, std::string>>& choices = {})
      : table(points.table()), records(points.records()) {
    ProblemFilter filter(curve_facets(), key_length_facet());
    for (const auto& [field, value] : choices) filter.choose(filter.place_of(field), value);
    filter.update(table, table.rows());
    rows = filter.rows();
    set = build_curves(table, rows, request);
  }

  /// The first of them; nullptr for none.
  [[nodiscard]] const Curve* find(const std::string& algorithm, CurveKind kind, Quantity quantity, int age = 0) const {
    const auto found = std::ranges::find_if(set.curves, [&](const Curve& curve) {
      return curve.name.algorithm == algorithm && curve.kind == kind && curve.quantity == quantity &&
             curve.name.age == age;
    });
    return found == set.curves.end() ? nullptr : &*found;
  }
  [[nodiscard]] const PointRecord& record(const CurvePoint& point) const { return record(*point.row); }
  [[nodiscard]] const PointRecord& record(Row row) const { return records[row]; }

  PointTable table;
  std::vector<PointRecord> records;  ///< by row
  std::vector<Row> rows;
  CurveSet set;
};

inline const CurvePoint* at(const Curve* curve, double n) {
  if (curve == nullptr) return nullptr;
  const auto found = std::ranges::find(curve->points, n, &CurvePoint::n);
  return found == curve->points.end() ? nullptr : &*found;
}

}  // namespace attnscope::analysis

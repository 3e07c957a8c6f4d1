// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "profiler/curves/curves.h"
#include "profiler/points/problem_filter.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {

inline CurveRequest everything() {
  CurveRequest request;
  request.algorithms = {"naive", "fa1", "fa2"};
  return request;
}

/// A table, the rows of its first problem (or of the problem given by `choices`, values by field), and their curves.
struct Drawn {
  Drawn(const fixtures::Points& points, const CurveRequest& request,
        const std::vector<std::pair<std::string, std::string>>& choices = {})
      : table(points.table()), records(points.records()) {
    ProblemFilter filter(curve_facets(), key_length_facet());
    for (const auto& [field, value] : choices) filter.choose(filter.index_of(field), value);
    filter.update(table, table.rows());
    rows = filter.rows();
    set = build_curves(table, rows, request);
  }

  explicit Drawn(const std::vector<PointRecord>& records) : Drawn(fixtures::Points(records), everything()) {}

  /// Returns the first such curve. Throws if there is none.
  [[nodiscard]] const Curve* curve(const std::string& algorithm, CurveKind kind, Quantity quantity, int age = 0) const {
    if (const Curve* found = find(algorithm, kind, quantity, age)) return found;
    throw std::runtime_error("no curve of " + algorithm);
  }
  /// Returns the first such curve, or nullptr.
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
  std::vector<PointRecord> records;  ///< index: row
  std::vector<Row> rows;
  CurveSet set;
};

inline bool has_point_at(const Curve* curve, double n) {
  return curve != nullptr && std::ranges::count(curve->points, n, &CurvePoint::n) > 0;
}

/// Throws if the curve has no such point.
inline const CurvePoint* at(const Curve* curve, double n) {
  if (!has_point_at(curve, n)) throw std::runtime_error("no point at " + std::to_string(n));
  return &*std::ranges::find(curve->points, n, &CurvePoint::n);
}

}  // namespace attnscope::analysis

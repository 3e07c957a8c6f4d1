// SPDX-License-Identifier: GPL-3.0-or-later
// Points as views have them, with the run and record of each, and as the rows of the table that analysis works on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "profiler/analysis/point_table.h"
#include "profiler/analysis/problem_filter.h"
#include "ui/workspace.h"

namespace attnscope::ui {

using analysis::ProblemFilter;
using analysis::Row;

/// What analysis is told of a run.
[[nodiscard]] analysis::Run analysis_run(const RunInfo& run);

class PointSet {
 public:
  PointSet() : PointSet(std::vector<ShownPoint>()) {}
  explicit PointSet(std::vector<ShownPoint> points);

  [[nodiscard]] const std::vector<ShownPoint>& points() const { return points_; }
  [[nodiscard]] const analysis::PointTable& table() const { return table_; }
  [[nodiscard]] const ShownPoint& operator[](Row row) const { return points_[row]; }
  [[nodiscard]] bool empty() const { return points_.empty(); }
  /// Some of the points, as they are.
  [[nodiscard]] std::vector<ShownPoint> select(std::span<const Row> rows) const;
  /// Any of the points of one of the table's runs.
  [[nodiscard]] const RunInfo& run(analysis::RunIndex index) const { return *runs_[index]; }

 private:
  std::vector<ShownPoint> points_;
  std::vector<const RunInfo*> runs_;  ///< as the table has them
  analysis::PointTable table_;
};

}  // namespace attnscope::ui

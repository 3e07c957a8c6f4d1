// SPDX-License-Identifier: GPL-3.0-or-later
// Points as views have them: the rows of the table that analysis works on, with the run of each and what its file knows
// it by.
#pragma once

#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/files/file_system.h"
#include "profiler/points/point_table.h"
#include "profiler/points/problem_filter.h"
#include "ui/runs/run_points.h"

namespace attnscope::ui {

using analysis::ProblemFilter;

struct RunInfo {
  QString file;  ///< absolute path
  RunSummary summary;
  QString title = {};    ///< run_title(), with what sets the run apart from others of that title and device
  FileStamp stamp = {};  ///< of the file that it was read from
  /// What tells its device from those of all open runs; empty where it was not compared with them.
  std::string device = {};
  /// What recordings of its kind differ by, as some open file says; null where none does.
  std::shared_ptr<const analysis::NoiseModel> noise = nullptr;
};
using RunPtr = std::shared_ptr<const RunInfo>;

/// A point that somebody looks at.
struct ShownPoint {
  RunPtr run;
  std::int64_t id = 0;  ///< in the run's file
  PointSpec spec;
};

/// What analysis is told of a run.
[[nodiscard]] analysis::Run analysis_run(const RunInfo& run);

class PointSet {
 public:
  struct Part {
    RunPtr run;
    const RunPoints* points = nullptr;  ///< read while the set is made
    /// What analysis is told of the run, for whoever makes sets in another thread than the window's; else
    /// analysis_run().
    std::optional<analysis::Run> told = {};
  };
  PointSet() : PointSet(std::vector<Part>()) {}
  /// All points of these runs, which are of these fields.
  explicit PointSet(const std::vector<Part>& parts, std::span<const Field> fields = point_fields());
  /// Some of the points of another set of these fields; `rows` ascend.
  PointSet(const PointSet& all, std::span<const Row> rows, std::span<const Field> fields = point_fields());

  [[nodiscard]] const analysis::PointTable& table() const { return table_; }
  [[nodiscard]] Row size() const { return table_.size(); }
  [[nodiscard]] bool empty() const { return table_.empty(); }
  [[nodiscard]] ShownPoint operator[](Row row) const { return {run_of(row), ids_[row], table_.spec(row)}; }
  /// Where a point of another set is in this one.
  [[nodiscard]] std::optional<Row> row_of(const ShownPoint& point) const;
  /// In the file of its run.
  [[nodiscard]] std::int64_t id(Row row) const { return ids_[row]; }
  [[nodiscard]] const RunPtr& run_of(Row row) const { return runs_[table_.run_index(row)]; }
  [[nodiscard]] const RunInfo& run(analysis::RunIndex index) const { return *runs_[index]; }
  /// The runs of some of the points, each once, in the order of the rows.
  [[nodiscard]] std::vector<RunPtr> runs_of(std::span<const Row> rows) const;

 private:
  std::vector<RunPtr> runs_;  ///< as the table has them
  std::vector<std::int64_t> ids_;
  analysis::PointTable table_;
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Points as views have them: the rows of the table that analysis works on, with the run of each and what its file knows
// it by.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/files/file_system.h"
#include "profiler/points/point_columns.h"
#include "profiler/points/point_table.h"
#include "profiler/points/problem_filter.h"
#include "storage/run_store.h"

namespace attnscope::ui {

// The points of one run as the window keeps them: columns, and what the file knows each point by. Its record is read
// again when somebody looks at the point (point_records.h).

using analysis::Row;

class RunPoints {
 public:
  /// The table of fields has to outlive them.
  explicit RunPoints(std::span<const Field> fields = point_fields()) : columns_(fields) {}

  /// A point at a place of the plan that has one already stands for it from then on: a resumed run has measured it
  /// again.
  void add(const StoredPoint&);
  /// What was read later.
  void add(RunPoints later);
  /// Gives back memory that was held for more points.
  void shrink();

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] bool empty() const { return order_.empty(); }
  [[nodiscard]] const analysis::PointColumns& columns() const { return columns_; }
  /// Rows of the columns, by place in the plan.
  [[nodiscard]] std::span<const Row> rows() const { return order_; }
  /// In the run's file.
  [[nodiscard]] std::int64_t id(Row row) const { return columns_.id(row); }
  /// The largest; 0 without points.
  [[nodiscard]] std::int64_t last_id() const { return last_id_; }

  /// A row of each sort: no two of them alike in all but their lengths and tiles.
  [[nodiscard]] std::vector<Row> sorts() const;
  /// Whether all that is here stands in `other` as well, at the same places.
  [[nodiscard]] bool is_part_of(const RunPoints& other) const;

 private:
  /// Where the row stands in order_.
  void put(Row row);

  analysis::PointColumns columns_;
  std::vector<Row> order_;  ///< by place in the plan
  std::int64_t last_id_ = 0;
};

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
  /// Some of the points of another set; `rows` ascend.
  PointSet(const PointSet& all, std::span<const Row> rows);

  [[nodiscard]] const analysis::PointTable& table() const { return table_; }
  [[nodiscard]] Row size() const { return table_.size(); }
  [[nodiscard]] bool empty() const { return table_.empty(); }
  [[nodiscard]] ShownPoint operator[](Row row) const { return {run_of(row), id(row), table_.spec(row)}; }
  /// Where a point of another set is in this one.
  [[nodiscard]] std::optional<Row> row_of(const ShownPoint& point) const;
  /// In the file of its run.
  [[nodiscard]] std::int64_t id(Row row) const { return table_.points().id(row); }
  [[nodiscard]] const RunPtr& run_of(Row row) const { return runs_[table_.run_index(row)]; }
  [[nodiscard]] const RunInfo& run(analysis::RunIndex index) const { return *runs_[index]; }
  /// The runs of some of the points, each once, in the order of the rows.
  [[nodiscard]] std::vector<RunPtr> runs_of(std::span<const Row> rows) const;

 private:
  std::vector<RunPtr> runs_;  ///< as the table has them
  analysis::PointTable table_;
};

// Where the points of a picture come from, in one line: pictures travel without the window.

/// "NVIDIA H200 · 2026-11-21 · h200.attnscope": the GPUs, the days on which the runs began and the files, of several
/// the first few. Empty without runs.
[[nodiscard]] QString source_note(const std::vector<RunPtr>& runs);

}  // namespace attnscope::ui

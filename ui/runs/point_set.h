// SPDX-License-Identifier: GPL-3.0-or-later
// Points for views: the rows of the analysis table, each with its run and its id in the file.
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

// Points of one run in memory: columns and ids. Full records are read on demand (point_record_reader.h).

using analysis::Row;

class RunPoints {
 public:
  /// Adds a point. A point at the same plan index is replaced, because a resumed run measured it again.
  void add(const StoredPoint&);
  void add(RunPoints later);
  void release_unused_memory();

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] bool empty() const { return order_.empty(); }
  [[nodiscard]] const analysis::PointColumns& columns() const { return columns_; }
  [[nodiscard]] std::span<const Row> rows() const { return order_; }
  [[nodiscard]] std::int64_t id(Row row) const { return columns_.id(row); }
  [[nodiscard]] std::int64_t last_id() const { return last_id_; }

  /// Returns one row per combination of all settings other than lengths and tile.
  [[nodiscard]] std::vector<Row> distinct_settings() const;
  /// Returns true if `other` has all these points at the same plan indices.
  [[nodiscard]] bool is_subset_of(const RunPoints& other) const;

 private:
  void add_to_order(Row row);

  analysis::PointColumns columns_;
  std::vector<Row> order_;  ///< plan order
  std::int64_t last_id_ = 0;
};

using analysis::ProblemFilter;

struct RunInfo {
  QString file;  ///< absolute path
  RunSummary summary;
  QString title = {};    ///< unique title, based on run_title()
  FileStamp stamp = {};  ///< stamp of the file when it was read
  /// Device name that is unique among all open runs; empty if not compared.
  std::string device = {};
  /// Noise between recordings from an open file; null if there is none.
  std::shared_ptr<const analysis::NoiseModel> noise = nullptr;
};
using RunPtr = std::shared_ptr<const RunInfo>;

struct ShownPoint {
  RunPtr run;
  std::int64_t id = 0;  ///< id in the run's file
  PointSpec spec;
};

[[nodiscard]] analysis::Run analysis_run(const RunInfo& run);

class PointSet {
 public:
  struct Part {
    RunPtr run;
    const RunPoints* points = nullptr;  ///< must be valid during construction
    /// Run entry, if computed by the window's thread; otherwise analysis_run() is called.
    std::optional<analysis::Run> run_entry = {};
  };
  PointSet() : PointSet(std::vector<Part>()) {}
  /// Holds all points of these runs.
  explicit PointSet(const std::vector<Part>& parts);
  /// Holds some points of another set; `rows` must be ascending.
  PointSet(const PointSet& all, std::span<const Row> rows);

  [[nodiscard]] const analysis::PointTable& table() const { return table_; }
  [[nodiscard]] Row size() const { return table_.size(); }
  [[nodiscard]] bool empty() const { return table_.empty(); }
  [[nodiscard]] ShownPoint operator[](Row row) const { return {run_of(row), id(row), table_.spec(row)}; }
  /// Returns the row of a point of another set.
  [[nodiscard]] std::optional<Row> row_of(const ShownPoint& point) const;
  [[nodiscard]] std::int64_t id(Row row) const { return table_.points().id(row); }
  [[nodiscard]] const RunPtr& run_of(Row row) const { return runs_[table_.run_index(row)]; }
  [[nodiscard]] const RunInfo& run(analysis::RunIndex index) const { return *runs_[index]; }
  /// Returns the runs of these points, without duplicates, in row order.
  [[nodiscard]] std::vector<RunPtr> runs_of(std::span<const Row> rows) const;

 private:
  std::vector<RunPtr> runs_;
  analysis::PointTable table_;
};

/// Returns "NVIDIA H200 · 2026-11-21 · h200.attnscope": GPUs, start dates and files, each list shortened. Empty without
/// runs.
[[nodiscard]] QString source_note(const std::vector<RunPtr>& runs);

}  // namespace attnscope::ui

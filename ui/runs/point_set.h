// SPDX-License-Identifier: GPL-3.0-or-later
// Points for views: the rows of the analysis table, each with its run and its id in the file.
#pragma once

#include <QString>
#include <QStringList>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
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

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] bool empty() const { return order_.empty(); }
  [[nodiscard]] const analysis::PointColumns& columns() const { return columns_; }
  [[nodiscard]] std::span<const Row> rows() const { return order_; }
  [[nodiscard]] std::int64_t id(Row row) const { return columns_.id(row); }

  [[nodiscard]] bool is_subset_of(const RunPoints& other) const;

 private:
  analysis::PointColumns columns_;
  std::vector<Row> order_;  ///< plan order
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

struct LoadedRun {
  RunPtr info;
  RunPoints points;
  bool visible = true;

  [[nodiscard]] std::size_t size() const { return points.size(); }
};

/// Returns run_title() of each run; runs of one device with equal titles are numbered: "quick", "quick (2)".
[[nodiscard]] std::vector<QString> distinct_titles(const std::vector<LoadedRun>& runs);

/// Returns, by path, the file name with as many folders as needed to be unique ("a/sweep.attnscope").
[[nodiscard]] std::map<QString, QString> distinct_file_names(const QStringList& paths);

/// Finds the copy of a run with the most points (the first if equal), which represents all copies. `runs` must outlive
/// this.
class RunCopies {
 public:
  explicit RunCopies(const std::vector<LoadedRun>& runs);
  /// Returns the index of the copy that represents `copy`; nullopt if it represents itself.
  [[nodiscard]] std::optional<std::size_t> of(std::size_t copy, bool checked_only) const;

 private:
  const std::vector<LoadedRun>& runs_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_uid_;
};

}  // namespace attnscope::ui

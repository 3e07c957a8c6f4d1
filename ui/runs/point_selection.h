// SPDX-License-Identifier: GPL-3.0-or-later
// Files with more points than are kept in memory: of every point what it was set to and how it ended, and of those that
// the filter leaves so many with their values. What is chosen is chosen in a thread of its own.
#pragma once

#include <QString>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "profiler/analysis/point_query.h"
#include "storage/run_store.h"
#include "ui/process/live.h"
#include "ui/runs/point_set.h"
#include "ui/runs/run_points.h"

namespace attnscope::ui {

/// Of the points of a file that has more, so many are read with their values. A filter over so many is answered on
/// every page within the 200 ms that nobody takes for waiting (`bench_ui`); of ten times as many it takes two seconds.
inline constexpr std::size_t most_points_loaded = 100'000;

/// What the points of a run were set to and how they ended, without their values.
struct RunSettings {
  RunPoints points;
  std::vector<PointSpec> kinds = {};  ///< of each of RunPoints::sorts()
  /// When all of them were read, and how long that took, for who reads them again while rounds are added.
  std::chrono::steady_clock::time_point read_at = {};
  std::chrono::steady_clock::duration took = {};
};
using SettingsPtr = std::shared_ptr<const RunSettings>;

/// How far a file is read, for whoever waits: the reader's thread counts.
struct ReadProgress {
  std::atomic<std::size_t> read = 0;
  std::atomic<std::size_t> total = 0;  ///< 0 until the file's runs are known
};

/// All points of the ticked runs.
struct Listing {
  std::shared_ptr<const PointSet> points;  ///< of large files without values
  std::vector<bool> without_values;        ///< by run of these points
  std::vector<Row> rows;                   ///< those that the filter leaves, ascending

  [[nodiscard]] bool lacks_values(Row row) const { return without_values[points->table().run_index(row)]; }
};

/// What is wanted of which runs. Nothing of it is written while a selection is made.
struct SelectionAsk {
  struct Part {
    RunPtr run;
    SettingsPtr settings;
    analysis::Run told;
    std::vector<std::int64_t> loaded;  ///< ids of the points that are in memory
  };
  std::vector<Part> large;                 ///< ticked runs of large files
  std::shared_ptr<const PointSet> ticked;  ///< what is in memory
  std::vector<Row> others;                 ///< of which these rows are of no large file
  analysis::PointQuery query;
  std::shared_ptr<const Listing> before;  ///< with the same points; null where they are others
  std::size_t most = most_points_loaded;
  std::shared_ptr<ReadProgress> progress = std::make_shared<ReadProgress>();
};

struct Selection {
  std::shared_ptr<const Listing> listing;
  bool reads = false;                                            ///< not all that was chosen was in memory
  std::map<std::pair<QString, std::int64_t>, RunPoints> points;  ///< then all that was chosen, by file and run
  std::map<QString, QString> skipped;                            ///< rows that were left out, a sentence a file
  QString file;                                                  ///< that could not be read, and why
  QString error;
};
/// Of points that fit, the latest are chosen. Words of the query that are about metrics are judged after reading, of
/// all points that the others leave. Where it becomes outdated, what is returned is of no use. Never throws: memory
/// that runs out is an error of the first file.
[[nodiscard]] Selection select_points(const SelectionAsk& ask, const Outdated& outdated);

/// Whether the file is no longer the one that this run was read from, though it may have its place, or its inode.
[[nodiscard]] bool is_replaced(const RunStore& store, const RunInfo& run);

/// Rows that this has skipped, one sentence; empty when there are none.
[[nodiscard]] QString skipped_rows(const QString& path, std::span<const BadRow> rows);

}  // namespace attnscope::ui

// SPDX-License-Identifier: Apache-2.0
// The runs of files as one table: what results, comparisons and reports are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/points/point_table.h"
#include "profiler/report/report.h"
#include "storage/run_store.h"

namespace attnscope {

struct RunSource {
  std::filesystem::path file;
  std::vector<std::int64_t> runs = {};  ///< by number; empty: all
};

struct LoadRequest {
  std::function<void(const RunStore&)> opened = {};  ///< before its points are read
  std::function<void(const RunStore&)> read = {};    ///< for what reading skipped
  std::vector<StoredNoise> noise = {};               ///< in addition to that of the files
  bool files_in_titles = false;                      ///< runs are called by their file, too, where there are several
  bool keep_points = false;                          ///< as LoadedRuns::points
};

/// A run that several files hold is one run; of each point of it the copy with the most rounds stands.
struct LoadedRuns {
  analysis::PointTable table;
  std::vector<RunSummary> runs;           ///< by run of the table, as its fullest copy has it; `uid` is never empty
  std::vector<std::string> files;         ///< by run: of that copy, as it was given
  std::vector<report::PointFacts> facts;  ///< by row
  std::vector<StoredPoint> points;        ///< by row, where they were asked for
  /// By file, as it was given, and the run's number in it.
  std::map<std::pair<std::filesystem::path, std::int64_t>, analysis::RunIndex> places;
  /// Rows of the points that a file holds, also those that stand as the copy of another file; none after keep().
  std::map<std::pair<std::filesystem::path, std::int64_t>, std::vector<analysis::Row>> rows_held;
  std::vector<StoredCeilings> ceilings;  ///< of all files, each once
  std::size_t fuller_copies = 0;         ///< points that stand as a later copy, which has more rounds
  std::size_t unverified_runs = 0;       ///< copies without a checksum
  std::size_t damaged_rows = 0;          ///< that reading skipped, of all files
  Message first_damage;

  /// Leaves these rows, ascending, and their runs.
  void keep(std::span<const analysis::Row> rows);
};
/// Throws FileError.
[[nodiscard]] LoadedRuns load_runs(const std::vector<RunSource>&, const LoadRequest& = {});

/// For a report. `filter`: the words that the rows were kept by; `all`: as many as there were before.
[[nodiscard]] report::Input report_input(LoadedRuns, const std::string& version, const std::string& filter = {},
                                         std::size_t all = 0);

/// True if `output` holds measurements; a report must not replace it.
[[nodiscard]] bool holds_measurements(const std::filesystem::path& output, const std::vector<RunSource>&);

}  // namespace attnscope

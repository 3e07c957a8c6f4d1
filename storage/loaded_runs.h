// SPDX-License-Identifier: Apache-2.0
// Loads the runs of several files as one table, for results, comparisons and reports.
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
  std::vector<std::int64_t> runs = {};  ///< run ids; empty: all
};

struct LoadRequest {
  std::function<void(const RunStore&)> opened = {};  ///< called before the points of a file are read
  std::function<void(const RunStore&)> read = {};    ///< called after the points of a file were read
  std::function<void(std::size_t)> progress = {};    ///< called every 1000 points with the number read so far
  std::vector<StoredNoise> noise = {};               ///< added to the noise stored in the files
  bool file_names_in_titles = false;                 ///< run titles include the file name if there are several files
  bool keep_points = false;                          ///< fills LoadedRuns::points
};

/// Loads a run that several files contain once; each of its points comes from the copy with the most rounds.
struct LoadedRuns {
  analysis::PointTable table;
  std::vector<RunSummary> runs;    ///< indexed by RunIndex, from the copy with the most rounds; `uid` is never empty
  std::vector<std::string> files;  ///< indexed by RunIndex: file of that copy, as given
  std::vector<report::PointFacts> facts;  ///< indexed by row
  std::vector<StoredPoint> points;        ///< indexed by row; filled if requested
  /// Maps a file (as given) and a run id in it to the run.
  std::map<std::pair<std::filesystem::path, std::int64_t>, analysis::RunIndex> places;
  /// Maps a file and a run id in it to the rows of its points, including those replaced by another file's copy. Empty
  /// after keep().
  std::map<std::pair<std::filesystem::path, std::int64_t>, std::vector<analysis::Row>> rows_by_run;
  std::vector<StoredCeilings> ceilings;  ///< ceilings of all files, without duplicates
  std::size_t fuller_copies = 0;         ///< points replaced by a later copy with more rounds
  std::size_t unverified_runs = 0;       ///< copies without a checksum
  std::size_t damaged_rows = 0;          ///< rows skipped in all files
  Message first_damage;

  /// Keeps only these rows (ascending) and their runs.
  void keep(std::span<const analysis::Row> rows);
};
/// Throws FileError.
[[nodiscard]] LoadedRuns load_runs(const std::vector<RunSource>&, const LoadRequest& = {});

/// Returns the input of a report. `filter`: query that selected the rows; `all`: number of rows before filtering.
[[nodiscard]] report::Input report_input(LoadedRuns, const std::string& version, const std::string& filter = {},
                                         std::size_t all = 0);

/// Returns true if `output` holds measurements; a report must not replace it.
[[nodiscard]] bool contains_measurements(const std::filesystem::path& output, const std::vector<RunSource>&);

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// The points that a command reads: of which files, and which of them by --filter, in the window's words
// (point_query.h).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "app/command.h"
#include "profiler/points/point_table.h"
#include "storage/loaded_runs.h"

namespace attnscope {

/// Returns `given`, or if empty the recorded `samples` (profiler/files/recorded_samples.h) and notes that on stderr.
/// Throws CommandError if there are none.
[[nodiscard]] std::vector<std::string> files_or_samples(const std::vector<std::string>& given,
                                                        const std::vector<std::string>& samples);
/// The same of one file.
[[nodiscard]] std::string file_or_sample(const std::string& given);

CLI::Option* add_filter_option(CLI::App& command, std::string& words);

/// Ascending; all of them where `words` is empty. Throws CommandError: for words that are none (usage), and where no
/// point fits them.
[[nodiscard]] std::vector<analysis::Row> rows_that_fit(const std::string& words, const analysis::PointTable& table);

struct LoadedPoints : LoadedRuns {
  ExitCode code = ExitCode::ok;  ///< partial where rows were skipped, which was said

  /// Point ids in the file, by row.
  [[nodiscard]] std::vector<std::int64_t> ids() const;
};

/// `filter`: only the points that fit these words. Throws FileError and CommandError.
[[nodiscard]] LoadedPoints load_points(const std::vector<std::string>& files, const std::string& filter = {},
                                       bool keep_points = false);

/// The measured points of files, each with the run it was measured in: what predictions are compared with.
class MeasuredPoints {
 public:
  /// Loads the ok points of measured runs that match `filter` (point_query.h), each once. Throws CommandError if a file
  /// has none, whatever the filter.
  explicit MeasuredPoints(const std::vector<std::string>& files, const std::string& filter = {});

  struct Point {
    const PointRecord& record;
    const RunSummary* run = nullptr;  ///< unique by uid
    const std::string& device_uuid;   ///< of what ran it
  };
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  /// Of all files.
  [[nodiscard]] const std::vector<StoredCeilings>& ceilings() const { return loaded_.ceilings; }
  /// With what reading skipped, of any of the files.
  [[nodiscard]] ExitCode with_skipped(ExitCode code) const { return code == ExitCode::ok ? loaded_.code : code; }

 private:
  LoadedPoints loaded_;
  std::vector<Point> points_;
};

}  // namespace attnscope

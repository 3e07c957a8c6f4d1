// SPDX-License-Identifier: Apache-2.0
// Loads the points that a command reads, and applies --filter (point_query.h).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/status_line.h"
#include "profiler/points/point_table.h"
#include "storage/loaded_runs.h"

namespace attnscope {

/// Returns `given`, or the recorded `samples` if it is empty, with a note on stderr. Throws CommandError if there are
/// no samples.
[[nodiscard]] std::vector<std::string> files_or_samples(const std::vector<std::string>& given,
                                                        const std::vector<std::string>& samples);
/// The same for one file.
[[nodiscard]] std::string file_or_sample(const std::string& given);

CLI::Option* add_filter_option(CLI::App& command, std::string& words);

/// Returns the matching rows in ascending order; all rows if `words` is empty. Throws CommandError for an invalid
/// filter (usage) or if no point matches.
[[nodiscard]] std::vector<analysis::Row> matching_rows(const std::string& words, const analysis::PointTable& table);

/// Returns a request that shows progress and reports skipped rows, which change `code`. Both must outlive it.
[[nodiscard]] LoadRequest load_request(StatusLine& status, ExitCode& code);

/// Adds --noise.
void add_noise_option(CLI::App& command, std::string& file);
/// Reads the noise floor of a file. Throws FileError, and CommandError if it has none.
[[nodiscard]] std::vector<StoredNoise> read_noise(const std::string& file, ExitCode& code);
/// Throws CommandError if the noise floor of `file`, given to load_runs(), belongs to none of the runs.
void require_noise(const LoadedRuns&, const std::string& file);

struct LoadedPoints : LoadedRuns {
  ExitCode code = ExitCode::ok;  ///< partial if damaged rows were skipped

  /// Point ids in the file, by row.
  [[nodiscard]] std::vector<std::int64_t> ids() const;
};

/// Throws FileError and CommandError.
[[nodiscard]] LoadedPoints load_points(const std::vector<std::string>& files, const std::string& filter = {},
                                       bool keep_points = false);

/// Measured points of files, each with its run; predictions are compared with them.
class MeasuredPoints {
 public:
  /// Loads the ok points of measured runs that match `filter` (point_query.h), each once. Throws CommandError if a file
  /// has no measured point at all.
  explicit MeasuredPoints(const std::vector<std::string>& files, const std::string& filter = {});

  struct Point {
    const PointRecord& record;
    const RunSummary* run = nullptr;  ///< unique by uid
    const std::string& device_uuid;   ///< UUID of the measuring device
  };
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] const std::vector<StoredCeilings>& ceilings() const { return loaded_.ceilings; }
  /// Returns `partial` instead of `ok` if damaged rows were skipped.
  [[nodiscard]] ExitCode exit_code_after_skips(ExitCode code) const {
    return code == ExitCode::ok ? loaded_.code : code;
  }

 private:
  LoadedPoints loaded_;
  std::vector<Point> points_;
};

}  // namespace attnscope

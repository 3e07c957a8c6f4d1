// SPDX-License-Identifier: Apache-2.0
// What a report is made of, read from files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/report/report.h"
#include "storage/run_store.h"

namespace attnscope {

struct ReportSource {
  std::filesystem::path file;
  std::vector<std::int64_t> runs = {};  ///< by number; empty: all
};

struct ReportPoints {
  report::Input input;
  /// By file, as it was given, and the run's number in it. A run that several files hold is one.
  std::map<std::pair<std::filesystem::path, std::int64_t>, analysis::RunIndex> places;
};
/// Throws FileError. `read` is called with each file that was read, for what reading skipped.
[[nodiscard]] ReportPoints read_report_points(const std::vector<ReportSource>& sources, const std::string& version,
                                              const std::function<void(const RunStore&)>& read = {});
/// Leaves the points of these rows, ascending, and the runs that they are of; `filter` is what chose them.
[[nodiscard]] ReportPoints only_rows(ReportPoints, std::span<const analysis::Row> rows, std::string filter);

/// Where measurements are, which no report replaces.
[[nodiscard]] bool holds_measurements(const std::filesystem::path& output, const std::vector<ReportSource>&);

}  // namespace attnscope

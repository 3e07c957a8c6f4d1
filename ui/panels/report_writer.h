// SPDX-License-Identifier: GPL-3.0-or-later
// Writes reports from the files, as `attnscope report` does.
#pragma once

#include <QString>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/report_points.h"

namespace attnscope::ui {

struct ReportWish {
  std::vector<ReportSource> sources;  ///< with the runs of each
  /// The run that all others are held to: its file, as `sources` has it, and its number there.
  std::optional<std::pair<std::filesystem::path, std::int64_t>> baseline;
  std::vector<std::string> sections;  ///< keys
  std::string filter = {};            ///< as the window's query bar takes it; empty: all points
  std::string title;                  ///< empty: made of what was measured
  std::filesystem::path output;
};

struct ReportOutcome {
  QString error;    ///< one line; empty: it is written
  QString warning;  ///< what it lacks, where it is written; one line
};
/// In any thread. Never throws.
[[nodiscard]] ReportOutcome write_report_of(const ReportWish& wish);

}  // namespace attnscope::ui

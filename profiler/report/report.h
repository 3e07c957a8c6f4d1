// SPDX-License-Identifier: Apache-2.0
// Report of points, and its files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/ceilings.h"
#include "kernels/model/result.h"
#include "profiler/compare/comparison.h"
#include "profiler/files/output_file.h"
#include "profiler/metrics/manifest.h"
#include "profiler/points/point_table.h"
#include "profiler/report/document.h"

namespace attnscope::report {

/// Facts of a run in addition to its points. Empty if the file does not contain them.
struct RunFacts {
  std::string file;
  std::string state;  ///< "complete"
  std::string started_at;
  std::string finished_at;  ///< empty if the run did not end
  std::vector<std::string> argv;
  std::string program;
  std::string driver;
  std::string cupti;
  std::string nvrtc;
  std::string system;
  bool counters = false;
  int min_samples = 0;
  int max_samples = 0;
  double max_noise = 0;
  int rounds = 1;  ///< planned rounds
  std::string simulation_reason;
  std::string l2_source;
  std::string rates_source;
  std::size_t looks = 1;  ///< see ComparisonRequest
  analysis::RunConditions conditions;
};

/// Facts of a point that the point table does not have.
struct PointFacts {
  std::optional<double> max_abs_error = {};
  std::optional<double> error_bound = {};
  std::shared_ptr<const StoredManifest> manifest = nullptr;  ///< only for user-defined kernels
};

struct CeilingFacts {
  std::string device_id;
  std::string device_name;
  std::string measured_at;  ///< ISO 8601, UTC
  std::vector<Ceiling> ceilings;
};

struct Input {
  analysis::PointTable table;
  std::vector<RunFacts> runs;      ///< index: run of the table
  std::vector<PointFacts> points;  ///< index: row of the table
  std::vector<CeilingFacts> ceilings;
  /// Points that occur in several files and whose copy with the most rounds is not the first one; that copy is in
  /// `table`.
  std::size_t fuller_copies = 0;
  /// Damaged rows of the files, skipped with all dependent data; location and cause of the first.
  std::size_t damaged_rows = 0;
  Message first_damage;
  std::size_t unverified_runs = 0;
  std::string filter;                ///< filter that selected the points; empty if none
  std::size_t unfiltered_count = 0;  ///< with a filter: number of points without it
  std::string version;
};

struct Request {
  std::string title = {};  ///< empty: generated from the contents
  /// Baseline runs of the table; empty: no comparison.
  std::vector<analysis::RunIndex> baseline = {};
  std::optional<analysis::ComparedTiles> tiles = {};  ///< default: see parse_alignment()
  /// Called with the number of the section that is computed next, from 1 to report_steps.
  std::function<void(std::size_t)> progress = [](std::size_t) {};
};
inline constexpr std::size_t report_steps = 6;

/// Fails if there are no points.
[[nodiscard]] Result<Document, Message> make_report(const Input&, const Request&);

/// Returns whether the extension is .html or .md.
[[nodiscard]] bool is_report_name(const std::filesystem::path&);
/// Writes NAME.html, or NAME.md with pictures and tables in NAME-figures next to it. Throws FileError and then leaves
/// no partial files. Pre: is_report_name().
void write_report(const Document&, const std::filesystem::path& output, OutputFile::ExistingFile);

}  // namespace attnscope::report

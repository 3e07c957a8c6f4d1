// SPDX-License-Identifier: Apache-2.0
// Sides of a comparison, FILE, FILE:RUN (run number) or FILE:FILTER (point_query.h), and its output.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "profiler/compare/comparison.h"
#include "profiler/compare/comparison_view.h"

namespace attnscope {

/// All runs of all files in one table, and the rows of each side. A run in several files is loaded once; for each
/// point, the copy with the most rounds.
struct ComparedSides {
  struct Candidate {
    std::string name;
    std::vector<analysis::Row> rows;
  };
  analysis::PointTable table;
  std::vector<analysis::Row> base;
  std::string base_name;
  std::vector<Candidate> candidates;  ///< one per argument or run; repeated recordings of one thing are one candidate
  std::vector<analysis::RunConditions> conditions;  ///< one per run
  std::vector<std::string> files;  ///< by run: the file with its most complete copy, as given by the user
  bool halves = false;    ///< both sides come from runs of two sides (storage/compared_runs.h) and need no alignment
  std::size_t looks = 1;  ///< interim analyses: the maximum over the runs of both sides
  ExitCode code = ExitCode::ok;  ///< `partial` if damaged rows were skipped
};

/// Loads both sides. If `other` is empty, compares the first file with the rest; or a single file's first run with its
/// other runs; or the two sides within its runs (storage/compared_runs.h). Throws CommandError for an unknown file or
/// run, for equal sides, and for a baseline whose recordings differ (profiler/compare/recordings.h). `noise`: file with
/// an additional noise floor; may be empty. `filter`: applied to both sides (loaded_points.h).
[[nodiscard]] ComparedSides compared_sides(std::vector<std::string> base, std::vector<std::string> other,
                                           const std::string& noise, const std::string& filter = {});

/// Adds --tiles.
void add_tiles_option(CLI::App& command, std::optional<analysis::ComparedTiles>& tiles);

/// Compares both sides. `margin_percent`: 0 for the default. Throws CommandError (usage) for an unknown name in
/// `align`, or if it contradicts `tiles`.
[[nodiscard]] analysis::ComparisonView view_of(const ComparedSides&, const std::vector<std::string>& align,
                                               double margin_percent,
                                               std::optional<analysis::ComparedTiles> tiles = {});

/// Prints the comparison. `failing`: pairs that JUnit reports as failures. Escapes text from files in every format.
void print(const ComparedSides&, const analysis::ComparisonView&, Output&,
           const std::vector<const analysis::ComparedPair*>& failing = {});

}  // namespace attnscope

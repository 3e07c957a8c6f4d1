// SPDX-License-Identifier: Apache-2.0
// The sides of a comparison as people name them: FILE, FILE:RUN (its number) or FILE:FILTER (point_query.h).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "app/command.h"
#include "profiler/compare/comparison.h"

namespace attnscope {

/// All runs of all files as one table, and which rows each side means. A run that several files hold is one run; of a
/// point of it the copy with the most rounds stands.
struct ComparedSides {
  analysis::PointTable table;
  std::vector<analysis::Row> base;
  std::vector<analysis::Row> other;
  std::string base_name;
  std::string other_name;
  std::vector<analysis::RunConditions> conditions;  ///< by run
  std::vector<std::string> files;                   ///< by run: the file of its fullest copy, as named
  bool halves = false;           ///< of runs of two sides (storage/compared_runs.h), which no alignment has to find
  std::size_t looks = 1;         ///< the most that a run of either side went on by
  ExitCode code = ExitCode::ok;  ///< `partial` where reading skipped rows
};

/// Without `other`: the first word against the rest, or, of one word, its first run against the others; where all its
/// runs are of two sides, those against each other. Throws
/// CommandError for words that name nothing, and for sides that are the same. `noise`: a file with what recordings
/// differ by, beside what the sides' files have; empty for none. `filter`: of both sides only the points that fit
/// these words (loaded_points.h).
[[nodiscard]] ComparedSides compared_sides(std::vector<std::string> base, std::vector<std::string> other,
                                           const std::string& noise, const std::string& filter = {});

}  // namespace attnscope

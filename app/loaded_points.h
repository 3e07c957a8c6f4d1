// SPDX-License-Identifier: Apache-2.0
// The points of several files as one table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/command.h"
#include "profiler/analysis/point_table.h"
#include "storage/run_store.h"

namespace attnscope {

/// The runs of all files as one table, and where each of them is kept.
struct LoadedPoints {
  analysis::PointTable table;
  std::vector<std::string> files;        ///< by run
  std::vector<std::int64_t> ids;         ///< by row: what its file knows the point by
  std::vector<StoredCeilings> ceilings;  ///< of all files
  ExitCode code = ExitCode::ok;          ///< partial where rows were skipped, which was said
};
/// What tables of points know of a run.
[[nodiscard]] analysis::Run analysis_run(const RunSummary&);

/// `filter`: only the points that fit these words (point_filter.h). Throws StorageError and CommandError.
[[nodiscard]] LoadedPoints load_points(const std::vector<std::string>& files, const std::string& filter = {});

}  // namespace attnscope

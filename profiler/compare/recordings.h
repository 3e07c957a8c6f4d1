// SPDX-License-Identifier: Apache-2.0
// Recordings of one side of a comparison: which ones repeat the same measurement and may be pooled.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Conditions in which two runs differ: device, provenance, program version, options, simulated L2. Runs without
/// differences measured points in the same way. Imported runs state too little and differ from any other run.
[[nodiscard]] std::vector<Message> recording_differences(const PointTable&, RunIndex, RunIndex);

struct RecordingGroup {
  std::vector<Row> rows;             ///< ascending
  std::vector<std::size_t> sources;  ///< indices of the sources it has rows of, ascending
  std::vector<RunIndex> runs;
  std::size_t pooled = 1;                 ///< recordings of the point that has the most
  std::vector<Message> differences = {};  ///< from the first group

  /// Returns `name` with the number of pooled recordings, if several are.
  [[nodiscard]] std::string title(const std::string& name) const;
};
/// Groups the rows of each source (an argument of the command line) by run. Runs of one source form a group unless they
/// repeat a point in other conditions or with other kernel sources, or ran on another device. Runs of different sources
/// form a group only if they repeat each other: the same plan with common points in the same conditions.
[[nodiscard]] std::vector<RecordingGroup> group_recordings(const PointTable&,
                                                           std::span<const std::vector<Row>> sources);

}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
// The runs and points that an export is made of. Internal to storage/exchange.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "storage/run_store.h"

namespace attnscope::exchange {

struct Selection {
  std::vector<RunSummary> runs;
  std::vector<StoredPoint> points;
};

/// `wanted` empty: all runs. Throws FileError for a run that the file does not have.
[[nodiscard]] Selection select(const RunStore& store, std::span<const std::int64_t> wanted);

/// Leaves the points of these ids.
void keep_points(Selection& selection, std::span<const std::int64_t> ids);

/// Calls visit(run, point) for each point, in the points' order.
template <class Visit>
void for_each_point(const Selection& selection, Visit&& visit) {
  std::map<std::int64_t, const RunSummary*> run_of;
  for (const RunSummary& run : selection.runs) run_of.emplace(run.id, &run);
  for (const StoredPoint& point : selection.points) {
    const auto run = run_of.find(point.run_id);
    if (run != run_of.end()) visit(*run->second, point);  // else begun after the list of runs was read
  }
}

}  // namespace attnscope::exchange

// SPDX-License-Identifier: Apache-2.0
#include "app/measured_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/own_kernels.h"

namespace attnscope {

MeasuredPoints::MeasuredPoints(std::span<const std::string> files, const std::string& filter) {
  std::set<std::pair<std::string, std::size_t>> seen;  // runs keep their uid in copies
  for (const std::string& file : files) {
    const RunStore& store =
        *stores_.emplace_back(std::make_unique<RunStore>(RunStore::open(file, RunStore::Mode::read_only)));
    know_kernels_of(store);
    std::map<std::int64_t, const RunSummary*> measured;
    for (RunSummary& run : store.runs()) {
      if (run.provenance != Provenance::measured) continue;
      const std::int64_t id = run.id;
      if (run.uid.empty()) run.uid = fmt::format("{} of {}", id, file);
      measured[id] = runs_.emplace_back(std::make_unique<const RunSummary>(std::move(run))).get();
    }
    bool any = false;
    for (StoredPoint& point : store.points()) {
      const auto run = measured.find(point.run_id);
      if (run == measured.end() || point.record.disposition != Disposition::ok) continue;
      any = true;
      if (!seen.insert({run->second->uid, point.index}).second) continue;
      points_.push_back({.record = std::move(point.record), .run = run->second, .device_uuid = point.device_uuid});
    }
    std::ranges::move(store.ceilings(), std::back_inserter(ceilings_));
    if (!any)
      throw CommandError(
          ExitCode::error,
          "{} holds no point that was measured on a GPU, so there is nothing to compare a prediction with", file);
  }
  if (filter.empty()) return;
  analysis::PointTableBuilder builder;
  std::map<const RunSummary*, analysis::RunIndex> runs;
  for (const Point& point : points_) {
    const auto [run, first] = runs.try_emplace(point.run, 0);
    if (first) run->second = builder.add_run(analysis_run(*point.run));
    builder.add(run->second, point.record);
  }
  std::vector<Point> fitting;
  for (const analysis::Row row : rows_that_fit(filter, std::move(builder).finish())) {
    fitting.push_back(std::move(points_[row]));
  }
  points_ = std::move(fitting);
}

ExitCode MeasuredPoints::with_skipped(ExitCode code) const {
  for (const std::unique_ptr<RunStore>& store : stores_) code = with_skipped_rows(*store, code);
  return code;
}

}  // namespace attnscope

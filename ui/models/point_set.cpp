// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/point_set.h"

#include <unordered_map>
#include <utility>

#include "ui/format.h"

namespace attnscope::ui {

analysis::Run analysis_run(const RunInfo& info) {
  const RunSummary& summary = info.summary;
  analysis::Run run;
  run.device_id = summary.device_uuid;
  run.device_name = summary.device_name;
  run.label = run_title(summary).toStdString();
  run.title = info.title.isEmpty() ? run.label : info.title.toStdString();
  run.started_at = summary.started_at;
  run.provenance = summary.provenance;
  run.limits = summary.limits;
  return run;
}

PointSet::PointSet(std::vector<ShownPoint> points) : points_(std::move(points)) {
  std::unordered_map<const RunInfo*, analysis::RunIndex> places;
  analysis::PointTableBuilder builder;
  for (const ShownPoint& point : points_) {
    const auto [place, fresh] = places.try_emplace(point.run.get(), static_cast<analysis::RunIndex>(runs_.size()));
    if (fresh) {
      builder.add_run(analysis_run(*point.run));
      runs_.push_back(point.run.get());
    }
    builder.add(place->second, point.record());
  }
  table_ = std::move(builder).finish();
}

std::vector<ShownPoint> PointSet::select(std::span<const Row> rows) const {
  std::vector<ShownPoint> selected;
  selected.reserve(rows.size());
  for (const Row row : rows) selected.push_back(points_[row]);
  return selected;
}

}  // namespace attnscope::ui

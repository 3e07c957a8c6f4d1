// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_set.h"

#include <algorithm>
#include <utility>

#include "storage/compared_runs.h"
#include "ui/text/format.h"

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
  run.l2_from = summary.l2_from;
  run.planned_points = summary.planned_points;
  set_rounds(summary, run);
  run.device = info.device;
  run.noise = info.noise;
  run.name = summary.words.name;
  run.tags = summary.words.tags;
  return run;
}

PointSet::PointSet(const std::vector<Part>& parts, std::span<const Field> fields) {
  analysis::PointTableBuilder builder(analysis::Algorithms::known(), fields);
  for (const Part& part : parts) {
    if (part.points->empty()) continue;
    runs_.push_back(part.run);
    builder.add(builder.add_run(part.told ? *part.told : analysis_run(*part.run)), part.points->columns(),
                part.points->rows());
    ids_.reserve(ids_.size() + part.points->size());
    for (const Row row : part.points->rows()) ids_.push_back(part.points->id(row));
  }
  table_ = std::move(builder).finish();
}

PointSet::PointSet(const PointSet& all, std::span<const Row> rows, std::span<const Field> fields) {
  analysis::PointTableBuilder builder(analysis::Algorithms::known(), fields);
  // A run's rows stand together.
  for (std::span<const Row> rest = rows; !rest.empty();) {
    const analysis::RunIndex run = all.table().run_index(rest.front());
    const auto end = std::ranges::find_if(rest, [&](Row row) { return all.table().run_index(row) != run; });
    const auto of_run = rest.first(static_cast<std::size_t>(end - rest.begin()));
    runs_.push_back(all.runs_[run]);
    builder.add(builder.add_run(all.table().runs()[run]), all.table().points(), of_run);
    for (const Row row : of_run) ids_.push_back(all.ids_[row]);
    rest = rest.subspan(of_run.size());
  }
  table_ = std::move(builder).finish();
  table_.take_values(all.table(), rows);  // a filter asks for the same ones again
}

std::optional<Row> PointSet::row_of(const ShownPoint& point) const {
  for (Row row = 0; row < size(); ++row) {
    if (ids_[row] != point.id) continue;
    const RunInfo& run = *run_of(row);
    if (run.file == point.run->file && run.summary.id == point.run->summary.id) return row;
  }
  return std::nullopt;
}

std::vector<RunPtr> PointSet::runs_of(std::span<const Row> rows) const {
  std::vector<RunPtr> found;
  for (const Row row : rows) {
    const RunPtr& run = run_of(row);
    if (std::ranges::find(found, run) == found.end()) found.push_back(run);
  }
  return found;
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/fixtures.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/registry.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/tilemap/plot_list.h"
#include "ui/models/result_model.h"
#include "ui/panels/point_summary.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui::fixtures {

DeviceInfo device(bool simulated) {
  DeviceInfo info;
  info.limits = *find_gpu("H200");
  info.simulated = simulated;
  info.uuid = simulated ? "SIM-H200" : "GPU-00000000-1111-2222-3333-444444444444";
  return info;
}

std::vector<TestPoint> shown(const std::vector<PointRecord>& records, bool simulated, std::int64_t run) {
  auto info = std::make_shared<RunInfo>();
  info->file = QStringLiteral("/nowhere.attnscope");
  info->summary.id = run;
  const DeviceInfo gpu = device(simulated);
  info->summary.device_name = gpu.limits.name;
  info->summary.device_uuid = gpu.uuid;
  info->summary.simulated = simulated;
  if (simulated) info->summary.provenance = Provenance::simulated;
  if (!records.empty() && !simulated) info->summary.provenance = records.front().provenance;
  info->summary.preset = "test";
  info->title = QStringLiteral("test %1").arg(run);
  info->summary.limits = gpu.limits;
  info->summary.state = StoredRunState::complete;
  std::vector<TestPoint> points;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto id = static_cast<std::int64_t>(i + 1);
    points.push_back({info, std::make_shared<StoredPoint>(StoredPoint{id, run, i, gpu.uuid, records[i]})});
  }
  return points;
}

std::shared_ptr<const PointSet> set_of(const std::vector<TestPoint>& points) {
  std::vector<std::pair<RunPtr, RunPoints>> runs;
  for (const TestPoint& point : points) {
    auto run = std::ranges::find(runs, point.run, &std::pair<RunPtr, RunPoints>::first);
    if (run == runs.end()) run = runs.insert(run, {point.run, RunPoints()});
    run->second.add(*point.point);
  }
  std::vector<PointSet::Part> parts;
  for (const auto& [run, its] : runs) parts.push_back({run, &its});
  return std::make_shared<const PointSet>(parts);
}

QString describe_point_html(const TestPoint& point, const QPalette& palette) {
  static const std::vector<Field> settings = point_settings();
  return describe_point(*point.run, point.record(), palette, settings).html;
}

PointRecord record_of(const ShownPoint& point) {
  const RunStore store = RunStore::open(point.run->file.toStdString(), RunStore::Mode::read_only);
  return store.point(point.id).value().record;
}

std::vector<PointRecord> simulated_naive(std::initializer_list<std::int64_t> lengths) {
  const auto gpu = make_simulated_device(*find_gpu("H200"), built_in_algorithms());
  std::vector<PointRecord> records;
  for (const std::int64_t n : lengths) {
    PointSpec point = spec("naive", n, 128, 128);
    point.problem.heads_q = point.problem.heads_kv = 3;
    records.push_back(gpu->measure(point, {}, {}));
  }
  return records;
}

CurveSet curves_of(const std::vector<TestPoint>& points, const CurveRequest& request) {
  auto set = set_of(points);
  ProblemFilter filter = analysis::curve_filter();
  filter.update(set->table(), set->table().rows());
  return build_curves(std::move(set), filter, request);
}

analysis::TileMap heatmap_of(const PointSet& points, std::string_view metric) {
  ProblemFilter filter = analysis::map_filter();
  filter.update(points.table(), points.table().rows());
  return analysis::build_tile_map(points.table(), filter.rows(), metric);
}

namespace {

RunHeader run_header(const TestRun& run) {
  RunHeader header;
  header.device = device(run.simulated);
  if (!run.gpu.empty()) {
    header.device.limits = *find_gpu(run.gpu);
    header.device.uuid = "GPU-" + run.gpu;
    if (run.simulated) header.device.l2_source = device(false).limits.name;
  }
  header.environment.app_version = "0.1.0";
  header.environment.driver_version = "580.65";
  header.environment.nvrtc_version = "13.0";
  header.environment.cupti_version = "13.0";
  header.preset = run.preset;
  header.argv = {"attnscope", "collect", "--preset", run.preset};
  header.plan_hash = run.preset;
  header.planned_points = run.points.size();
  header.imported = run.imported;
  return header;
}

}  // namespace

void write_file(const QString& path, const std::vector<TestRun>& runs) {
  RunStore store = RunStore::open(path.toStdString(), RunStore::Mode::collect);
  for (const TestRun& run : runs) {
    const std::int64_t id = store.begin_run(run_header(run));
    for (std::size_t i = 0; i < run.points.size(); ++i) store.add_point(id, i, run.points[i]);
    store.finish_run(id, StoredRunState::complete);
  }
}

void write_in_transaction(const QString& path, TestRun run) {
  RunStore store = RunStore::open(path.toStdString(), RunStore::Mode::collect);
  CompleteRun whole{.header = run_header(run), .points = std::move(run.points)};
  (void)store.add_complete_runs({&whole, 1});
}

QString cell_named(const QAbstractItemModel& model, int row, const char* key) {
  const int column = dynamic_cast<const ResultModel&>(model).find_column_index(key);
  return column < 0 ? QString() : model.index(row, column).data().toString();
}

}  // namespace attnscope::ui::fixtures

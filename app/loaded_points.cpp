// SPDX-License-Identifier: Apache-2.0
#include "app/loaded_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "app/own_kernels.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/plan/text.h"
#include "profiler/points/point_query.h"
#include "storage/compared_runs.h"

namespace attnscope {

std::vector<std::string> files_or_samples(const std::vector<std::string>& given,
                                          const std::vector<std::string>& samples) {
  if (!given.empty()) return given;
  if (samples.empty()) throw CommandError(ExitCode::usage, "no file given, and the recorded sample is not installed");
  spdlog::info("{}", format_text("no file is given, so this is of what is recorded: {}",
                                 printable(fmt::format("{}", fmt::join(samples, ", ")))));
  return samples;
}

std::string file_or_sample(const std::string& given) {
  return given.empty() ? files_or_samples({}, recorded_samples({main_sample})).front() : given;
}

CLI::Option* add_filter_option(CLI::App& command, std::string& words) {
  return command.add_option("--filter", words, "Only points that fit these words, as in the window: \"d:128 N>=4096\"")
      ->type_name("WORDS");
}

std::vector<analysis::Row> rows_that_fit(const std::string& words, const analysis::PointTable& table) {
  const auto query = analysis::PointQuery::parse(words, table);
  if (!query) throw CommandError(ExitCode::usage, query.error());
  std::vector<analysis::Row> rows = query->rows(table);
  if (rows.empty() && !words.empty())
    throw CommandError(ExitCode::error, "--filter: no point of these files fits {}", words);
  return rows;
}

std::vector<std::int64_t> LoadedPoints::ids() const {
  std::vector<std::int64_t> all;
  for (const analysis::Row row : table.rows()) all.push_back(table.points().id(row));
  return all;
}

LoadedPoints load_points(const std::vector<std::string>& files, const std::string& filter) {
  LoadedPoints loaded;
  analysis::PointTableBuilder builder;
  std::vector<analysis::Run> runs;
  struct OfRun {
    std::int64_t id = 0;
    analysis::PointColumns points = analysis::PointColumns();
  };
  std::vector<OfRun> points;  // by run
  for (const std::string& file : files) {
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    know_kernels_of(store);
    const std::size_t first = runs.size();
    for (const RunSummary& run : store.runs()) {
      points.push_back({.id = run.id});
      runs.push_back(analysis_run(run));
      loaded.files.push_back(file);
    }
    const std::span<OfRun> of_file = std::span(points).subspan(first);
    const auto begin = [&] {
      for (OfRun& run : of_file) run.points = analysis::PointColumns();
    };
    store.each_point({}, 0, begin, [&](StoredPoint&& point) {
      const auto run = std::ranges::find(of_file, point.run_id, &OfRun::id);
      if (run != of_file.end()) run->points.add(point.record, point.index, point.id);
    });
    std::ranges::move(store.ceilings(), std::back_inserter(loaded.ceilings));
    loaded.code = with_skipped_rows(store, loaded.code);
  }
  analysis::name_devices(runs);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::vector<analysis::Row> rows(points[run].points.size());
    std::iota(rows.begin(), rows.end(), analysis::Row{0});
    builder.add(builder.add_run(std::move(runs[run])), points[run].points, rows);
  }
  loaded.table = std::move(builder).finish();
  if (filter.empty()) return loaded;
  analysis::SomeRows some = analysis::some_rows(loaded.table, rows_that_fit(filter, loaded.table));
  std::vector<std::string> left;
  for (const analysis::RunIndex run : some.runs) left.push_back(loaded.files[run]);
  loaded.files = std::move(left);
  loaded.table = std::move(some.table);
  return loaded;
}

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

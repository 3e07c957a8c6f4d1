// SPDX-License-Identifier: Apache-2.0
#include "app/loaded_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/own_kernels.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/plan/text.h"
#include "profiler/points/point_query.h"

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

analysis::Run analysis_run(const RunSummary& run) {
  return {.device_id = run.device_uuid,
          .device_name = run.device_name,
          .title = fmt::format("{} ({})", run.id, run.words.name.empty() ? run.preset : run.words.name),
          .label = {},
          .started_at = run.started_at,
          .provenance = run.provenance,
          .limits = run.limits,
          .name = run.words.name,
          .tags = run.words.tags};
}

LoadedPoints load_points(const std::vector<std::string>& files, const std::string& filter) {
  LoadedPoints loaded;
  std::vector<analysis::Run> runs;
  std::vector<std::pair<analysis::RunIndex, PointRecord>> points;
  for (const std::string& file : files) {
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    know_kernels_of(store);
    std::vector<std::pair<std::int64_t, analysis::RunIndex>> places;
    for (const RunSummary& run : store.runs()) {
      places.emplace_back(run.id, static_cast<analysis::RunIndex>(runs.size()));
      runs.push_back(analysis_run(run));
      loaded.files.push_back(file);
    }
    const std::size_t before = points.size();
    const auto begin = [&] {
      points.erase(points.begin() + static_cast<std::ptrdiff_t>(before), points.end());
      loaded.ids.resize(before);
    };
    store.each_point({}, 0, begin, [&](StoredPoint&& point) {
      const auto place = std::ranges::find(places, point.run_id, [](const auto& entry) { return entry.first; });
      if (place == places.end()) return;
      points.emplace_back(place->second, std::move(point.record));
      loaded.ids.push_back(point.id);
    });
    std::ranges::move(store.ceilings(), std::back_inserter(loaded.ceilings));
    loaded.code = with_skipped_rows(store, loaded.code);
  }
  const auto add_runs = [&](analysis::PointTableBuilder& builder) {
    for (const analysis::Run& run : runs) builder.add_run(run);
  };
  analysis::PointTableBuilder builder;
  add_runs(builder);
  for (const auto& [run, record] : points) builder.add(run, record);
  loaded.table = std::move(builder).finish();
  if (filter.empty()) return loaded;
  analysis::PointTableBuilder some;
  add_runs(some);
  std::vector<std::int64_t> ids;
  for (const analysis::Row row : rows_that_fit(filter, loaded.table)) {
    some.add(points[row].first, points[row].second);
    ids.push_back(loaded.ids[row]);
  }
  loaded.table = std::move(some).finish();
  loaded.ids = std::move(ids);
  return loaded;
}

}  // namespace attnscope

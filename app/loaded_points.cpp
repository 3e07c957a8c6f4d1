// SPDX-License-Identifier: Apache-2.0
#include "app/loaded_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "app/user_kernels.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/plan/text.h"
#include "profiler/points/point_query.h"
#include "profiler/points/query_fields.h"

namespace attnscope {

std::vector<std::string> files_or_samples(const std::vector<std::string>& given,
                                          const std::vector<std::string>& samples) {
  if (!given.empty()) return given;
  if (samples.empty())
    throw CommandError(ExitCode::usage,
                       "no file given and the recorded sample is not installed (name an .attnscope file)");
  spdlog::info("{}", format_text("no file given, using the recorded sample {}",
                                 printable(fmt::format("{}", fmt::join(samples, ", ")))));
  return samples;
}

std::string file_or_sample(const std::string& given) {
  return given.empty() ? files_or_samples({}, sample_paths({main_sample})).front() : given;
}

CLI::Option* add_filter_option(CLI::App& command, std::string& words) {
  static const std::string help = [] {
    std::vector<analysis::QueryField> fields = analysis::query_fields(analysis::PointTableBuilder().finish());
    std::erase_if(fields, &analysis::QueryField::metric);
    return fmt::format("Only matching points, such as \"d:128 N>=4096\"; fields: {}, and metrics by key",
                       fmt::join(analysis::query_names(fields), ", "));
  }();
  return command.add_option("--filter", words, help)->type_name("FILTER");
}

std::vector<analysis::Row> matching_rows(const std::string& words, const analysis::PointTable& table) {
  const auto query = analysis::PointQuery::parse(words, table);
  if (!query) throw CommandError(ExitCode::usage, query.error());
  std::vector<analysis::Row> rows = query->rows(table);
  if (rows.empty() && !words.empty())
    throw CommandError(ExitCode::error, "no point matches --filter '{}' (relax the filter)", words);
  return rows;
}

std::vector<std::int64_t> LoadedPoints::ids() const {
  std::vector<std::int64_t> all;
  for (const analysis::Row row : table.rows()) all.push_back(table.points().id(row));
  return all;
}

LoadRequest load_request(StatusLine& status, ExitCode& code) {
  return {.read =
              [&](const RunStore& store) {
                status.clear();
                code = log_skipped_rows(store, code);
              },
          .progress = [&](std::size_t points) { status.show(fmt::format("Reading: {} points", grouped(points))); }};
}

void add_noise_option(CLI::App& command, std::string& file) {
  command
      .add_option(
          "--noise", file,
          "File with the noise floor from `attnscope doctor --noise`, in addition to that of the compared files")
      ->type_name("FILE");
}

std::vector<StoredNoise> read_noise(const std::string& file, ExitCode& code) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  std::vector<StoredNoise> noise = store.noise();
  if (noise.empty())
    throw CommandError(ExitCode::error, "{} has no noise floor (measure it with `attnscope doctor --noise -o FILE`)",
                       file);
  code = log_skipped_rows(store, code);
  return noise;
}

void require_noise(const LoadedRuns& loaded, const std::string& file) {
  const auto has_noise = [](const analysis::Run& run) { return run.noise != nullptr; };
  if (std::ranges::any_of(loaded.table.runs(), has_noise)) return;
  throw CommandError(ExitCode::error,
                     "{}: its noise floor is of another GPU, driver or day (measure it again with `attnscope doctor "
                     "--noise -o FILE`)",
                     file);
}

LoadedPoints load_points(const std::vector<std::string>& files, const std::string& filter, bool keep_points) {
  std::vector<RunSource> sources;
  sources.reserve(files.size());
  for (const std::string& file : files) sources.push_back({file});
  ExitCode code = ExitCode::ok;
  StatusLine status;
  LoadRequest request = load_request(status, code);
  request.opened = [](const RunStore& store) { register_stored_kernels(store); };
  request.keep_points = keep_points;
  LoadedPoints loaded{load_runs(sources, request), code};
  if (!filter.empty()) loaded.keep(matching_rows(filter, loaded.table));
  return loaded;
}

MeasuredPoints::MeasuredPoints(const std::vector<std::string>& files, const std::string& filter)
    : loaded_(load_points(files, {}, true)) {
  std::vector<bool> has_measured(loaded_.runs.size());
  std::vector<analysis::Row> measured;
  for (const analysis::Row row : loaded_.table.rows()) {
    const analysis::RunIndex run = loaded_.table.run_index(row);
    if (loaded_.runs[run].provenance != Provenance::measured || loaded_.table.disposition(row) != Disposition::ok)
      continue;
    has_measured[run] = true;
    measured.push_back(row);
  }
  for (const std::string& file : files) {
    const bool any = std::ranges::any_of(
        loaded_.places, [&](const auto& place) { return place.first.first == file && has_measured[place.second]; });
    if (any) continue;
    throw CommandError(ExitCode::error,
                       "{} has no point measured on a GPU (predictions are compared with measured points)", file);
  }
  loaded_.keep(measured);
  if (!filter.empty()) loaded_.keep(matching_rows(filter, loaded_.table));
  for (const analysis::Row row : loaded_.table.rows()) {
    const StoredPoint& point = loaded_.points[row];
    points_.push_back({point.record, &loaded_.runs[loaded_.table.run_index(row)], point.device_uuid});
  }
}

}  // namespace attnscope

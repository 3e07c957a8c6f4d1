// SPDX-License-Identifier: Apache-2.0
#include "app/loaded_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/user_kernels.h"
#include "kernels/model/device_rates.h"
#include "kernels/registry.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/plan/text.h"
#include "profiler/points/point_query.h"
#include "profiler/points/query_fields.h"
#include "profiler/units/number_format.h"
#include "storage/merge.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

std::string rate_text_or_missing(bool measured, double bytes_per_second) {
  return measured ? text(BytesPerSecond(bytes_per_second)) : "not measured";
}

}  // namespace

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

StoredCeilings load_rates(const std::filesystem::path& file, const DeviceLimits& limits) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  const std::vector<StoredCeilings> sets = store.ceilings();
  if (const std::vector<InvalidRow> bad = store.invalid_rows(); !bad.empty()) {
    throw CommandError(ExitCode::error, "{} is damaged: {}: {} (use an undamaged file)", file.string(),
                       text(bad.front().where), text(bad.front().why));
  }
  const StoredCeilings* found = newest_rates(sets, limits);
  if (found == nullptr) {
    throw CommandError(ExitCode::usage,
                       "{} has no measured rates of {} (measure them with `attnscope ceilings -o FILE`, or set --gpu)",
                       file.string(), limits.name);
  }
  return *found;
}

MeasuredCeilings measured_ceilings(const StoredCeilings& set) {
  return {.ceilings = set.ceilings,
          .from = fmt::format("{} ({}) at {}", set.device_name, set.device_uuid, set.measured_at)};
}

Message describe_rates(const StoredCeilings& set, const DeviceLimits& limits) {
  const DeviceRates rates = device_rates(limits, set.ceilings);
  return make_message(
      "Predicted with the rates measured on {} ({}) at {}: DRAM {}, L2 {}; other rates by architecture.",
      printable(set.device_name), printable(set.device_uuid), printable(set.measured_at),
      rate_text_or_missing(rates.dram_measured, rates.dram_bytes_per_second),
      rate_text_or_missing(rates.l2_measured, rates.l2_bytes_per_second));
}

void predict_with_ceilings(OpenedDevice& opened, std::string_view word, const std::string& ceilings) {
  const DeviceLimits limits = opened.device->info().limits;
  if (!opened.device->info().simulated || is_remote_device_name(word)) {
    throw CommandError(ExitCode::usage,
                       "--ceilings requires a simulated device, not {} (use --device simulated or omit --ceilings)",
                       limits.name);
  }
  const StoredCeilings measured = load_rates(ceilings, limits);
  opened.device = make_simulated_device(limits, known_algorithms(), measured_ceilings(measured));
  opened.announcement = make_message("{}. {}", opened.announcement, describe_rates(measured, limits));
}

ExitCode log_merge_report(const MergeReport& report) {
  for (const auto* messages : {&report.left_out, &report.missing, &report.not_copied}) {
    for (const Message& message : *messages) spdlog::warn("{}", one_line(text(message)));
  }
  return report.whole() ? ExitCode::ok : ExitCode::partial;
}

namespace {

/// Interrupted runs have no checksum, so damage in them goes unnoticed.
void log_interrupted_runs(const RunStore& store) {
  for (const RunSummary& run : store.runs()) {
    if (run.state != StoredRunState::interrupted) continue;
    spdlog::warn("{}", format_text("{}: run {} was interrupted and has no checksum (continue it with --resume)",
                                   printable(store.file().string()), run.id));
  }
}

}  // namespace

ExitCode log_skipped_rows(const RunStore& store, ExitCode code) {
  log_interrupted_runs(store);
  for (const Message& warning : store.warnings()) spdlog::warn("{}", printable(text(warning)));
  const std::vector<InvalidRow> rows = store.invalid_rows();
  const std::string file = printable(store.file().string());
  if (rows.empty()) return code;
  const std::string where = printable(text(rows.front().where));
  const std::string why = printable(text(rows.front().why));
  if (rows.size() == 1) {
    spdlog::warn("{}", format_text("{} is damaged: {}: {}", file, where, why));
  } else {
    spdlog::warn("{}", format_text("{} is damaged in {} places, the first at {}: {} (`attnscope info` lists them)",
                                   file, rows.size(), where, why));
  }
  return code == ExitCode::ok ? ExitCode::partial : code;
}

}  // namespace attnscope

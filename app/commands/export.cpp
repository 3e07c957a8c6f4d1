// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/export.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/user_kernels.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/plan/text.h"
#include "storage/merge.h"

namespace attnscope {
namespace {

struct ExportOptions {
  std::vector<std::string> files;
  Output output;
  std::vector<std::int64_t> runs;
  std::string filter;
  bool long_rows = false;
};

/// Returns the ids of matching points; nullopt (all points) without a filter.
ExportedPoints points_of_filter(const ExportOptions& options) {
  if (options.filter.empty()) return std::nullopt;
  return load_points({options.files.front()}, options.filter).ids();
}

void write(const RunStore& store, const ExportOptions& options, std::ostream& out) {
  const auto write_points = options.long_rows                  ? export_long_csv
                            : options.output.has_format("csv") ? export_csv
                                                               : export_json;
  write_points(store, options.runs, out, points_of_filter(options));
}

ExitCode judged(const RunStore& store) {
  const ExitCode code = log_skipped_rows(store, ExitCode::ok);
  const std::vector<Message> damage = store.check_structure();
  if (damage.empty()) return code;
  const std::string file = printable(store.file().string());
  const std::string first = printable(text(damage.front()));
  spdlog::warn("{}", damage.size() == 1
                         ? format_text("{} is damaged: {}", file, first)
                         : format_text("{} is damaged: {} (`attnscope check` lists all damage)", file, first));
  return ExitCode::partial;
}

ExitCode copy(const ExportOptions& options) {
  if (!options.filter.empty())
    throw CommandError(ExitCode::usage, "--format attnscope copies whole files (omit --filter)");
  if (options.output.file().empty())
    throw CommandError(ExitCode::usage, "--format attnscope requires an output file (give -o FILE)");
  if (!options.runs.empty()) throw CommandError(ExitCode::usage, "--format attnscope copies whole files (omit --run)");
  std::error_code error;
  const std::filesystem::path target = options.output.file();
  if (!options.output.force() && std::filesystem::is_regular_file(target, error) &&
      std::filesystem::file_size(target, error) > 0) {
    throw CommandError(ExitCode::error, "{} already exists (use --force to overwrite it)", target.string());
  }
  return log_merge_report(
      write_compact_copy({options.files.begin(), options.files.end()}, options.output.file(), options.output.force()));
}

ExitCode run_export(const ExportOptions& options) {
  const RunStore store = RunStore::open(options.files.front(), RunStore::Mode::read_only);
  register_stored_kernels(store);
  write(store, options, std::cout);
  return judged(store);
}

ExitCode export_files(ExportOptions& options) {
  options.output.choose_format();
  options.files = files_or_samples(options.files, sample_paths({main_sample}));
  const std::string& format = options.output.format();
  if (options.long_rows && format != "csv") {
    throw CommandError(ExitCode::usage, "--long applies to CSV only (omit it with --format {})", format);
  }
  if (format == "attnscope") return copy(options);
  if (options.files.size() > 1)
    throw CommandError(ExitCode::usage,
                       "--format {} takes one file (merge several with --format attnscope -o FILE first)", format);
  return options.output.run([&] { return run_export(options); });
}

}  // namespace

Action add_export(CLI::App& command) {
  auto options = std::make_shared<ExportOptions>();
  add_kernel_option(command);
  command.add_option("FILE", options->files,
                     ".attnscope file; several with --format attnscope (default: the recorded sample)");
  command.add_flag("--long", options->long_rows,
                   "CSV in long form: one row per value, with kernel, unit, provenance and quartiles");
  command.add_option("--run", options->runs, "Export only this run; repeatable")
      ->type_name("N")
      ->check(integer_at_least(1))
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
  add_filter_option(command, options->filter);
  options->output.add_to(command, {"csv", "json", "attnscope"});
  command.get_option("--format")
      ->description("csv, json: one row per point and kernel, in base units; attnscope: all runs in one file");
  return [options] { return export_files(*options); };
}

}  // namespace attnscope

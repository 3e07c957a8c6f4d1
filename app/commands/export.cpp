// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/export.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "app/command.h"
#include "app/joined_files.h"
#include "app/loaded_points.h"
#include "app/own_kernels.h"
#include "app/sample_files.h"
#include "app/skipped_rows.h"
#include "messages/command.h"
#include "messages/terminal.h"
#include "profiler/analysis/point_query.h"
#include "profiler/plan/text.h"
#include "storage/output_file.h"
#include "storage/recorded_samples.h"

namespace attnscope {
namespace {

struct ExportOptions {
  std::vector<std::string> files;
  std::string format = "csv";
  std::string output;
  std::vector<std::int64_t> runs;
  std::string filter;
  bool long_rows = false;
  bool force = false;
};

/// Those that fit the filter; without one nothing, which is all.
std::optional<std::vector<std::int64_t>> points_of_filter(const ExportOptions& options) {
  if (options.filter.empty()) return std::nullopt;
  const LoadedPoints loaded = load_points({options.files.front()});
  const auto query = analysis::PointQuery::parse(options.filter, loaded.table);
  if (!query) throw CommandError(ExitCode::usage, query.error());
  std::vector<std::int64_t> ids;
  for (const analysis::Row row : query->rows(loaded.table)) ids.push_back(loaded.ids[row]);
  return ids;
}

void write(const RunStore& store, const ExportOptions& options, std::ostream& out) {
  const std::vector<ExportSource> source{{&store, options.runs, points_of_filter(options)}};
  if (options.long_rows) {
    export_long_csv(source, out);
  } else if (options.format == "csv") {
    export_csv(source, out);
  } else {
    export_json(source.front(), out);
  }
}

/// Not even with --force: measurements are not made again as a table is.
bool holds_measurements(const std::filesystem::path& source, const std::filesystem::path& target) {
  std::error_code error;
  return std::filesystem::is_regular_file(target, error) &&
         (behind_links(target).extension() == ".attnscope" || std::filesystem::equivalent(source, target, error));
}

/// What was left out, and what is wrong with the file as a whole.
ExitCode judged(const RunStore& store) {
  const ExitCode code = with_skipped_rows(store, ExitCode::ok);
  const std::vector<Message> damage = store.structural_damage();
  if (damage.empty()) return code;
  const std::string file = printable(store.file().string());
  const std::string first = printable(text(damage.front()));
  spdlog::warn("{}", damage.size() == 1 ? text(say::terminal::damaged{.file = file, .damage = first})
                                        : text(say::terminal::damaged_in_places{.file = file, .damage = first}));
  return ExitCode::partial;
}

ExitCode run_export(ExportOptions options) {
  options.files = files_or_samples(options.files, recorded_samples({main_sample}));
  if (options.long_rows && options.format != "csv") {
    throw CommandError(ExitCode::usage, say::command::long_is_csv{.format = options.format});
  }
  if (options.format == "attnscope") {
    if (!options.filter.empty()) throw CommandError(ExitCode::usage, say::command::copy_is_not_filtered{});
    if (options.output.empty()) throw CommandError(ExitCode::usage, say::command::copy_needs_file{});
    if (!options.runs.empty()) {
      throw CommandError(ExitCode::usage, say::command::copy_is_whole{});
    }
    return with_join_report(
        write_compact_copy({options.files.begin(), options.files.end()}, options.output, options.force));
  }
  if (options.files.size() > 1) {
    throw CommandError(ExitCode::usage, say::command::one_file{.format = options.format});
  }
  const auto existing = options.force ? OutputFile::Existing::any : OutputFile::Existing::of_its_kind;
  const RunStore store = RunStore::open(options.files.front(), RunStore::Mode::read_only);
  know_kernels_of(store);
  if (options.output.empty() || options.output == "-") {
    write(store, options, std::cout);
    return judged(store);
  }
  if (holds_measurements(options.files.front(), options.output)) {
    throw CommandError(ExitCode::usage,
                       say::command::holds_measurements{.file = options.output, .format = options.format});
  }
  OutputFile file(options.output, options.format == "csv" ? file_kind::csv : file_kind::json, existing);
  std::ostringstream text;
  write(store, options, text);
  file.write(text.view());
  file.commit();
  return judged(store);
}

}  // namespace

Action add_export(CLI::App& command) {
  auto options = std::make_shared<ExportOptions>();
  add_kernel_option(command);
  command.add_option("FILE", options->files,
                     "An .attnscope file (several with --format attnscope; default: the recorded sample)");
  command
      .add_option(
          "--format", options->format,
          "csv or json: one row a point and kernel, base units; attnscope: all runs of the files in one compact "
          "file")
      ->check(CLI::IsMember({"csv", "json", "attnscope"}))
      ->capture_default_str();
  command.add_flag("--long", options->long_rows,
                   "Of csv: one row a value, with its kernel, unit, provenance and quartiles, for data frames");
  command.add_option("-o,--output", options->output, "File to write (default: stdout)")->type_name("FILE");
  command.add_flag("--force", options->force, "Replace a file of another kind, too");
  command.add_option("--run", options->runs, "Only this run; may be given again")
      ->type_name("N")
      ->check(whole_number_from(1))
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
  command
      .add_option("--filter", options->filter,
                  "Of csv and json: only points that fit these words, as in the window: \"d:128 N>=4096\"")
      ->type_name("WORDS");
  return [options] { return run_export(*options); };
}

}  // namespace attnscope

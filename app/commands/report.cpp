// SPDX-License-Identifier: Apache-2.0
// report: writes a report of recorded points.
#include "profiler/report/report.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/comparison.h"
#include "app/loaded_points.h"
#include "app/program.h"
#include "app/user_kernels.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/measure/device.h"
#include "profiler/plan/text.h"
#include "storage/loaded_runs.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> files;
  std::string output;
  std::string baseline;
  std::string noise;
  std::string filter;
  std::string language = "en";
  report::Request request;
  bool force = false;
};

/// Argument of --baseline: FILE, FILE:NUMBER or NUMBER.
struct BaselineArgument {
  std::optional<fs::path> file;
  std::optional<std::int64_t> run;
};

constexpr const char* no_such_run =
    "--baseline: no run '{}' in these files (give NUMBER, FILE or FILE:NUMBER; `attnscope info` lists runs)";

constexpr const char* no_matching_point = "--baseline: '{}' has no matching point";

/// An existing file takes precedence over a run number.
BaselineArgument parse_baseline(const std::string& word) {
  std::error_code ignored;
  if (fs::exists(word, ignored)) return {.file = fs::path(word), .run = {}};
  if (const auto run = whole_number<std::int64_t>(word)) return {.file = {}, .run = run};
  const std::size_t colon = word.rfind(':');
  if (colon != std::string::npos && fs::exists(word.substr(0, colon), ignored)) {
    if (const auto run = whole_number<std::int64_t>(word.substr(colon + 1)))
      return {.file = fs::path(word.substr(0, colon)), .run = run};
  }
  throw CommandError(ExitCode::usage, no_such_run, word);
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return a == b || fs::equivalent(a, b, ignored);
}

/// Returns the runs of the baseline. Any file that contains a run can be used to name it.
std::vector<analysis::RunIndex> baseline_runs(const LoadedRuns& loaded, const BaselineArgument& meant,
                                              const std::string& word) {
  std::set<analysis::RunIndex> runs;
  for (const auto& [place, run] : loaded.places) {
    if (meant.file && !same_file(place.first, *meant.file)) continue;
    if (!meant.run || place.second == *meant.run) runs.insert(run);
  }
  if (runs.empty()) throw CommandError(ExitCode::usage, no_such_run, word);
  if (!meant.file && runs.size() > 1)
    throw CommandError(ExitCode::usage, "--baseline: several files have a run {0} (give FILE:{0})", word);
  const std::vector<analysis::Row> rows = loaded.table.rows();
  const auto of_it = [&](analysis::Row row) { return runs.contains(loaded.table.run_index(row)); };
  if (std::ranges::none_of(rows, of_it)) throw CommandError(ExitCode::error, no_matching_point, word);
  if (std::ranges::all_of(rows, of_it))
    throw CommandError(ExitCode::usage, "--baseline: '{}' contains all points; there is nothing to compare with it",
                       word);
  return {runs.begin(), runs.end()};
}

/// Adds the baseline's file in front if it is not one of the files.
std::vector<RunSource> sources_of(const ReportOptions& options, const std::optional<BaselineArgument>& baseline) {
  std::vector<RunSource> sources;
  const auto listed = [&](const fs::path& file) {
    return std::ranges::any_of(options.files, [&](const std::string& each) { return same_file(each, file); });
  };
  if (baseline && baseline->file && !listed(*baseline->file)) {
    sources.push_back({*baseline->file, baseline->run ? std::vector{*baseline->run} : std::vector<std::int64_t>()});
  }
  for (const std::string& file : options.files) sources.push_back({file});
  return sources;
}

ExitCode report_on(ReportOptions options) {
  use_language(options.language);
  const fs::path output(options.output);
  std::optional<BaselineArgument> baseline;
  if (!options.baseline.empty()) baseline = parse_baseline(options.baseline);
  options.files = files_or_samples(options.files, default_samples());
  const std::vector<RunSource> sources = sources_of(options, baseline);
  // Rejected even with --force, because measurements cannot be recreated.
  if (contains_measurements(output, sources))
    throw CommandError(ExitCode::usage,
                       "{} contains measurements and cannot be replaced by a report (choose another name with -o)",
                       options.output);
  if (!report::is_report_name(output))
    throw CommandError(ExitCode::usage, "{}: reports are written as .html or .md (rename the file of -o)",
                       options.output);
  for (const RunSource& source : sources) register_stored_kernels(source.file);
  ExitCode code = ExitCode::ok;
  StatusLine status;
  LoadRequest request = load_request(status, code);
  request.file_names_in_titles = true;
  if (!options.noise.empty()) request.noise = read_noise(options.noise, code);
  LoadedRuns loaded = load_runs(sources, request);
  if (!options.noise.empty()) require_noise(loaded, options.noise);
  const std::size_t all = loaded.table.size();
  if (all > 0) {
    if (!options.filter.empty()) {
      const std::vector<analysis::Row> rows = matching_rows(options.filter, loaded.table);
      // The baseline's runs are not filtered.
      const auto of_baseline = [&, runs = baseline ? baseline_runs(loaded, *baseline, options.baseline)
                                                   : std::vector<analysis::RunIndex>()](analysis::Row row) {
        return std::ranges::count(runs, loaded.table.run_index(row)) > 0;
      };
      if (baseline && std::ranges::none_of(rows, of_baseline))
        throw CommandError(ExitCode::error, no_matching_point, options.baseline);
      loaded.keep(rows);
    }
    if (baseline) options.request.baseline = baseline_runs(loaded, *baseline, options.baseline);
  }
  status.show(fmt::format("Analyzing {} points", grouped(all)));
  options.request.progress = [&](std::size_t step) {
    status.show(fmt::format("Analyzing {} points: section {} of {}", grouped(all), step, report::report_steps));
  };
  const report::Input input = report_input(std::move(loaded), program_version(), options.filter, all);
  const Result<report::Document, Message> document = report::make_report(input, options.request);
  if (!document.ok()) throw CommandError(ExitCode::error, document.error());
  status.show("Writing the report");
  write_report(*document, output, options.force ? OutputFile::ExistingFile::any : OutputFile::ExistingFile::same_kind);
  status.clear();
  for (const std::string& warning : document->warnings) {
    spdlog::warn("{}", printable(warning));
    if (code == ExitCode::ok) code = ExitCode::partial;
  }
  return code;
}

}  // namespace

Action add_report(CLI::App& command) {
  auto options = std::make_shared<ReportOptions>();
  add_kernel_option(command);
  command.add_option("FILE", options->files, ".attnscope files (default: the recorded sample)");
  command
      .add_option("-o,--output", options->output,
                  "Report to write: OUT.html, or OUT.md with figures and tables in OUT-figures")
      ->type_name("OUT")
      ->required();
  command
      .add_option("--baseline", options->baseline,
                  "Compare all other runs with this one: run number, FILE (all its runs) or FILE:NUMBER")
      ->type_name("RUN");
  add_tiles_option(command, options->request.tiles);
  add_noise_option(command, options->noise);
  for (const char* of_comparison : {"--tiles", "--noise"}) command.get_option(of_comparison)->needs("--baseline");
  add_filter_option(command, options->filter);
  add_language_option(command, options->language, "Language of the report");
  command.add_option("--title", options->request.title, "Title (default: names of the GPUs)")->type_name("TITLE");
  command.add_flag("--force", options->force, "Overwrite a file of another kind");
  return [options] { return report_on(*options); };
}

}  // namespace attnscope

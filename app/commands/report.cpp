// SPDX-License-Identifier: Apache-2.0
// report: what files hold, as a page to hand over.
#include "profiler/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/skipped_rows.h"
#include "messages/report.h"
#include "profiler/report/writers.h"
#include "storage/output_file.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> files;
  std::string output;
  report::Request request;
  bool force = false;
};

/// Runs and points of all files, as a report asks for them.
struct ReportPoints {
  report::Input input;
  ExitCode code = ExitCode::ok;
};

analysis::Run run_of(const RunSummary& run, bool several_files, const std::string& file) {
  const std::string title =
      several_files ? fmt::format("{} {} ({})", file, run.id, run.preset) : fmt::format("{} ({})", run.id, run.preset);
  return {.device_id = run.device_uuid,
          .device_name = run.device_name,
          .title = title,
          .label = run.provenance == Provenance::imported ? run.preset : std::string(),
          .started_at = run.started_at,
          .provenance = run.provenance,
          .limits = run.limits,
          .l2_from = run.l2_from};
}

report::RunFacts facts_of(const RunSummary& run, const std::string& file) {
  return {.file = file,
          .id = run.id,
          .preset = run.preset,
          .state = std::string(to_string(run.state)),
          .started_at = run.started_at,
          .argv = run.argv,
          .program = run.environment.app_version,
          .driver = run.environment.driver_version,
          .cupti = run.environment.cupti_version,
          .nvrtc = run.environment.nvrtc_version,
          .system = run.environment.operating_system,
          .counters = run.options.counters,
          .verified = run.options.verify,
          .min_samples = run.options.min_samples,
          .max_samples = run.options.max_samples,
          .max_noise = run.options.max_noise,
          .simulated_because = run.simulated_because,
          .l2_from = run.l2_from,
          .rates_from = run.rates_from};
}

report::PointFacts facts_of(const PointRecord& record) {
  report::PointFacts facts;
  facts.max_abs_error = record.max_abs_error;
  facts.error_bound = record.error_bound;
  if (record.clocks) facts.sm_clock_hz = record.clocks->sm_clock_hz;
  for (const KernelRecord& kernel : record.kernels) {
    facts.samples = std::max(facts.samples, kernel.samples_ns.size());
    if (kernel.launch && !kernel.launch->digest.empty()) facts.digests.push_back(kernel.launch->digest);
  }
  return facts;
}

/// One file's points, which go into the table when all of them were read in one piece.
ReportPoints load(const std::vector<std::string>& files) {
  ReportPoints loaded;
  analysis::PointTableBuilder builder;
  for (const std::string& file : files) {
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    // The folder that a file lay in says nothing to who is handed the report.
    const std::string name = fs::path(file).filename().string();
    std::map<std::int64_t, analysis::RunIndex> places;
    for (const RunSummary& run : store.runs()) {
      places[run.id] = builder.add_run(run_of(run, files.size() > 1, name));
      loaded.input.runs.push_back(facts_of(run, name));
    }
    analysis::PointColumns columns;
    std::vector<analysis::RunIndex> runs;
    std::vector<report::PointFacts> facts;
    const auto begin = [&] {
      columns = analysis::PointColumns();
      runs.clear();
      facts.clear();
    };
    store.each_point({}, 0, begin, [&](StoredPoint&& point) {
      const auto place = places.find(point.run_id);
      if (place == places.end()) return;  // of a run that began since
      columns.add(point.record);
      runs.push_back(place->second);
      facts.push_back(facts_of(point.record));
    });
    for (analysis::Row row = 0; row < columns.size(); ++row) builder.add(runs[row], columns, {{row}});
    loaded.input.points.insert(loaded.input.points.end(), facts.begin(), facts.end());
    loaded.code = with_skipped_rows(store, loaded.code);
  }
  loaded.input.table = std::move(builder).finish();
  loaded.input.version = ATTNSCOPE_VERSION;
  return loaded;
}

void write_page(const report::Document& document, const fs::path& output, OutputFile::Existing existing) {
  OutputFile page(output, file_kind::of_name(output), existing);
  page.write(report::to_html(document));
  page.commit();
}

/// Pictures in a folder of their own; all of it is written before any of it has its name, the text last.
void write_markdown(const report::Document& document, const fs::path& output, OutputFile::Existing existing) {
  const std::string folder = output.stem().string() + "-figures";
  const report::MarkdownFiles files = report::to_markdown(document, folder);
  OutputFile page(output, file_kind::of_name(output), existing);
  page.write(files.text);
  const fs::path pictures = output.parent_path() / folder;
  bool made = false;
  try {
    if (!files.pictures.empty()) made = fs::create_directory(pictures);
    std::vector<OutputFile> written;
    for (const report::MarkdownFiles::Picture& picture : files.pictures) {
      written.emplace_back(pictures / picture.name, file_kind::svg, existing).write(picture.svg);
    }
    for (OutputFile& picture : written) picture.commit();
    page.commit();
  } catch (...) {
    std::error_code ignored;
    if (made) fs::remove_all(pictures, ignored);  // was not there before
    throw;
  }
}

/// Not even with --force: measurements are not made again as a report is.
void require_place(const ReportOptions& options, const fs::path& output) {
  std::error_code error;
  const bool measurements =
      std::ranges::any_of(options.files, [&](const std::string& file) { return fs::equivalent(file, output, error); });
  if (measurements || behind_links(output).extension() == ".attnscope") {
    throw CommandError(ExitCode::usage, say::report::holds_measurements{.file = options.output});
  }
}

ExitCode write_report(const ReportOptions& options) {
  const fs::path output(options.output);
  const std::string kind = output.extension().string();
  require_place(options, output);
  if (kind != ".html" && kind != ".md")
    throw CommandError(ExitCode::usage, say::report::no_file_kind{.file = options.output});
  const ReportPoints loaded = load(options.files);
  const Result<report::Document, Message> document = report::make_report(loaded.input, options.request);
  if (!document.ok()) {
    throw CommandError(loaded.input.table.empty() ? ExitCode::error : ExitCode::usage, document.error());
  }
  const auto existing = options.force ? OutputFile::Existing::any : OutputFile::Existing::of_its_kind;
  kind == ".md" ? write_markdown(*document, output, existing) : write_page(*document, output, existing);
  return loaded.code;
}

}  // namespace

Action add_report(CLI::App& command) {
  auto options = std::make_shared<ReportOptions>();
  command.add_option("FILE", options->files, "An .attnscope file; several are one report")->required();
  command
      .add_option("-o,--output", options->output, "The report to write: OUT.html, or OUT.md with OUT-figures beside it")
      ->type_name("OUT")
      ->required();
  command
      .add_option("--sections", options->request.sections,
                  fmt::format("Only these, with commas between: {}", fmt::join(report::section_keys(), ", ")))
      ->delimiter(',')
      ->type_name("KEYS");
  command.add_option("--title", options->request.title, "Its title (default: of the GPUs)");
  command
      .add_option("--figures", options->request.figures, "Problems drawn in each section, those of most points first")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1000}))
      ->capture_default_str();
  command.add_flag("--force", options->force, "Replace a file of another kind, too");
  return [options] { return write_report(*options); };
}

}  // namespace attnscope

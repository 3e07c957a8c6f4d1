// SPDX-License-Identifier: Apache-2.0
// law, paper, scaling: results of recorded points as tables.
//   law: exponents of N, d and M fitted to counted bytes, compared with each algorithm's law.
//   paper: runs of the preset `paper` compared with Fig. 2 of the FlashAttention paper (arXiv 2205.14135v2).
//   scaling: points of several GPUs compared with one GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/user_kernels.h"
#include "messages/law.h"
#include "messages/paper_notes.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/curves/paper_table.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/plan/text.h"
#include "profiler/predict/multi_gpu_scaling.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct ResultOptions {
  std::string file;                ///< file of `paper`
  std::vector<std::string> files;  ///< files of `law` and `scaling`
  std::string filter;
  Output output;
};

void print_column_help(const analysis::Table& table, Output& out) {
  for (const analysis::Column& column : table.columns) {
    if (!column.help.empty()) out.line(fmt::format("{}: {}", column.title, column.help));
  }
}

ExitCode law(ResultOptions& options) {
  const std::vector<std::string> files = files_or_samples(options.files, law_samples());
  const LoadedPoints loaded = load_points(files, options.filter);
  const analysis::LawReport report = analysis::fit_law_exponents(loaded.table, loaded.table.rows());
  if (report.families.empty()) {
    throw CommandError(ExitCode::error,
                       "{} has no sweep over two of N, d and M with the paper's tiles (record one with `attnscope "
                       "collect --preset law`)",
                       fmt::join(files, ", "));
  }
  Output& out = options.output;
  if (!out.is_text_output()) {
    out.table(analysis::law_data(loaded.table, report.families, loaded.files));
    return loaded.code;
  }
  const analysis::Table table = analysis::law_table(loaded.table, report.families);
  out.line(text(msg::law::heading{}));
  out.blank_line();
  out.table(table);
  out.blank_line();
  print_column_help(table, out);
  out.line(text(msg::law::intervals{}));
  if (report.others > 0)
    out.line(format_text("{} other sweeps vary fewer than two of N, d and M and are skipped.", grouped(report.others)));
  return loaded.code;
}

/// Returns the newest complete run of the preset; skips imports, whose label may equal the preset's name.
RunSummary find_newest_run(const LoadedPoints& loaded, const std::string& file) {
  const RunSummary* newest = nullptr;
  for (const RunSummary& run : loaded.runs) {
    const bool fits =
        run.provenance != Provenance::imported && run.preset == "paper" && run.state == StoredRunState::complete;
    if (fits && (newest == nullptr || run.started_at >= newest->started_at)) newest = &run;
  }
  if (newest != nullptr) return *newest;
  throw CommandError(
      ExitCode::error,
      "{0} has no complete run of the preset paper (record one with `attnscope collect --preset paper -o {0}`)", file);
}

ExitCode paper(ResultOptions& options) {
  const std::string file = file_or_sample(options.file);
  LoadedPoints loaded = load_points({file});
  const RunSummary run = find_newest_run(loaded, file);
  std::vector<analysis::Row> of_run = loaded.table.rows();
  std::erase_if(of_run, [&](analysis::Row row) { return loaded.runs[loaded.table.run_index(row)].uid != run.uid; });
  loaded.keep(of_run);
  const analysis::PointTable& table = loaded.table;
  const std::vector<analysis::Row> rows = matching_rows(options.filter, table);
  const analysis::PaperTable compared = analysis::build_paper_table(table, rows);

  Output& out = options.output;
  out.line(
      format_text("Fig. 2 of the FlashAttention paper (arXiv 2205.14135v2), batch 64, 16 heads, N 1024, d 64; run {} "
                  "on {} ({}), {}",
                  run.id, printable(run.device_name), to_string(run.provenance), printable(run.started_at)));
  out.blank_line();
  out.table(analysis::paper_rows_table(table, compared, out.is_text_output()));
  out.blank_line();
  if (compared.left.empty()) out.line("Fig. 2 left is missing: no point of this run has its problem with both passes.");
  for (const analysis::Row row : compared.left_out) {
    out.line(format_text("skipped, not in Fig. 2: {}", printable(describe(table.spec(row)))));
  }
  for (const analysis::Row row : rows) {
    if (table.disposition(row) == Disposition::ok || std::ranges::count(compared.left_out, row) > 0) continue;
    out.line(fmt::format("{}: {}: {}", printable(describe(table.spec(row))), text(title(table.disposition(row))),
                         printable(text(table.reason(row)))));
  }
  const std::vector<Message> notes = analysis::paper_table_notes(table, compared);
  if (!notes.empty()) out.line(text(msg::paper_notes::notes{}));
  for (const Message& note : notes) out.line("- " + printable(text(note)));
  return loaded.code;
}

ExitCode gpus(ResultOptions& options) {
  const LoadedPoints loaded = load_points(options.files, options.filter);
  std::vector<analysis::MultiGpuPoint> points = analysis::multi_gpu_points(loaded.table);
  if (points.empty()) {
    throw CommandError(ExitCode::error,
                       "{} has no multi-GPU point (record them with `attnscope collect --preset gpus`)",
                       fmt::join(options.files, ", "));
  }
  const analysis::Table table =
      analysis::sharing_table(loaded.table, std::move(points), options.output.is_text_output());
  Output& out = options.output;
  out.table(table);
  if (!out.is_text_output()) return loaded.code;
  out.blank_line();
  print_column_help(table, out);
  return loaded.code;
}

Action add_result_command(CLI::App& command, const std::shared_ptr<ResultOptions>& options,
                          ExitCode (*print)(ResultOptions&)) {
  add_kernel_option(command);
  add_filter_option(command, options->filter);
  options->output.add_to(command);
  return [options, print] { return options->output.run([&] { return print(*options); }); };
}

}  // namespace

Action add_law(CLI::App& command) {
  auto options = std::make_shared<ResultOptions>();
  command.add_option(
      "FILE", options->files,
      ".attnscope files with sweeps over N, d and M, such as the preset law (default: the recorded sample)");
  return add_result_command(command, options, law);
}

Action add_paper(CLI::App& command) {
  auto options = std::make_shared<ResultOptions>();
  command.add_option("FILE", options->file,
                     ".attnscope file with a complete run of the preset paper (default: the recorded sample)");
  return add_result_command(command, options, paper);
}

Action add_scaling(CLI::App& command) {
  auto options = std::make_shared<ResultOptions>();
  command.add_option("FILE", options->files, ".attnscope files with multi-GPU points, such as the preset gpus")
      ->required();
  return add_result_command(command, options, gpus);
}

}  // namespace attnscope

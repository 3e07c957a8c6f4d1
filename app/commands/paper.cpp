// SPDX-License-Identifier: Apache-2.0
// paper: the numbers of the preset `paper` beside Fig. 2 of the FlashAttention paper (arXiv 2205.14135v2).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/own_kernels.h"
#include "messages/paper_notes.h"
#include "profiler/curves/paper_table.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct PaperOptions {
  std::string file;
  std::string filter;
  Output output;
};

/// The newest complete run of the preset; none of imports, whose label may be the preset's name.
RunSummary newest_run(const RunStore& store, const std::string& file) {
  std::optional<RunSummary> newest;
  for (RunSummary& run : store.runs()) {
    if (run.provenance == Provenance::imported) continue;
    if (run.preset != "paper" || run.state != StoredRunState::complete) continue;
    if (!newest || run.started_at >= newest->started_at) newest = std::move(run);
  }
  if (!newest) {
    throw CommandError(
        ExitCode::error,
        "{0} has no complete run of the preset paper; make one with `attnscope collect --preset paper -o {0}`", file);
  }
  return *std::move(newest);
}

analysis::PointTable points_of(const RunStore& store, const RunSummary& run) {
  analysis::Run shown;
  shown.device_id = run.device_uuid;
  shown.device_name = run.device_name;
  shown.title = run.preset;
  shown.started_at = run.started_at;
  shown.provenance = run.provenance;
  shown.limits = run.limits;
  analysis::PointTableBuilder builder;
  const auto begin = [&] {
    builder = analysis::PointTableBuilder();
    builder.add_run(shown);
  };
  store.each_point({{run.id}}, 0, begin, [&](StoredPoint&& point) { builder.add(0, point.record); });
  return std::move(builder).finish();
}

ExitCode paper(PaperOptions& options) {
  const std::string file = file_or_sample(options.file);
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  know_kernels_of(store);
  const RunSummary run = newest_run(store, file);
  const analysis::PointTable table = points_of(store, run);
  const std::vector<analysis::Row> rows = rows_that_fit(options.filter, table);
  const analysis::PaperTable compared = analysis::build_paper_table(table, rows);

  Output& out = options.output;
  out.line(
      format_text("Fig. 2 of the FlashAttention paper (arXiv 2205.14135v2), batch 64, 16 heads, N 1024, d 64; run {} "
                  "on {} ({}), {}",
                  run.id, printable(run.device_name), to_string(run.provenance), printable(run.started_at)));
  out.gap();
  out.table(analysis::fig2_table(table, compared, out.for_people()));
  const ExitCode code = with_skipped_rows(store, ExitCode::ok);
  out.gap();
  if (compared.left.empty())
    out.line("No point of this run has the figure's workload with both passes: Fig. 2 left is missing.");
  for (const analysis::Row row : compared.left_out) {
    out.line(format_text("left out, not what Fig. 2 shows: {}", printable(describe(table.spec(row)))));
  }
  for (const analysis::Row row : rows) {
    if (table.disposition(row) == Disposition::ok || std::ranges::count(compared.left_out, row) > 0) continue;
    out.line(fmt::format("{}: {}: {}", printable(describe(table.spec(row))), text(title(table.disposition(row))),
                         printable(text(table.reason(row)))));
  }
  const std::vector<Message> notes = analysis::fig2_notes(table, compared);
  if (!notes.empty()) out.line(text(say::paper_notes::notes{}));
  for (const Message& note : notes) out.line("- " + printable(text(note)));
  return code;
}

}  // namespace

Action add_paper(CLI::App& command) {
  auto options = std::make_shared<PaperOptions>();
  add_kernel_option(command);
  command.add_option("FILE", options->file,
                     "An .attnscope file with a complete run of the preset paper (default: the recorded sample)");
  add_filter_option(command, options->filter);
  options->output.add_to(command);
  return [options] { return options->output.run([&] { return paper(*options); }); };
}

}  // namespace attnscope

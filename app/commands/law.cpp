// SPDX-License-Identifier: Apache-2.0
// law: the exponents of N, d and M by which counted bytes grow, beside those of the laws that algorithms state.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/own_kernels.h"
#include "messages/law.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/curves/law_table.h"
#include "profiler/files/recorded_samples.h"

namespace attnscope {
namespace {

struct LawOptions {
  std::vector<std::string> files;
  std::string filter;
  Output output;
};

ExitCode law(LawOptions& options) {
  const std::vector<std::string> files = files_or_samples(options.files, law_samples());
  const LoadedPoints loaded = load_points(files, options.filter);
  const analysis::LawReport report = analysis::fit_law_exponents(loaded.table, loaded.table.rows());
  if (report.families.empty()) {
    throw CommandError(ExitCode::error,
                       "{} holds no sweep over two of N, d and M with tiles by the paper's rule; record one with "
                       "`attnscope collect --preset law`",
                       fmt::join(files, ", "));
  }
  Output& out = options.output;
  if (!out.for_people()) {
    out.table(analysis::law_data(loaded.table, report.families, loaded.files));
    return loaded.code;
  }
  const analysis::Table table = analysis::law_table(loaded.table, report.families);
  out.line(text(say::law::heading{}));
  out.gap();
  out.table(table);
  out.gap();
  for (const analysis::Column& column : table.columns) {
    if (!column.help.empty()) out.line(fmt::format("{}: {}", column.title, column.help));
  }
  out.line(text(say::law::intervals{}));
  if (report.others > 0)
    out.line(format_text("Beside these, {} sweeps in which fewer than two of N, d and M vary: no trial of the law.",
                         grouped(report.others)));
  return loaded.code;
}

}  // namespace

Action add_law(CLI::App& command) {
  auto options = std::make_shared<LawOptions>();
  add_kernel_option(command);
  command.add_option(
      "FILE", options->files,
      "An .attnscope file with a run of the preset law, or of others over N, d and M (default: the recorded "
      "sample)");
  add_filter_option(command, options->filter);
  options->output.add_to(command);
  return [options] { return options->output.run([&] { return law(*options); }); };
}

}  // namespace attnscope

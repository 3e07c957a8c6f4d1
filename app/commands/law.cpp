// SPDX-License-Identifier: Apache-2.0
// law: the exponents of N, d and M by which counted bytes grow, beside those of the laws that algorithms state.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/own_kernels.h"
#include "app/sample_files.h"
#include "app/table.h"
#include "messages/command.h"
#include "messages/law.h"
#include "profiler/analysis/law_exponents.h"
#include "profiler/analysis/tables/law_table.h"
#include "storage/recorded_samples.h"

namespace attnscope {
namespace {

struct LawOptions {
  std::vector<std::string> files;
  TableFormat format = TableFormat::text;
};

ExitCode law(const LawOptions& options) {
  const std::vector<std::string> files = files_or_samples(options.files, law_samples());
  const LoadedPoints loaded = load_points(files);
  const analysis::LawReport report = analysis::fit_law_exponents(loaded.table, loaded.table.rows());
  if (report.families.empty()) {
    throw CommandError(ExitCode::error, say::command::no_law_sweep{.files = fmt::format("{}", fmt::join(files, ", "))});
  }
  if (!for_people(options.format)) {
    print(analysis::law_data(loaded.table, report.families, loaded.files), options.format, std::cout);
    return loaded.code;
  }
  const analysis::Table table = analysis::law_table(loaded.table, report.families);
  std::cout << text(say::law::heading{}) << "\n\n";
  print(table, options.format, std::cout);
  std::cout << '\n';
  print_help(table, std::cout);
  std::cout << text(say::law::intervals{}) << '\n';
  if (report.others > 0) std::cout << text(say::law::others{.sweeps = report.others}) << '\n';
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
  add_format_options(command, options->format);
  return [options] { return law(*options); };
}

}  // namespace attnscope

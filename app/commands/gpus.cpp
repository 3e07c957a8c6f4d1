// SPDX-License-Identifier: Apache-2.0
// gpus: sequences that several GPUs share, beside one GPU that has all: what scales, and what links hide.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/own_kernels.h"
#include "profiler/predict/sharing_table.h"

namespace attnscope {
namespace {

struct GpusOptions {
  std::vector<std::string> files;
  std::string filter;
  Output output;
};

ExitCode gpus(GpusOptions& options) {
  const LoadedPoints loaded = load_points(options.files, options.filter);
  std::vector<analysis::SharedPoint> points = analysis::shared_points(loaded.table);
  if (points.empty()) {
    throw CommandError(ExitCode::error, "no point of several GPUs is in {}: collect the preset gpus",
                       fmt::join(options.files, ", "));
  }
  const analysis::Table table = analysis::sharing_table(loaded.table, std::move(points), options.output.for_people());
  Output& out = options.output;
  out.table(table);
  if (!out.for_people()) return loaded.code;
  out.gap();
  for (const analysis::Column& column : table.columns) {
    if (!column.help.empty()) out.line(fmt::format("{}: {}", column.title, column.help));
  }
  return loaded.code;
}

}  // namespace

Action add_gpus(CLI::App& command) {
  auto options = std::make_shared<GpusOptions>();
  add_kernel_option(command);
  command.add_option("FILE", options->files, "An .attnscope file with points of several GPUs (preset gpus)")
      ->required();
  add_filter_option(command, options->filter);
  options->output.add_to(command);
  return [options] { return options->output.run([&] { return gpus(*options); }); };
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "storage/merge.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct MergeOptions {
  std::string target;
  std::vector<std::string> files;
  bool skip_damaged = false;
};

ExitCode merge(const MergeOptions& options) {
  try {
    const MergeReport report = merge_files({options.files.begin(), options.files.end()}, options.target,
                                           options.skip_damaged ? DamagedFilePolicy::skip : DamagedFilePolicy::refuse);
    std::cout << format_text("{}: {}, {}", printable(options.target), runs_text(report.runs),
                             points_text(report.points))
              << '\n';
    return log_merge_report(report);
  } catch (const FileError& error) {
    if (options.skip_damaged || !is_damage(error.kind())) throw;
    throw CommandError(ExitCode::error, "{} (or skip it with --skip-damaged)", error.message());
  }
}

}  // namespace

Action add_merge(CLI::App& command) {
  auto options = std::make_shared<MergeOptions>();
  command.add_option("IN", options->files, ".attnscope files to merge")->required();
  command.add_option("-o,--output", options->target, "New file")->type_name("OUT")->required();
  command.add_flag("--skip-damaged", options->skip_damaged, "Skip damaged files (exit code 5)");
  return [options] {
    require_measurement_name(options->target);
    return merge(*options);
  };
}

}  // namespace attnscope

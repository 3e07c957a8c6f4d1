// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/export.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

#include "app/command.h"

namespace attnscope {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string format = "csv";
  std::string output;
  std::vector<std::int64_t> runs;
  bool long_rows = false;
};

void write(const RunStore& store, const Options& options, std::ostream& out) {
  if (options.long_rows) {
    export_long_csv(store, options.runs, out);
  } else if (options.format == "csv") {
    export_csv(store, options.runs, out);
  } else {
    export_json(store, options.runs, out);
  }
}

ExitCode run_export(const Options& options) {
  if (options.long_rows && options.format != "csv") {
    throw CommandError(ExitCode::usage,
                       fmt::format("--long is a form of CSV: leave it out with --format {}", options.format));
  }
  if (options.format == "attnscope") {
    if (options.output.empty()) throw CommandError(ExitCode::usage, "--format attnscope needs a file: give -o FILE");
    if (!options.runs.empty()) {
      throw CommandError(ExitCode::usage, "--format attnscope copies whole files: leave --run out");
    }
    write_compact_copy({options.files.begin(), options.files.end()}, options.output);
    return ExitCode::ok;
  }
  if (options.files.size() > 1) {
    throw CommandError(ExitCode::usage, fmt::format("--format {} takes one file; join several with --format attnscope "
                                                    "-o FILE first",
                                                    options.format));
  }
  const RunStore store = RunStore::open(options.files.front(), RunStore::Mode::read_only);
  if (options.output.empty() || options.output == "-") {
    write(store, options, std::cout);
    return ExitCode::ok;
  }
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path target = options.output;
  for (int links = 0; links < 40 && fs::is_symlink(target, error); ++links) {  // what a link names, not the link
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  const auto cannot = [&](const std::string& why) {
    return CommandError(ExitCode::error,
                        fmt::format("cannot write {} ({}); choose another place with -o", options.output, why));
  };
  if (fs::exists(target, error) &&
      (target.extension() == ".attnscope" || fs::equivalent(options.files.front(), target, error))) {
    throw CommandError(ExitCode::usage, fmt::format("{} holds measurements: --format {} does not go over them; choose "
                                                    "another name with -o",
                                                    options.output, options.format));
  }
  // Written beside and renamed: a full disk leaves no half file under the name. A device or a pipe is written to.
  const bool beside = !fs::exists(target, error) || fs::is_regular_file(target, error);
  const fs::path written = beside ? fs::path(target.string() + ".part") : target;
  std::ofstream out(written, std::ios::binary);
  if (!out) throw cannot(std::strerror(errno));
  write(store, options, out);
  out.close();
  error.clear();
  if (out && beside) fs::rename(written, target, error);
  if (!out || error) {
    const std::string why = error ? error.message() : "no space left, or a size limit";
    if (beside) fs::remove(written, error);
    throw cannot(why);
  }
  return ExitCode::ok;
}

}  // namespace

Action add_export(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("FILE", options->files, "An .attnscope file (several with --format attnscope)")->required();
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
  command.add_option("--run", options->runs, "Only this run; may be given again")
      ->type_name("N")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
  return [options] { return run_export(*options); };
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// check: verifies the checksums of files.
#include "storage/run_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"
#include "storage/merge.h"

namespace attnscope {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  Output output;
};

struct Checked {
  std::string file;
  std::string state;  ///< ok, unverified, damaged or unreadable
  FileCheck found;
  std::string verdict;
  std::vector<std::string> problems;
};

Checked judged(const std::string& file) {
  Checked checked{.file = printable(file), .state = {}, .found = check_file(file), .verdict = {}, .problems = {}};
  const FileCheck& found = checked.found;
  const Message holds = make_message("{}: {}, {}", checked.file, runs_text(found.runs, found.hidden, found.deleted),
                                     points_text(found.points));
  const bool unverified = found.unverified > 0;
  checked.state = !found.ok() ? "damaged" : unverified ? "unverified" : "ok";
  checked.verdict =
      text(!found.ok()  ? make_message("{}: damaged (`sqlite3 FILE .recover` saves what SQLite can read)", holds)
           : unverified ? make_message("{}: no damage found; {} without a checksum (interrupted)", holds,
                                       runs_text(found.unverified))
                        : make_message("{}: ok", holds));
  for (const InvalidRow& row : found.invalid_rows) {
    checked.problems.push_back(fmt::format("{}: {}", printable(text(row.where)), printable(text(row.why))));
  }
  for (const Message& damage : found.damage) checked.problems.push_back(printable(text(damage)));
  return checked;
}

void print_text(const Checked& checked, Output& out) {
  out.line(checked.verdict);
  for (const std::string& problem : checked.problems) out.line("  " + problem);
}

void print(const std::vector<Checked>& all, Output& out) {
  TableRows rows;
  for (const Checked& each : all) {
    const std::string problems = fmt::format("{}", fmt::join(each.problems, "; "));
    const FileCheck& found = each.found;
    rows.push_back({each.file, each.state, fmt::to_string(found.runs), fmt::to_string(found.hidden),
                    fmt::to_string(found.deleted), fmt::to_string(found.points), problems});
  }
  out.table(text_table({{"file"},
                        {"state"},
                        number_column("runs"),
                        number_column("hidden"),
                        number_column("deleted"),
                        number_column("points"),
                        {"problems"}},
                       std::move(rows)));
}

/// Damaged files give exit code 5, files that cannot be opened 1.
ExitCode check(CheckOptions& options) {
  ExitCode code = ExitCode::ok;
  std::vector<Checked> all;
  for (const std::string& file : options.files) {
    try {
      all.push_back(judged(file));
      if (!all.back().found.ok() && code == ExitCode::ok) code = ExitCode::partial;
    } catch (const FileError& error) {
      const std::string why = printable(error.what());
      std::error_code ignored;
      const bool damaged = is_damage(error.kind()) && !std::filesystem::is_directory(file, ignored);
      all.push_back({.file = printable(file),
                     .state = damaged ? "damaged" : "unreadable",
                     .found = {},
                     .verdict = why,
                     .problems = {}});
      if (!options.output.has_format("text")) all.back().problems.push_back(why);
      if (!damaged) code = ExitCode::error;
      if (code == ExitCode::ok) code = ExitCode::partial;
    }
    if (options.output.has_format("text") && all.back().state != "unreadable") print_text(all.back(), options.output);
    for (const Message& warning : all.back().found.warnings) spdlog::warn("{}", printable(text(warning)));
    if (all.back().state == "unreadable") fmt::print(stderr, "error: {}\n", one_line(all.back().verdict));
  }
  if (!options.output.has_format("text")) print(all, options.output);
  return code;
}

}  // namespace

Action add_check(CLI::App& command) {
  auto options = std::make_shared<CheckOptions>();
  command.add_option("FILE", options->files, ".attnscope files to check")->required();
  options->output.add_to(command);
  return [options] { return options->output.run([&] { return check(*options); }); };
}

}  // namespace attnscope

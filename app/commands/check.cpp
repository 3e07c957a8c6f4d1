// SPDX-License-Identifier: Apache-2.0
// check and repair: whether files still are what was written, and what can be saved of one that is not.
#include "storage/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "messages/terminal.h"
#include "profiler/plan/text.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

ExitCode check(const std::vector<std::string>& files) {
  ExitCode code = ExitCode::ok;
  for (const std::string& file : files) {
    FileCheck found;
    try {
      found = check_file(file);
    } catch (const StorageError& error) {
      std::cout << fmt::format("{}\n", printable(error.what()));
      code = ExitCode::partial;
      continue;
    }
    Message holds = say::terminal::holds{
        .file = printable(file), .runs = counted_runs(found.runs), .points = counted_points(found.points)};
    if (found.unchecked > 0) holds = say::terminal::holds_unchecked{.holds = holds, .points = found.unchecked};
    if (found.unchecked_rows > 0) {
      holds = say::terminal::rows_unchecked{.holds = holds, .rows = found.unchecked_rows};
    }
    const bool unchecked = found.unchecked > 0 || found.unchecked_rows > 0;
    // Of what has no digest nobody can say that it still is what was written.
    const Message verdict = !found.ok() ? Message(say::terminal::is_damaged{.file = holds})
                            : unchecked ? Message(say::terminal::no_damage_found{.file = holds})
                                        : Message(say::terminal::is_ok{.file = holds});
    std::cout << text(verdict) << '\n';
    for (const BadRow& row : found.bad_rows) {
      std::cout << fmt::format("  {}: {}\n", printable(text(row.where)), printable(text(row.why)));
    }
    for (const Message& damage : found.damage) std::cout << fmt::format("  {}\n", printable(text(damage)));
    if (!found.extras.empty()) {
      std::cout << "  " << text(say::terminal::not_ours{.names = fmt::format("{}", fmt::join(found.extras, ", "))})
                << '\n';
    }
    if (!found.ok()) code = ExitCode::partial;
  }
  return code;
}

ExitCode repair(const std::string& file, const std::string& target) {
  const Salvage salvage = repair_file(file, target);
  std::cout << text(say::terminal::salvaged{.runs = counted_runs(salvage.runs),
                                            .points = counted_points(salvage.points),
                                            .file = printable(target)})
            << '\n';
  for (const Message& left : salvage.left) {
    spdlog::warn("{}", text(say::terminal::left_behind{.what = printable(text(left))}));
  }
  return salvage.left.empty() ? ExitCode::ok : ExitCode::partial;
}

}  // namespace

Action add_check(CLI::App& command) {
  auto files = std::make_shared<std::vector<std::string>>();
  command.add_option("FILE", *files, ".attnscope files")->required();
  return [files] { return check(*files); };
}

Action add_repair(CLI::App& command) {
  struct CheckOptions {
    std::string file;
    std::string target;
  };
  auto options = std::make_shared<CheckOptions>();
  command.add_option("IN", options->file, "The .attnscope file that is damaged; it stays as it is")->required();
  command.add_option("OUT", options->target, "The new file for what can be saved")->required();
  return [options] { return repair(options->file, options->target); };
}

}  // namespace attnscope

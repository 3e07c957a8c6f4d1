// SPDX-License-Identifier: Apache-2.0
// compare: two sides of recorded points, with verdicts (profiler/stats/verdicts.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/compared_sides.h"
#include "app/comparison_output.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/own_kernels.h"

namespace attnscope {
namespace {

struct CompareOptions {
  std::vector<std::string> base;
  std::vector<std::string> other;
  std::vector<std::string> align;
  std::string noise;
  double margin_percent = 0;       ///< 0: the usual
  double regression_percent = -1;  ///< below 0: not asked for
  double proven_percent = -1;      ///< as well
  std::string filter;
  Output output;
};

/// One line for a script: how many, and which.
Message failure(const analysis::PointTable& table, const std::vector<const analysis::ComparedPair*>& failing,
                double percent) {
  constexpr std::size_t most_named = 5;
  std::string rows;
  for (std::size_t i = 0; i < std::min(failing.size(), most_named); ++i) {
    rows += fmt::format("{}{}: {}", i == 0 ? "" : "; ", describe(table.spec(failing[i]->other.front())),
                        analysis::ratio_text(failing[i]->verdict.time));
  }
  if (failing.size() > most_named) rows += "; ...";
  return make_message("SLOWER by more than {}%: {} {}: {}", percent, grouped(failing.size()),
                      failing.size() == 1 ? "row" : "rows", rows);
}

ExitCode compare_sides(CompareOptions& options) {
  const ComparedSides sides = compared_sides(options.base, options.other, options.noise, options.filter);
  const analysis::ComparisonView view = view_of(sides, options.align, options.margin_percent);
  const analysis::ComparedSide& side = *view.sides.front();
  if (!has_common_point(side.result)) {
    throw CommandError(ExitCode::error,
                       "no point of the one side has a partner on the other, aligned by {}; --align takes other words",
                       fmt::join(side.alignment.words(), ", "));
  }
  const bool proven = options.proven_percent >= 0;
  const double percent = proven ? options.proven_percent : options.regression_percent;
  const std::vector<const analysis::ComparedPair*> failing =
      analysis::regressions(side.result, std::max(percent, 0.0) / 100, proven);
  print(sides, view, options.output, failing);
  if (percent < 0) return sides.code;
  std::cout.flush();
  if (!failing.empty()) throw CommandError(ExitCode::regression, failure(sides.table, failing, percent));
  // What could not be judged has not passed.
  if (const std::size_t broken = side.result.no_longer_run(sides.table); broken > 0) {
    throw CommandError(ExitCode::partial,
                       "{} points that ran on the base's side crashed, hung or were wrong on the other",
                       grouped(broken));
  }
  if (view.pairs() == 0) throw CommandError(ExitCode::partial, "no point could be compared, so none was found slower");
  return sides.code;
}

}  // namespace

Action add_compare(CLI::App& command) {
  auto options = std::make_shared<CompareOptions>();
  add_kernel_option(command);
  command
      .add_option(
          "BASE", options->base,
          "FILE, FILE:RUN (its number) or FILE:FILTER ('algo:NAME d:128', as in the window); without --with the "
          "first against the rest, or a file's first run against its others; what 'attnscope ab' kept, its two sides")
      ->required();
  command.add_option("--with", options->other, "The other side: FILE, FILE:RUN or FILE:FILTER");
  command
      .add_option(
          "--align", options->align,
          "By what points are partners: problem, fields (N, d, mask, algorithm, ...), tile, knobs, a knob, device "
          "(default: the problem, and what else both sides have in common)")
      ->delimiter(',');
  command
      .add_option(
          "--noise", options->noise,
          "A file in which `attnscope doctor --noise` kept what recordings differ by; what the sides' own files "
          "keep counts, too")
      ->type_name("FILE");
  const auto percent = [&](const char* name, double& value, const char* help, double least, double most) {
    return command.add_option(name, value, help)
        ->transform([](std::string word) {
          if (word.size() > 1 && word.back() == '%') word.pop_back();
          return word;
        })
        ->check(number_within(least, most));
  };
  percent("--margin", options->margin_percent,
          "Percent below which a change is none (1 where both sides ran in the same rounds, else 1.5)", 0.01, 50);
  CLI::Option* regression = percent(
      "--fail-on-regression", options->regression_percent,
      "Exit code 4 where a point is SLOWER and its ratio is above this many percent, 5 where one that ran does no more",
      0, 1000);
  percent("--fail-on-proven-regression", options->proven_percent,
          "The same where it is SLOWER by more than that at 95% for all points together", 0, 1000)
      ->excludes(regression);
  add_filter_option(command, options->filter);
  options->output.add_to(command, {"text", "csv", "json", "junit"});
  command.get_option("--format")
      ->description(command.get_option("--format")->get_description() +
                    " (SLOWER fails, with --fail-on-... beyond its percent; what no longer runs is an error, UNDECIDED "
                    "is skipped)");
  return [options] { return options->output.run([&] { return compare_sides(*options); }); };
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// compare: compares two sides of recorded points (profiler/stats/verdicts.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/comparison.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/user_kernels.h"

namespace attnscope {
namespace {

struct CompareOptions {
  std::vector<std::string> base;
  std::vector<std::string> other;
  std::vector<std::string> align;
  std::optional<analysis::ComparedTiles> tiles;
  std::string noise;
  double margin_percent = 0;       ///< 0 for the default
  double regression_percent = -1;  ///< negative if not requested
  double proven_percent = -1;      ///< negative if not requested
  std::string filter;
  Output output;
};

/// One line with the number of regressions and the first of them.
Message failure(const analysis::PointTable& table, const std::vector<const analysis::ComparedPair*>& failing,
                double percent) {
  constexpr std::size_t most_named = 5;
  std::string rows;
  for (std::size_t i = 0; i < std::min(failing.size(), most_named); ++i) {
    rows += fmt::format("{}{}: {}", i == 0 ? "" : "; ", describe(table.spec(failing[i]->other.front())),
                        analysis::ratio_text(failing[i]->verdict.time));
  }
  if (failing.size() > most_named) rows += "; ...";
  return make_message("regression of more than {}% in {} {}: {}", percent, grouped(failing.size()),
                      failing.size() == 1 ? "row" : "rows", rows);
}

ExitCode compare_sides(CompareOptions& options) {
  const ComparedSides sides = compared_sides(options.base, options.other, options.noise, options.filter);
  const analysis::ComparisonView view = view_of(sides, options.align, options.margin_percent, options.tiles);
  const analysis::ComparedSide& side = *view.sides.front();
  if (std::ranges::none_of(view.sides, [](const auto& each) { return has_match(each->result); })) {
    throw CommandError(ExitCode::error,
                       "no point of the baseline matches one of the candidate, aligned by {} (change --align)",
                       fmt::join(side.alignment.keywords(), ", "));
  }
  const bool proven = options.proven_percent >= 0;
  const double percent = proven ? options.proven_percent : options.regression_percent;
  std::vector<const analysis::ComparedPair*> failing;
  std::size_t broken = 0;
  for (const auto& each : view.sides) {
    const auto slower = analysis::regressions(each->result, std::max(percent, 0.0) / 100, proven);
    failing.insert(failing.end(), slower.begin(), slower.end());
    broken += each->result.newly_failed(sides.table);
  }
  print(sides, view, options.output, failing);
  std::cout.flush();
  if (percent >= 0 && !failing.empty())
    throw CommandError(ExitCode::regression, failure(sides.table, failing, percent));
  // Points that newly fail in the candidate are not compared, but must not pass.
  if (percent >= 0 && broken > 0) {
    throw CommandError(
        ExitCode::partial,
        "points that were ok in the baseline and crashed, timed out or were incorrect in the candidate: {}",
        grouped(broken));
  }
  if (view.pairs() == 0) throw CommandError(ExitCode::partial, "no point could be compared (see the reasons)");
  return sides.code;
}

}  // namespace

Action add_compare(CLI::App& command) {
  auto options = std::make_shared<CompareOptions>();
  add_kernel_option(command);
  command
      .add_option(
          "BASELINE", options->base,
          "FILE, FILE:RUN (run number) or FILE:FILTER; without --candidate, compares the first file with the others, "
          "the first run of a file with each other run, or the two sides recorded by ab")
      ->required();
  command
      .add_option("--candidate", options->other,
                  "Sides to compare with the baseline one by one: FILE, FILE:RUN or FILE:FILTER; "
                  "repeated recordings are pooled")
      ->type_name("SIDE");
  command
      .add_option(
          "--align", options->align,
          "Fields that matching points share, separated by commas: problem, N, d, algorithm, tile, knobs, device, ... "
          "(default: problem, and algorithm and device with common values)")
      ->type_name("FIELDS")
      ->delimiter(',');
  add_tiles_option(command, options->tiles);
  add_noise_option(command, options->noise);
  const auto percent = [&](const char* name, double& value, const char* help, double least, double most) {
    return command.add_option(name, value, help)
        ->transform([](std::string word) {
          if (word.size() > 1 && word.back() == '%') word.pop_back();
          return word;
        })
        ->check(number_in_range(least, most));
  };
  percent("--margin", options->margin_percent,
          "Smallest change in percent that counts (default: 1 for interleaved sides, else 1.5)", 0.01, 50);
  CLI::Option* regression =
      percent("--fail-on-regression", options->regression_percent,
              "Exit with code 4 if a point is SLOWER by more than this percentage, 5 if one no longer runs", 0, 1000);
  percent("--fail-on-significant-regression", options->proven_percent,
          "The same, if the joint 95% CI lies above this percentage", 0, 1000)
      ->excludes(regression);
  add_filter_option(command, options->filter);
  options->output.add_to(command, {"text", "csv", "json", "junit"});
  command.get_option("--format")
      ->description(
          "Output format; csv and json use base units; junit: SLOWER fails, a point that no longer runs is an "
          "error, UNDECIDED is skipped");
  return [options] { return options->output.run([&] { return compare_sides(*options); }); };
}

}  // namespace attnscope

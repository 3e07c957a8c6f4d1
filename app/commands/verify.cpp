// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/verify.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <map>
#include <memory>
#include <tuple>

#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/own_kernels.h"
#include "app/sweep_options.h"
#include "kernels/registry.h"

namespace attnscope {
namespace {

struct VerifyOptions {
  std::string device;
  std::vector<std::string> algorithms;
  bool quick = false;
  bool all = false;
  Output output;
};

/// Prime to the table's dimensions (7 kinds of input, 11 shapes, 8 head dimensions), so that each value of one still
/// meets each value of another.
constexpr std::size_t quick_step = 13;

/// Every 13th problem with its inputs, in all tiles of all algorithms: they share one reference, which costs most.
std::vector<VerifyCase> quick_cases(const std::vector<VerifyCase>& all) {
  std::vector<VerifyCase> cases;
  std::size_t problem = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool same = i > 0 && all[i].spec.problem == all[i - 1].spec.problem && all[i].inputs == all[i - 1].inputs;
    if (i > 0 && !same) ++problem;
    if (problem % quick_step == 0) cases.push_back(all[i]);
  }
  return cases;
}

/// The rows of the summary: one an algorithm, pass, dtype, mask and head dimension.
using CaseGroup = std::tuple<std::string, Pass, DType, std::string, std::int64_t>;

/// The mask's title, without the figures of a list of lengths: they differ from shape to shape.
std::string mask_group(Mask mask) {
  if (mask.lengths != Mask::Lengths::list) return to_string(mask);
  mask.lengths = Mask::Lengths::full;
  return mask == Mask::none ? "lengths" : to_string(mask) + "+lengths";
}

struct Counts {
  std::size_t pass = 0;
  std::size_t fail = 0;
  std::size_t skip = 0;
  double worst = 0;  ///< the largest error, as a share of its bound
};

analysis::Table summary_table(const std::map<CaseGroup, Counts>& groups) {
  TableRows rows;
  for (const auto& [group, counts] : groups) {
    const auto& [algorithm, pass, dtype, mask, d] = group;
    rows.push_back({algorithm, std::string(to_string(pass)), std::string(to_string(dtype)), mask, fmt::to_string(d),
                    fmt::to_string(counts.pass), fmt::to_string(counts.fail), fmt::to_string(counts.skip),
                    fmt::format("{:.3f}", counts.worst)});
  }
  return text_table({{"algorithm"},
                     {"pass"},
                     {"dtype"},
                     {"mask"},
                     number_column("d"),
                     number_column("passed"),
                     number_column("failed"),
                     number_column("skipped"),
                     number_column("worst_error_over_bound")},
                    std::move(rows));
}

/// What is told of the cases as they end.
struct Told {
  std::map<CaseGroup, Counts> groups = {};
  TableRows details = {};

  void add(const VerifyCase& verify_case, const VerifyResult& result) {
    const AttentionProblem& problem = verify_case.spec.problem;
    Counts& counts =
        groups[{verify_case.spec.algorithm, problem.pass, problem.dtype, mask_group(problem.mask), problem.d}];
    const std::string name = text(describe(verify_case));
    const std::string reason = text(result.reason);
    const bool passed = result.outcome == VerifyOutcome::pass;
    const bool failed = result.outcome == VerifyOutcome::fail;
    ++(passed ? counts.pass : failed ? counts.fail : counts.skip);
    if (failed) spdlog::error("{}: {}", name, reason);
    if (result.error_bound > 0) counts.worst = std::max(counts.worst, result.max_abs_error / result.error_bound);
    details.push_back({name,
                       passed   ? "pass"
                       : failed ? "FAIL"
                                : "skip",
                       fmt::format("{:.3e}", result.max_abs_error), fmt::format("{:.3e}", result.error_bound),
                       fmt::format("{:.3e}", result.rms_error), reason});
  }
};

ExitCode verify(VerifyOptions& options) {
  require_algorithms(options.algorithms);
  const OpenedDevice opened = open_device(options.device, false);
  Device& device = *opened.device;
  if (device.info().simulated) {
    throw CommandError(ExitCode::usage,
                       "kernels are verified by running them, and the simulated device computes no output");
  }
  fmt::print(stderr, "{}\n", format_text("Device: {}", opened.announcement));

  std::vector<VerifyCase> cases = verify_cases(options.algorithms, device.info().limits, device.algorithms());
  if (cases.empty())
    throw CommandError(ExitCode::usage,
                       "none of the cases is a problem that these algorithms take: awkward lengths, heads, inputs and "
                       "tiles; `collect` verifies each point that it measures");
  if (options.quick) cases = quick_cases(cases);

  Told told;
  VerifyObserver observer;
  observer.on_case = [&](std::size_t, const VerifyCase& verify_case, const VerifyResult& result) {
    told.add(verify_case, result);
  };
  CancelToken& cancel = cancel_on_signals();
  const VerifySummary summary = run_verify(device, cases, {}, observer, cancel);

  if (summary.pass + summary.fail + summary.skip > 0) {
    options.output.table(options.all ? text_table({{"case"},
                                                   {"outcome"},
                                                   number_column("max_abs_error"),
                                                   number_column("error_bound"),
                                                   number_column("rms_error"),
                                                   {"reason"}},
                                                  std::move(told.details))
                                     : summary_table(told.groups));
  }
  fmt::print(
      stderr, "{}\n",
      format_text("{} cases: {} pass, {} fail, {} skipped", summary.total, summary.pass, summary.fail, summary.skip));
  ExitCode code = summary.fail > 0 ? ExitCode::error : ExitCode::ok;
  if (summary.cancelled) code = ExitCode::partial;
  if (!summary.stopped.empty()) {
    spdlog::error("{}", text(summary.stopped));
    code = ExitCode::error;
  }
  if (!device.usable()) {
    options.output.finish();
    leave(code);
  }
  return code;
}

}  // namespace

Action add_verify(CLI::App& command) {
  auto options = std::make_shared<VerifyOptions>();
  add_kernel_option(command);
  command.add_option("-d,--device", options->device, device_help)->type_name("DEVICE");
  command.add_option("--algorithms", options->algorithms, "Only these, separated by commas")
      ->type_name("NAMES")
      ->delimiter(',');
  command.add_flag("--quick", options->quick, "Every 13th problem");
  command.add_flag("--all", options->all, "A row a case instead of the summary");
  options->output.add_to(command);
  return [options] { return options->output.run([&] { return verify(*options); }); };
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/verify.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <map>
#include <memory>
#include <tuple>

#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/sweep_options.h"
#include "app/user_kernels.h"
#include "kernels/registry.h"
#include "profiler/units/number_format.h"

namespace attnscope {
namespace {

struct VerifyOptions {
  std::string device;
  std::vector<std::string> algorithms;
  bool quick = false;
  bool all = false;
  Output output;
};

/// Key of a summary row: algorithm, pass, dtype, mask, head dimension.
using CaseGroup = std::tuple<std::string, Pass, DType, std::string, std::int64_t>;

/// Name of the mask without the numbers of a length list, which differ between shapes.
std::string mask_group(Mask mask) {
  if (mask.lengths != Mask::Lengths::list) return to_string(mask);
  mask.lengths = Mask::Lengths::full;
  return mask == Mask::none ? "lengths" : to_string(mask) + "+lengths";
}

struct Counts {
  std::size_t pass = 0;
  std::size_t fail = 0;
  std::size_t skip = 0;
  double worst = 0;  ///< largest error divided by its bound
};

analysis::Table summary_table(const std::map<CaseGroup, Counts>& groups) {
  TableRows rows;
  for (const auto& [group, counts] : groups) {
    const auto& [algorithm, pass, dtype, mask, d] = group;
    rows.push_back({algorithm, std::string(to_string(pass)), std::string(to_string(dtype)), mask, fmt::to_string(d),
                    fmt::to_string(counts.pass), fmt::to_string(counts.fail), fmt::to_string(counts.skip),
                    fmt::format("{:.3f}", counts.worst)});
  }
  return text_table(columns_named({"algorithm", "pass", "dtype", "mask", "#d", "#passed", "#failed", "#skipped",
                                   "#worst_error_over_bound"}),
                    std::move(rows));
}

struct ShownSummary {
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
                       "verify requires a GPU; simulated devices compute no outputs (see `attnscope doctor`)");
  }
  fmt::print(stderr, "{}\n", format_text("Device: {}", opened.announcement));

  std::vector<VerifyCase> cases = verify_cases(options.algorithms, device.info().limits, device.algorithms());
  if (cases.empty())
    throw CommandError(ExitCode::usage,
                       "these algorithms support none of the test cases (`attnscope collect` verifies each point)");
  if (options.quick) cases = quick_cases(cases, device.info().limits, device.algorithms());

  ShownSummary told;
  const auto observer = [&](const VerifyCase& verify_case, const VerifyResult& result) {
    told.add(verify_case, result);
  };
  CancelToken& cancel = cancel_on_signals();
  const auto start = std::chrono::steady_clock::now();
  const VerifySummary summary = run_verify(device, cases, {}, observer, cancel);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

  if (summary.pass + summary.fail + summary.skip > 0) {
    options.output.table(options.all ? text_table(columns_named({"case", "outcome", "#max_abs_error", "#error_bound",
                                                                 "#rms_error", "reason"}),
                                                  std::move(told.details))
                                     : summary_table(told.groups));
  }
  fmt::print(stderr, "{}\n",
             format_text("{} cases: {} passed, {} failed, {} skipped in {}", cases.size(), summary.pass, summary.fail,
                         summary.skip, text(Seconds(elapsed.count()))));
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
  command.add_option("--algorithms", options->algorithms, "Algorithms, separated by commas (default: all)")
      ->type_name("NAMES")
      ->delimiter(',');
  command.add_flag("--quick", options->quick, "Run every 13th problem, and at least 20 cases per pass");
  command.add_flag("--per-case", options->all, "One row per case instead of a summary");
  options->output.add_to(command);
  return [options] { return options->output.run([&] { return verify(*options); }); };
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// Makes single calls of the driver, NVRTC, CUPTI and NVML fail during a sweep and during `ceilings`, and checks the
// outcome. Uses the fake GPU library, or with --real the GPU of this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <random>

#include "ceilings_judge.h"
#include "sweep_judge.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;

struct Options {
  GpuSetup gpu;
  fs::path keep = "kept-cases";
  std::vector<FaultTarget> what;
  std::vector<std::string> calls;
  std::vector<std::string> only;
  std::uint64_t seed = 0;
  unsigned jobs = 1;
  long every = 1;
};

class Campaign {
 public:
  Campaign(const Options& options, CaseReport& account) : options_(options), account_(account) {
    require_success(options_.gpu.run(home_, SweepJudge::sweep("N=64", earlier_), options_.gpu.variables()));
    for (const std::string& name : options_.only) faults_.push_back(parse_fault(name));
    for (const FaultTarget what : {FaultTarget::sweep, FaultTarget::sweep_with_metrics, FaultTarget::ceilings}) {
      if (is_wanted(what)) add(what);
    }
  }

  [[nodiscard]] const std::vector<Fault>& faults() const { return faults_; }
  [[nodiscard]] std::size_t functions() const { return functions_; }

  void try_fault(const Fault& fault) {
    const TemporaryFolder folder;
    const fs::path work = folder / "work";
    fs::create_directory(work);
    const fs::path file = work / "run.attnscope";
    fs::copy_file(earlier_, file);
    account_.tried();
    try {
      judges_.at(fault.what)->judge(fault, folder, file);
    } catch (const std::exception& wrong) {
      account_.failed(fault.name(), wrong.what(), work);
    }
  }

 private:
  [[nodiscard]] bool is_wanted(FaultTarget what) const {
    if (!options_.only.empty()) return std::ranges::find(faults_, what, &Fault::what) != faults_.end();
    return options_.what.empty() || std::ranges::find(options_.what, what) != options_.what.end();
  }

  void add(FaultTarget what) {
    auto& judge = judges_[what];
    if (what == FaultTarget::ceilings) {
      judge = std::make_unique<CeilingsJudge>(options_.gpu, earlier_);
    } else {
      judge = std::make_unique<SweepJudge>(options_.gpu, what, earlier_);
    }
    Calls calls = judge->calls();
    // Functions that both sweeps call fail in the plain sweep only.
    const auto plain = judges_.find(FaultTarget::sweep);
    if (what == FaultTarget::sweep_with_metrics && plain != judges_.end()) {
      std::erase_if(calls, [&](const auto& call) { return plain->second->calls().contains(call.first); });
    }
    functions_ += calls.size();
    if (!options_.only.empty()) return;
    if (!options_.calls.empty()) {
      std::erase_if(calls, [&](const auto& call) {
        return std::ranges::find(options_.calls, call.first) == options_.calls.end();
      });
    }
    // `ceilings` does not restart.
    const bool at_restart_too = !options_.gpu.real && what != FaultTarget::ceilings;
    std::ranges::move(make_faults(what, calls, at_restart_too), std::back_inserter(faults_));
  }

  const Options& options_;
  CaseReport& account_;
  TemporaryFolder home_;
  fs::path earlier_ = home_ / "earlier.attnscope";
  std::map<FaultTarget, std::unique_ptr<Judge>> judges_;
  std::vector<Fault> faults_;
  std::size_t functions_ = 0;
};

int run_fault_campaign(int argc, char** argv) {
  CLI::App app("Makes single calls of the driver, NVRTC, CUPTI and NVML fail and checks the outcome of the command.");
  Options options;
  options.seed = std::random_device()() % 1'000'000;
  app.add_option("--program", options.gpu.program, "attnscope program to test")->capture_default_str();
  app.add_option("--between", options.gpu.between, "Library to preload")->capture_default_str();
  app.add_option("--fake", options.gpu.fake, "Fake GPU library")->capture_default_str();
  app.add_flag("--real", options.gpu.real, "Use the GPU of this machine");
  const std::map<std::string, FaultTarget> commands{
      {"sweep", FaultTarget::sweep}, {"metrics", FaultTarget::sweep_with_metrics}, {"ceilings", FaultTarget::ceilings}};
  app.add_option("--commands", options.what,
                 "Commands to test: sweep, metrics (a sweep with --metrics), ceilings (default: all)")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(commands));
  CLI::Option* calls =
      app.add_option("--calls", options.calls, "Functions to fail (default: all that are called)")->delimiter(',');
  app.add_option("--only", options.only, "Names of cases to run")->delimiter(',')->excludes(calls);
  app.add_option("--seed", options.seed, "Offset of the first case with --every (default: random)");
  app.add_option("--every", options.every, "Run every K-th case")->check(CLI::Range(1L, 1000000L));
  app.add_option("--jobs", options.jobs, "Concurrent cases")->check(CLI::Range(1U, 1024U));
  app.add_option("--keep", options.keep, "Folder for files of failed cases")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  CaseReport account(options.keep);
  Campaign campaign(options, account);
  const std::vector<Fault>& faults = campaign.faults();
  std::cout << fmt::format("seed {}: {} functions, {} faults, every {}.\n", options.seed, campaign.functions(),
                           faults.size(), options.every)
            << std::flush;
  const long first = static_cast<long>(options.seed % static_cast<std::uint64_t>(options.every));
  const auto place = [&](long n) { return first + n * options.every; };
  for_each_case(
      options.jobs, [&](long n) { return place(n) < std::ssize(faults); },
      [&](long n) { campaign.try_fault(faults[static_cast<std::size_t>(place(n))]); });
  std::cout << fmt::format("{} cases, {} failures\n", account.cases(), account.failures());
  return account.failures() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace attnscope::testing

int main(int argc, char** argv) {
  try {
    return attnscope::testing::run_fault_campaign(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "gpu_faults: " << error.what() << '\n';
    return 2;
  }
}

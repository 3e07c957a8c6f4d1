// SPDX-License-Identifier: Apache-2.0
// Lets single calls of the driver, NVRTC, CUPTI and NVML fail in a sweep, one by one, and looks at what becomes of it:
// no crash, one line that names the call where anything is missing, no value that an undisturbed sweep does not give,
// no simulation in the GPU's place, what was collected before is there, and `--resume` completes the run. Runs on the
// library that stands for a GPU in tests, or with --real on this machine's GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "cases.h"
#include "profiler/metrics/metrics.h"
#include "storage/run_store.h"
#include "tests/app/subprocess.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using Mode = RunStore::Mode;
using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

struct Options {
  fs::path program = beside_us("attnscope", ATTNSCOPE_PROGRAM);
  fs::path between = beside_us("libattnscope_fail_gpu.so", ATTNSCOPE_FAIL_GPU_LIBRARY);
  fs::path fake = beside_us("libattnscope_fake_gpu.so", ATTNSCOPE_FAKE_GPU_LIBRARY);
  fs::path keep = "kept-cases";
  std::vector<std::string> calls;
  std::uint64_t seed = 0;
  unsigned jobs = 1;
  long every = 1;
  bool real = false;
};

/// One failure: of which call, with what answer, and for how long.
struct Fault {
  std::string call;
  long at = 1;
  int code = 0;
  bool metrics = false;     ///< in a sweep that asks for one more counter by its name
  bool stays = false;       ///< all later calls of it fail as well
  bool at_restart = false;  ///< in the process that takes over after a point has cost the device

  [[nodiscard]] std::string name() const {
    return fmt::format("{}-{}-code{}{}{}{}", call, at, code, metrics ? "-metrics" : "", stays ? "-stays" : "",
                       at_restart ? "-at-restart" : "");
  }
};

constexpr int out_of_memory = 2;  ///< CUDA_ERROR_OUT_OF_MEMORY

/// Codes of each library that mean different things to the program: used up, gone or faulted, refused, unknown.
std::vector<int> codes_of(const std::string& call) {
  if (call.starts_with("cupti")) return {999, 35, 26};  // unknown, insufficient privileges, hardware busy
  if (call.starts_with("nvrtc")) return {1, 6};         // out of memory, compilation
  if (call.starts_with("nvml")) return {3, 999};        // not supported, unknown
  return {out_of_memory, 700, 999};                     // out of memory, illegal address, unknown
}

/// What a failure of does not touch any number: giving back, and the names of errors.
bool is_silent(const std::string& call) {
  static const std::set<std::string> silent{"cuMemFree",
                                            "cuMemFree_v2",
                                            "cuModuleUnload",
                                            "cuEventDestroy",
                                            "cuEventDestroy_v2",
                                            "cuStreamDestroy",
                                            "cuStreamDestroy_v2",
                                            "cuDevicePrimaryCtxRelease",
                                            "cuDevicePrimaryCtxRelease_v2",
                                            "cuGetErrorName",
                                            "cuGetErrorString",
                                            "nvrtcDestroyProgram",
                                            "cuptiGetResultString",
                                            "cuptiProfilerHostDeinitialize",
                                            "cuptiRangeProfilerDisable",
                                            "nvmlShutdown"};
  return silent.contains(call);
}

/// What a point says of the GPU, without when and for how long.
struct Finding {
  Disposition disposition = Disposition::ok;
  std::string reason;
  std::map<std::string, double> metrics;  ///< by kernel and name
  std::set<double> samples;
  std::vector<LaunchRecord> launches;
  std::optional<ClockReading> clocks;
  std::optional<double> error;

  /// But for what is measured, see agree() and takes_as_long().
  [[nodiscard]] bool same_result(const Finding& other) const {
    return disposition == other.disposition && metrics.size() == other.metrics.size() && launches == other.launches &&
           error == other.error;
  }
};

/// A GPU counts the same bytes between SM and L2 each time, and others within what caches and clocks make of it.
bool agree(const std::string& metric, double value, double undisturbed, bool real) {
  if (!real) return value == undisturbed;
  constexpr double tolerance = 0.05;
  if (!metric.ends_with(metric_key::l2_to_sm_bytes) && !metric.ends_with(metric_key::sm_to_l2_bytes)) {
    return std::isfinite(value);
  }
  return std::abs(value - undisturbed) <= tolerance * undisturbed;
}

bool takes_as_long(double sample_ns, const std::set<double>& undisturbed, bool real) {
  if (!real) return undisturbed.contains(sample_ns);
  constexpr double factor = 20;  // a first launch after a fault, at an idle GPU's clock
  return !undisturbed.empty() && sample_ns * factor > *undisturbed.begin() &&
         sample_ns < *undisturbed.rbegin() * factor;
}

struct Sweep {
  StoredRunState state = StoredRunState::complete;
  std::map<std::size_t, Finding> points;
};

/// The runs of a file, each with its points. Throws Wrong where one is not a GPU's.
std::vector<Sweep> sweeps_in(const fs::path& file) {
  const RunStore store = RunStore::open(file, Mode::read_only);
  std::vector<Sweep> sweeps;
  for (const RunSummary& run : store.runs()) {
    require(!run.simulated, "a simulation stands in the GPU's place");
    Sweep& sweep = sweeps.emplace_back();
    sweep.state = run.state;
    for (const StoredPoint& point : store.points({{run.id}})) {
      Finding& finding = sweep.points[point.index];
      finding.disposition = point.record.disposition;
      finding.reason = english_text(point.record.reason);
      finding.clocks = point.record.clocks;
      finding.error = point.record.max_abs_error;
      require(point.record.provenance == Provenance::measured, "a point is not a measured one");
      for (const KernelRecord& kernel : point.record.kernels) {
        for (const MetricValue& metric : kernel.metrics) {
          finding.metrics[kernel.kernel + " " + metric.name] = metric.value;
        }
        finding.samples.insert(kernel.samples_ns.begin(), kernel.samples_ns.end());
        if (kernel.launch) finding.launches.push_back(*kernel.launch);
      }
    }
  }
  require(store.bad_rows().empty(), "rows are damaged");
  return sweeps;
}

class Campaign {
 public:
  Campaign(const Options& options, Account& account) : options_(options), account_(account) {
    require_success(collect(home_, "N=64", earlier_, gpu()));
    plain_ = undisturbed(false);
    metrics_ = undisturbed(true);
    // What both sweeps call fails in the plain one.
    std::erase_if(metrics_.calls, [&](const auto& call) { return plain_.calls.contains(call.first); });
    if (plain_.calls.size() < 20) throw std::runtime_error("no calls were seen: is the library preloaded?");
  }

  [[nodiscard]] std::vector<Fault> faults() const {
    std::vector<Fault> all;
    for (const bool metrics : {false, true}) {
      for (const auto& [call, count] : (metrics ? metrics_ : plain_).calls) {
        if (options_.calls.empty() || std::ranges::find(options_.calls, call) != options_.calls.end()) {
          add_faults({.call = call, .metrics = metrics}, count, all);
        }
      }
    }
    return all;
  }

  void try_fault(const Fault& fault) {
    const TemporaryFolder folder;
    const fs::path work = folder / "work";
    fs::create_directory(work);
    const fs::path file = work / "run.attnscope";
    fs::copy_file(earlier_, file);
    account_.tried();
    try {
      judge(fault, folder, file);
    } catch (const std::exception& wrong) {
      account_.failed(fault.name(), wrong.what(), work);
    }
  }

  [[nodiscard]] std::size_t functions() const { return plain_.calls.size() + metrics_.calls.size(); }

 private:
  /// A sweep that nobody disturbs: what it finds, and how often it calls each function.
  struct Undisturbed {
    Sweep sweep;
    std::map<std::string, long> calls;
  };

  [[nodiscard]] Undisturbed undisturbed(bool metrics) const {
    const TemporaryFolder fresh;  // nothing is compiled yet
    const fs::path file = fresh / "whole.attnscope";
    Environment environment = gpu();
    environment["ATTNSCOPE_FAIL_LOG"] = fresh / "calls.txt";
    environment["LD_PRELOAD"] = options_.between;
    fs::copy_file(earlier_, file);
    require_success(collect(fresh, axes, file, environment, more_words(metrics)));
    Undisturbed found{.sweep = sweeps_in(file).at(1), .calls = {}};
    std::ifstream calls(fresh / "calls.txt");
    std::string name;
    for (long count = 0; calls >> name >> count;) found.calls[name] = count;
    for (const auto& [index, point] : found.sweep.points) {
      if (point.disposition != Disposition::ok) throw std::runtime_error("undisturbed: " + point.reason);
    }
    return found;
  }

  static Words more_words(bool metrics) { return metrics ? Words{"--metrics", "lts__t_bytes.sum"} : Words{}; }

  void add_faults(Fault fault, long count, std::vector<Fault>& all) const {
    std::set<long> places{1, 2, 3, count / 2, count - 1, count};
    std::erase_if(places, [&](long at) { return at < 1 || at > count; });
    for (const int code : codes_of(fault.call)) {
      fault.code = code;
      for (const long at : places) {
        fault.at = at;
        for (const bool stays : {false, true}) {
          fault.stays = stays;
          all.push_back(fault);
        }
      }
      const bool of_driver = fault.call.starts_with("cu") && !fault.call.starts_with("cupti");
      if (options_.real || !of_driver) continue;
      Fault later = fault;
      later.at = 1;
      later.at_restart = true;
      all.push_back(later);
    }
  }

  [[nodiscard]] Environment gpu(const std::string& faults = {}) const {
    Environment environment;
    if (options_.real) return environment;
    for (const char* library : {"CUDA", "NVRTC", "CUPTI", "NVML"}) {
      environment[fmt::format("ATTNSCOPE_{}_LIBRARY", library)] = options_.fake;
    }
    environment["ATTNSCOPE_FAKE_GPU"] = "compute-output" + (faults.empty() ? "" : "," + faults);
    return environment;
  }

  /// Its events on stdout.
  [[nodiscard]] Outcome collect(const TemporaryFolder& home, const std::string& lengths, const fs::path& file,
                                const Environment& environment, const Words& more = {}) const {
    Words words{"collect", "--jsonl", "--timeout",    "5",           "-a", lengths,      "-a", "heads=1",
                "-a",      "d=64",    "--algorithms", "fa2,splitkv", "-o", file.string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(home, words, {.environment = environment, .program = options_.program});
  }

  static void require_success(const Outcome& outcome) {
    if (outcome.exit_code != 0) throw std::runtime_error("undisturbed: " + outcome.err + outcome.out);
  }

  [[nodiscard]] Outcome disturbed(const Fault& fault, const TemporaryFolder& folder, const fs::path& file) const {
    // The device is lost once: by a kernel that faults, in the first process.
    const std::string mark = folder / "mark";
    Environment environment = gpu(fault.at_restart ? "crash=splitkv,mark=" + mark : "");
    environment["LD_PRELOAD"] = options_.between;
    environment["ATTNSCOPE_FAIL_CALL"] = fault.call;
    environment["ATTNSCOPE_FAIL_AT"] = std::to_string(fault.at);
    environment["ATTNSCOPE_FAIL_CODE"] = std::to_string(fault.code);
    if (fault.stays) environment["ATTNSCOPE_FAIL_STAYS"] = "1";
    if (!fault.stays) environment["ATTNSCOPE_FAIL_ONCE"] = folder / "failed";
    if (fault.at_restart) environment["ATTNSCOPE_FAIL_WHEN"] = mark;
    return collect(folder, axes, file, environment, more_words(fault.metrics));
  }

  void judge(const Fault& fault, const TemporaryFolder& folder, const fs::path& file) const {
    const Outcome outcome = disturbed(fault, folder, file);
    std::ofstream(file.parent_path() / "said.txt") << outcome.out << outcome.err;
    require(outcome.exit_code >= 0, fmt::format("it ended by signal {}", -outcome.exit_code));
    require(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 1, "more than a line: " + outcome.err);
    const std::vector<Sweep> sweeps = sweeps_in(file);
    require(sweeps.at(0).points.size() == 2 && sweeps.size() <= 2,
            "an earlier run is not what it was, or more are new");
    const bool begun = sweeps.size() == 2;
    bool whole = begun;
    std::string said = outcome.err + outcome.out;
    if (begun) {
      whole = judge_points(sweeps[1], fault);
      for (const auto& [index, point] : sweeps[1].points) said += point.reason;
    }
    const bool memory =
        fault.call.starts_with("cuMemAlloc") && fault.code == out_of_memory;  // a result, in other words
    if (!whole && !is_silent(fault.call) && !memory) {
      const std::string named = fault.call.substr(0, fault.call.find("_v"));
      require(said.find(named) != std::string::npos, "nothing names the call: " + outcome.err);
    }
    require(!begun || outcome.exit_code != 0 || sweeps[1].state == StoredRunState::complete,
            "exit code 0, and the run is not complete");
    require(begun || outcome.exit_code != 0, "exit code 0, and there is no run");
    if (fault.at_restart) {
      require(outcome.exit_code == 5 || whole_but_crashes(sweeps.at(1)),
              "exit code " + std::to_string(outcome.exit_code));
    }

    Words resuming = more_words(fault.metrics);
    resuming.emplace_back("--resume");
    const Outcome again = collect(folder, axes, file, gpu(), resuming);
    require(again.exit_code == 0 || again.exit_code == 5, "resuming fails: " + again.err);
    const std::vector<Sweep> resumed = sweeps_in(file);
    require(resumed.size() == 2, "resuming began another run");
    require(resumed[1].state == StoredRunState::complete, "the resumed run is not complete");
    const Sweep& wanted = (fault.metrics ? metrics_ : plain_).sweep;
    require(resumed[1].points.size() == wanted.points.size(), "the resumed run lacks points");
    (void)judge_points(resumed[1], fault);
  }

  static bool whole_but_crashes(const Sweep& sweep) { return sweep.state == StoredRunState::complete; }

  /// Whether the sweep is what an undisturbed one is; throws Wrong where it says what that does not.
  bool judge_points(const Sweep& sweep, const Fault& fault) const {
    const Sweep& undisturbed = (fault.metrics ? metrics_ : plain_).sweep;
    bool whole = sweep.points.size() == undisturbed.points.size();
    for (const auto& [index, point] : sweep.points) {
      const auto found = undisturbed.points.find(index);
      require(found != undisturbed.points.end(), fmt::format("point {} is not in the plan", index));
      const Finding& wanted = found->second;
      if (point.disposition == Disposition::ok) {
        require(point.same_result(wanted), fmt::format("point {} is ok and has other values", index));
        require(!point.samples.empty(), fmt::format("point {} is ok and has no time", index));
      } else {
        whole = false;
        require(!point.reason.empty(), fmt::format("point {} is not ok and has no reason", index));
        require(fault.at_restart || point.disposition != Disposition::infeasible,
                fmt::format("point {} is called infeasible", index));
      }
      for (const auto& [name, value] : point.metrics) {
        const auto metric = wanted.metrics.find(name);
        require(metric != wanted.metrics.end() && agree(name, value, metric->second, options_.real),
                fmt::format("point {}: {} is {}", index, name, value));
      }
      for (const double sample : point.samples) {
        require(takes_as_long(sample, wanted.samples, options_.real),
                fmt::format("point {} has a sample of {} ns", index, sample));
      }
      // Without NVML there are none, which a point without them says.
      require(!point.clocks || options_.real || *point.clocks == wanted.clocks,
              fmt::format("point {} has other clocks", index));
    }
    return whole;
  }

  static constexpr const char* axes = "N=[16,32,48]";
  const Options& options_;
  Account& account_;
  TemporaryFolder home_;
  fs::path earlier_ = home_ / "earlier.attnscope";
  Undisturbed plain_;
  Undisturbed metrics_;  ///< with --metrics
};

int fail_and_look(int argc, char** argv) {
  CLI::App app("Lets single calls of the driver, NVRTC, CUPTI and NVML fail, and looks at what becomes of the sweep.");
  Options options;
  options.seed = std::random_device()() % 1'000'000;
  app.add_option("--program", options.program, "The attnscope to disturb")->capture_default_str();
  app.add_option("--between", options.between, "What is preloaded into it")->capture_default_str();
  app.add_option("--fake", options.fake, "The library that stands for a GPU")->capture_default_str();
  app.add_flag("--real", options.real, "On this machine's GPU instead");
  app.add_option("--calls", options.calls, "Only these functions (default: all that a sweep calls)")->delimiter(',');
  app.add_option("--seed", options.seed, "The first case with --every (default: random)");
  app.add_option("--every", options.every, "Only each K-th case")->check(CLI::Range(1L, 1000000L));
  app.add_option("--jobs", options.jobs, "How many cases at a time")->check(CLI::Range(1U, 1024U));
  app.add_option("--keep", options.keep, "Folder for the files of cases that fail")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  Account account(options.keep);
  Campaign campaign(options, account);
  const std::vector<Fault> faults = campaign.faults();
  std::cout << fmt::format("seed {}: {} functions, {} faults, each {}.\n", options.seed, campaign.functions(),
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
    return attnscope::testing::fail_and_look(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "gpu_faults: " << error.what() << '\n';
    return 2;
  }
}

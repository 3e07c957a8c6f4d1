// SPDX-License-Identifier: Apache-2.0
// Runs the program where things are not as they should be: odd variables, closed descriptors, limits, a folder that is
// gone, a disk that is slow or takes nothing. Each operation that writes then comes to what it comes to elsewhere, or
// ends with one line and can be done again; and a sweep without a file's name puts its file where its user's data
// belong, never into the folder that it is started in, and never simulates in a GPU's place.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <random>
#include <thread>

#include "cases.h"
#include "operations.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> parts{"environments", "home", "disks", "signals"};
  std::uint64_t seed = 0;
  long every = 1;
  long count = 40;
  unsigned jobs = 1;
  fs::path keep = "kept-cases";
  fs::path library = beside_us("libattnscope_fail_at.so", ATTNSCOPE_FAIL_AT_LIBRARY);
  fs::path fake = beside_us("libattnscope_fake_gpu.so", ATTNSCOPE_FAKE_GPU_LIBRARY);

  [[nodiscard]] bool has(std::string_view part) const { return std::ranges::find(parts, part) != parts.end(); }
};

/// What a shell does before it becomes the program.
struct Surroundings {
  const char* name;
  const char* prelude;
};

constexpr Surroundings everywhere[] = {
    {"home-unset", "unset HOME"},
    {"home-empty", "export HOME="},
    {"home-relative", "export HOME=somewhere"},
    {"home-missing", "export HOME=/nonexistent/home"},
    {"home-file", "export HOME=/dev/null"},
    {"data-relative", "export XDG_DATA_HOME=data"},
    {"cache-relative", "export XDG_CACHE_HOME=cache"},
    {"cache-nowhere", "export XDG_CACHE_HOME=/proc/nowhere"},
    {"cache-below-a-file", "export XDG_CACHE_HOME=/dev/null/cache"},
    {"cache-of-another-kind", "mkdir -p \"$XDG_CACHE_HOME\" && : > \"$XDG_CACHE_HOME/attnscope\""},
    {"temporary-missing", "export TMPDIR=/nonexistent"},
    {"temporary-file", "export TMPDIR=/dev/null"},
    {"temporary-relative", "export TMPDIR=tmp"},
    {"locale-unknown", "export LANG=xx_YY.utf9 LC_ALL=xx_YY.utf9"},
    {"locale-no-text", "export LC_ALL=$(printf '\\377\\376')"},
    {"locale-comma", "export LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8"},
    {"locale-turkish", "export LC_ALL=tr_TR.UTF-8"},
    {"time-zone-odd", "export TZ=Nowhere/At/All"},
    {"terminal-none", "unset TERM COLUMNS; export COLUMNS=-1"},
    {"path-empty", "export PATH="},
    {"display-wrong", "export DISPLAY=:7777 WAYLAND_DISPLAY=nothing"},
    {"messages-missing", "export ATTNSCOPE_MESSAGES="},
    {"descriptors-closed", "exec <&- >&- 2>&-"},
    {"input-closed", "exec <&-"},
    {"output-closed", "exec >&-"},
    {"output-full", "exec >/dev/full"},
    {"errors-closed", "exec 2>&-"},
    {"files-3", "ulimit -n 3"},
    {"files-4", "ulimit -n 4"},
    {"files-6", "ulimit -n 6"},
    {"files-8", "ulimit -n 8"},
    {"size-4k", "ulimit -f 8"},
    {"size-40k", "ulimit -f 80"},
    {"size-100k", "ulimit -f 200"},
    {"memory-30m", "ulimit -v 30000"},
    {"memory-100m", "ulimit -v 100000"},
    {"stack-256k", "ulimit -s 256"},
    {"mask-777", "umask 777"},
    {"folder-gone", "mkdir gone && cd gone && rmdir ../gone"},
    {"interrupts-ignored", "trap '' HUP INT TERM XFSZ PIPE"},
};

/// A GPU's libraries that are none.
constexpr Surroundings libraries[] = {
    {"driver-missing", "export ATTNSCOPE_CUDA_LIBRARY=/nonexistent/libcuda.so"},
    {"driver-no-library", "export ATTNSCOPE_CUDA_LIBRARY=/etc/passwd"},
    {"driver-folder", "export ATTNSCOPE_CUDA_LIBRARY=/tmp"},
    {"driver-device", "export ATTNSCOPE_CUDA_LIBRARY=/dev/null"},
    {"driver-another", "export ATTNSCOPE_CUDA_LIBRARY=libm.so.6"},
    {"nvrtc-missing", "export ATTNSCOPE_NVRTC_LIBRARY=/nonexistent/libnvrtc.so"},
    {"nvrtc-another", "export ATTNSCOPE_NVRTC_LIBRARY=libm.so.6"},
    {"cupti-missing", "export ATTNSCOPE_CUPTI_LIBRARY=/nonexistent/libcupti.so"},
    {"cupti-another", "export ATTNSCOPE_CUPTI_LIBRARY=libm.so.6"},
    {"nvml-missing", "export ATTNSCOPE_NVML_LIBRARY=/nonexistent/libnvml.so"},
    {"nvml-another", "export ATTNSCOPE_NVML_LIBRARY=libm.so.6"},
};

/// The program with these words, started in `where` by a shell that does `prelude` first.
Outcome run_in(const TemporaryFolder& home, const fs::path& program, const Words& words, const std::string& prelude,
               const fs::path& where, const std::map<std::string, std::string>& environment = {}) {
  Words shell{"-c", fmt::format("cd \"$0\" && shift 0; program=$1; shift; {}\nexec \"$program\" \"$@\"", prelude),
              where.string(), program.string()};
  shell.insert(shell.end(), words.begin(), words.end());
  return run(home, shell, {.environment = environment, .program = "/bin/sh"});
}

class Campaign {
 public:
  Campaign(const Options& options, const Fixture& fixture, Account& account)
      : options_(options), fixture_(fixture), account_(account), operations_(all_operations()) {}

  void environments() {
    const long count = std::ssize(everywhere) * std::ssize(operations_);
    each("environments", count, [&](long n) {
      const Surroundings& around = everywhere[static_cast<std::size_t>(n) / operations_.size()];
      const Operation& operation = operations_[static_cast<std::size_t>(n) % operations_.size()];
      judge_disturbed(
          fixture_, operation, fmt::format("{}-{}", operation.name, around.name),
          [&](const TemporaryFolder& home, const Words& words, const fs::path&) {
            const fs::path where = home / "here";
            fs::create_directory(where);
            Outcome outcome = run_in(home, fixture_.program, words, around.prelude, where);
            require(fs::is_empty(where), "something is written into the working folder");
            return outcome;
          },
          account_);
    });
  }

  /// Sweeps whose file nobody names, on the library that stands for a GPU.
  void home() {
    const long count = std::ssize(everywhere) + std::ssize(libraries);
    each("home", count, [&](long n) {
      const auto index = static_cast<std::size_t>(n);
      const Surroundings& around =
          index < std::size(everywhere) ? everywhere[index] : libraries[index - std::size(everywhere)];
      const TemporaryFolder folder;
      account_.tried();
      try {
        judge_home(around, folder);
      } catch (const std::exception& wrong) {
        account_.failed(fmt::format("home-{}", around.name), wrong.what(), folder.path());
      }
    });
  }

  /// Disks that take nothing, or each thing only after a while.
  void disks() {
    each("disks", 2 * std::ssize(operations_), [&](long n) {
      const Operation& operation = operations_[static_cast<std::size_t>(n / 2)];
      const std::string how = n % 2 == 0 ? "slow" : "read-only";
      judge_disturbed(
          fixture_, operation, fmt::format("{}-{}", operation.name, how),
          [&](const TemporaryFolder& home, const Words& words, const fs::path& below) {
            Outcome outcome = fixture_.run(home, words, preloaded(how, below));
            require(how != "slow" || outcome.exit_code == 0, "a slow disk ends it: " + outcome.err);
            require(how != "read-only" || outcome.exit_code == 1, "it succeeds on a disk that takes nothing");
            return outcome;
          },
          account_);
    });
  }

  /// Signals at random times, on a slow disk: cancelled in the midst of waiting for it.
  void signals() {
    each("signals", options_.count, [&](long n) {
      std::seed_seq seed{options_.seed, static_cast<std::uint64_t>(n)};
      std::mt19937_64 random(seed);
      const Operation& operation = operations_[random() % operations_.size()];
      constexpr int choices[] = {SIGINT, SIGTERM, SIGHUP};
      const int signal = choices[random() % std::size(choices)];
      const auto after = std::chrono::milliseconds(random() % 900);
      judge_disturbed(
          fixture_, operation, fmt::format("{}-signal-{}", operation.name, n),
          [&](const TemporaryFolder& home, const Words& words, const fs::path& below) {
            Process process(home, words, {.environment = preloaded("slow", below), .program = fixture_.program});
            std::this_thread::sleep_for(after);
            process.send(signal);
            return process.wait();
          },
          account_);
    });
  }

 private:
  template <class Case>
  void each(const char* part, long count, Case&& one) {
    const std::size_t before = account_.failures();
    const long first = static_cast<long>(options_.seed % static_cast<std::uint64_t>(options_.every));
    const auto place = [&](long n) { return first + n * options_.every; };
    for_each_case(
        options_.jobs, [&](long n) { return place(n) < count; }, [&](long n) { one(place(n)); });
    account_.say(fmt::format("{:12} {:5} cases, {} broken\n", part, count, account_.failures() - before));
  }

  [[nodiscard]] std::map<std::string, std::string> preloaded(const std::string& how, const fs::path& below) const {
    return {{"LD_PRELOAD", options_.library},
            {"ATTNSCOPE_FAIL_UNDER", below},
            {"ATTNSCOPE_FAIL_AT", "1"},
            {"ATTNSCOPE_FAIL_HOW", how}};
  }

  void judge_home(const Surroundings& around, const TemporaryFolder& folder) const {
    const fs::path where = folder / "here";
    fs::create_directory(where);
    std::map<std::string, std::string> environment{{"ATTNSCOPE_FAKE_GPU", "compute-output"}};
    for (const char* library : {"CUDA", "NVRTC", "CUPTI", "NVML"}) {
      environment[fmt::format("ATTNSCOPE_{}_LIBRARY", library)] = options_.fake;
    }
    const Words words{"collect", "-a", "N=[16,32]", "-a", "heads=1", "--algorithms", "fa2", "-q"};
    const std::string data = folder / "data";
    const Outcome outcome = run_in(folder, fixture_.program, words, around.prelude, where, environment);
    require(outcome.exit_code >= 0, fmt::format("it ended by signal {}", -outcome.exit_code));
    require(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 1, "more than a line: " + outcome.err);
    require(fs::is_empty(where), "something is written into the working folder");
    std::vector<fs::path> files;
    if (fs::exists(data)) {
      for (const auto& entry : fs::recursive_directory_iterator(data)) {
        if (entry.path().extension() == ".attnscope") files.push_back(entry.path());
      }
    }
    if (outcome.exit_code == 0 && files.empty()) {  // where the user's home is, as the system has it
      require(std::string_view(around.name) == "data-relative", "there is no file");
      return;
    }
    // Where there is no driver at all, a simulation is what a sweep without --device is, and says so.
    const bool may_simulate = std::string_view(around.name) == "driver-missing" && !outcome.err.empty();
    for (const fs::path& file : files) judge_file(file, outcome, may_simulate);
    const bool speaks = std::string_view(around.prelude).find("2>&-") == std::string_view::npos;
    require(outcome.exit_code == 0 || !outcome.err.empty() || !speaks, "it fails without a word");
  }

  static void judge_file(const fs::path& file, const Outcome& outcome, bool may_simulate) {
    const Stored stored = stored_in(file);
    require(may_simulate || !stored.simulated, "a simulation stands in the GPU's place");
    require(outcome.exit_code != 0 || stored.points == 2, "points are missing, and the exit code is 0");
  }

  const Options& options_;
  const Fixture& fixture_;
  Account& account_;
  const std::vector<Operation> operations_;
};

int run_and_look(int argc, char** argv) {
  CLI::App app("Runs attnscope in odd surroundings, and looks at what becomes of its files.");
  Options options;
  Fixture fixture;
  options.seed = std::random_device()() % 1'000'000;
  app.add_option("--program", fixture.program, "The attnscope to run")->capture_default_str();
  app.add_option("--library", options.library, "What makes disks slow and read-only")->capture_default_str();
  app.add_option("--fake", options.fake, "The library that stands for a GPU")->capture_default_str();
  app.add_option(
         "--parts", options.parts,
         "environments: variables, descriptors and limits, in each operation that writes; home: in sweeps whose "
         "file nobody names; disks: slow and read-only ones; signals: at random times, on a slow disk")
      ->delimiter(',')
      ->check(CLI::IsMember({"environments", "home", "disks", "signals"}));
  app.add_option("--seed", options.seed, "Of the random times, and the first case with --every (default: random)");
  app.add_option("--every", options.every, "Only each K-th case")->check(CLI::Range(1L, 1000000L));
  app.add_option("--count", options.count, "How many signals")->capture_default_str();
  app.add_option("--jobs", options.jobs, "How many cases at a time")->check(CLI::Range(1U, 1024U));
  app.add_option("--keep", options.keep, "Folder for the files of cases that fail")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  std::cout << fmt::format("seed {}\n", options.seed) << std::flush;
  fixture.make();
  Account account(options.keep);
  Campaign campaign(options, fixture, account);
  if (options.has("environments")) campaign.environments();
  if (options.has("home") && !options.fake.empty()) campaign.home();
  if (options.has("disks")) campaign.disks();
  if (options.has("signals")) campaign.signals();
  std::cout << fmt::format("{} cases, {} broken\n", account.cases(), account.failures());
  return account.failures() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace attnscope::testing

int main(int argc, char** argv) {
  try {
    return attnscope::testing::run_and_look(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "surroundings: " << error.what() << '\n';
    return 2;
  }
}

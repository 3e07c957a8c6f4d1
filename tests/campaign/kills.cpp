// SPDX-License-Identifier: Apache-2.0
// Disturbs each operation that writes files: kills the program at every call that changes a file, fills the disk there,
// and kills it at random times. Then checks the files: all points that were printed and all earlier data must be
// present, repeating the operation must give the result of an undisturbed run, and no other files may be left. Files of
// a failed case are kept as they were after the kill.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "cases.h"
#include "operations.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> operations;
  std::vector<std::string> parts{"kill", "torn", "full", "error", "gone", "random"};
  std::uint64_t seed = 0;
  long every = 1;
  long count = 100;
  double hours = 0;
  unsigned jobs = 1;
  fs::path keep = "kept-cases";
  fs::path library = sibling_file("libattnscope_fail_at.so", ATTNSCOPE_FAIL_AT_LIBRARY);

  [[nodiscard]] bool has(std::string_view part) const { return std::ranges::find(parts, part) != parts.end(); }
};

class Campaign {
 public:
  Campaign(const Options& options, const Fixture& fixture, CaseReport& account)
      : options_(options), fixture_(fixture), account_(account) {}

  void run_at_each_call(const Operation& operation, const std::string& how) {
    const TemporaryFolder folder;
    const fs::path work = folder / "work";
    fs::create_directory(work);
    operation.prepare(fixture_, work);
    const Outcome whole = fixture_.run(folder, operation.words(fixture_, work),
                                       {{"LD_PRELOAD", options_.library},
                                        {"ATTNSCOPE_FAIL_UNDER", work},
                                        {"ATTNSCOPE_FAIL_LOG", folder / "calls.txt"}});
    if (whole.exit_code != 0) throw std::runtime_error(whole.err);
    const std::string calls = content(folder / "calls.txt");
    const long count = std::count(calls.begin(), calls.end(), '\n');
    if (count == 0) throw std::runtime_error("no calls recorded (is the library preloaded?)");
    const std::size_t before = account_.failures();
    const long first = 1 + static_cast<long>(options_.seed % static_cast<std::uint64_t>(options_.every));
    const long tried = count < first ? 0 : (count - first) / options_.every + 1;
    for_each_case(
        options_.jobs, [&](long n) { return n < tried; },
        [&](long n) {
          const long at = first + n * options_.every;
          judge_disturbed(
              fixture_, operation, fmt::format("{}-{}-{}", operation.name, how, at),
              [&](const TemporaryFolder& where, const Words& words, const fs::path& below) {
                return fixture_.run(where, words,
                                    {{"LD_PRELOAD", options_.library},
                                     {"ATTNSCOPE_FAIL_UNDER", below},
                                     {"ATTNSCOPE_FAIL_AT", std::to_string(at)},
                                     {"ATTNSCOPE_FAIL_HOW", how}});
              },
              account_);
        });
    std::cout << fmt::format("{:12} {:6} {:5} of {:3} calls, {} failures\n", operation.name, how, tried, count,
                             account_.failures() - before);
    std::cout.flush();
  }

  void run_at_random(const std::vector<Operation>& operations) {
    std::map<std::string, std::chrono::microseconds> length;
    for (const Operation& operation : operations) length[operation.name] = time_of(operation);
    const std::size_t before = account_.failures();
    const auto end = Clock::now() + std::chrono::duration<double, std::ratio<3600>>(options_.hours);
    std::atomic<long> tried = 0;
    const auto more = [&](long n) { return n < options_.count || Clock::now() < end; };
    for_each_case(options_.jobs, more, [&](long n) {
      std::seed_seq seed{options_.seed, static_cast<std::uint64_t>(n)};
      std::mt19937_64 random(seed);
      const Operation& operation = operations[random() % operations.size()];
      const auto span = static_cast<std::uint64_t>(length.at(operation.name).count() * 11 / 10 + 1);
      const auto after = std::chrono::microseconds(static_cast<std::int64_t>(random() % span));
      judge_disturbed(
          fixture_, operation, fmt::format("{}-random-{}", operation.name, n),
          [&](const TemporaryFolder& where, const Words& words, const fs::path&) {
            Process process(where, words, {.program = fixture_.program});
            std::this_thread::sleep_for(after);
            process.send(SIGKILL);
            return process.wait();
          },
          account_);
      ++tried;
    });
    std::cout << fmt::format("{:12} {:6} {:5}, {} failures\n", "all", "random", tried.load(),
                             account_.failures() - before);
  }

 private:
  /// Measured with `jobs` concurrent processes, as in the test itself.
  [[nodiscard]] std::chrono::microseconds time_of(const Operation& operation) {
    std::mutex longest;
    std::chrono::microseconds time{};
    for_each_case(
        options_.jobs, [&](long n) { return n < static_cast<long>(options_.jobs); },
        [&](long) {
          const TemporaryFolder folder;
          fs::create_directory(folder / "work");
          operation.prepare(fixture_, folder / "work");
          const auto start = Clock::now();
          (void)fixture_.run(folder, operation.words(fixture_, folder / "work"));
          const std::lock_guard lock(longest);
          time = std::max(time, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start));
        });
    return time;
  }

  const Options& options_;
  const Fixture& fixture_;
  CaseReport& account_;
};

}  // namespace

int kills(int argc, char** argv) {
  CLI::App app("Disturbs attnscope while it writes files and checks the files.");
  Options options;
  Fixture fixture;
  options.seed = std::random_device()();
  app.add_option("--program", fixture.program, "attnscope program to test")->capture_default_str();
  app.add_option("--device", fixture.device, "Device of collect: simulated or gpu")->capture_default_str();
  app.add_option("--operations", options.operations, "Operations to test (default: all)")->delimiter(',');
  app.add_option(
         "--parts", options.parts,
         "Kinds of disturbance: kill (before each call), torn (during each write), full (no space from each call on), "
         "error (each call fails once), gone (no disk from each call on), random (kills at random times)")
      ->delimiter(',')
      ->check(CLI::IsMember({"kill", "torn", "full", "error", "gone", "random"}));
  app.add_option("--seed", options.seed, "Seed of random times and of the first call with --every (default: random)");
  app.add_option("--every", options.every, "Test every K-th call")->check(CLI::Range(1L, 1000000L));
  app.add_option("--count", options.count, "Number of kills at random times")->capture_default_str();
  app.add_option("--jobs", options.jobs, "Concurrent cases; does not change them")
      ->check(CLI::Range(1U, 1024U))
      ->capture_default_str();
  app.add_option("--library", options.library, "Library to preload")->capture_default_str();
  app.add_option("--hours", options.hours, "Minimum duration of random kills in hours");
  app.add_option("--keep", options.keep, "Folder for files of failed cases")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  std::cout << fmt::format("seed {}\n", options.seed);
  fixture.make();
  std::vector<Operation> operations = all_operations();
  if (!options.operations.empty()) {
    std::erase_if(operations, [&](const Operation& operation) {
      return std::ranges::find(options.operations, operation.name) == options.operations.end();
    });
  }
  if (operations.empty()) throw std::runtime_error("unknown operation");
  CaseReport account(options.keep);
  Campaign campaign(options, fixture, account);
  for (const Operation& operation : operations) {
    for (const char* how : {"kill", "torn", "full", "error", "gone"}) {
      if (options.has(how)) campaign.run_at_each_call(operation, how);
    }
  }
  if (options.has("random")) campaign.run_at_random(operations);
  std::cout << fmt::format("{} points printed before a disturbance, {} lost\n", account.announced(), account.lost());
  std::cout << fmt::format("{} cases, {} failures\n", account.cases(), account.failures());
  return account.failures() == 0 ? 0 : 1;
}

}  // namespace attnscope::testing

// SPDX-License-Identifier: Apache-2.0
// Tries each attack that was ever found. A case fails where what is claimed does not hold, where a program crashes, and
// where it takes more time or memory than it may.
#include "attacks.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace attnscope::testing {

namespace fs = std::filesystem;

Outcome bounded(const Attack& attack, const fs::path& program, const TemporaryFolder& folder, const Words& words,
                Process::Options options, long mib) {
  // A busy machine makes it no slower by the processor's time; who only waits is stopped by the clock.
  Words bounds{"-c",
               fmt::format("ulimit -t {}; ulimit -v {}; exec timeout -s KILL {} \"$0\" \"$@\"", attack.seconds,
                           mib << 10U, 10 * attack.seconds),
               program};
  bounds.insert(bounds.end(), words.begin(), words.end());
  options.program = "/bin/sh";
  Outcome outcome = run(folder, bounds, options);
  const std::string what = fmt::format("{} {}", program.filename().string(), words.empty() ? "" : words.front());
  require(outcome.exit_code != 137 && outcome.exit_code != -9, what + " takes too long");
  require(outcome.exit_code >= 0 && outcome.exit_code < 124,
          fmt::format("{} ended with {}: {}", what, outcome.exit_code, outcome.err));
  return outcome;
}

void require_refused(const Outcome& outcome, int exit_code, const std::vector<std::string>& parts) {
  const std::string said = fmt::format("exit code {}: {}", outcome.exit_code, outcome.err);
  require(outcome.exit_code == exit_code, said);
  require(std::ranges::count(outcome.err, '\n') == 1, "not one line, " + said);
  for (const std::string& part : parts) {
    require(outcome.err.find(part) != std::string::npos, fmt::format("it does not say '{}', {}", part, said));
  }
}

namespace {

struct Options {
  Programs programs;
  fs::path keep = "kept-cases";
  std::uint64_t seed = 0;
  std::vector<std::string> only;
  long count = 1;
  unsigned jobs = 1;
};

void try_one(const Attack& attack, const Options& options, long index, Account& account) {
  account.tried();
  Random random = random_of_case(options.seed, static_cast<std::uint64_t>(index));
  const TemporaryFolder folder;
  try {
    attack.judge(attack, options.programs, folder, random);
  } catch (const std::exception& wrong) {
    account.failed(fmt::format("attack-{}-{}-{}", attack.name, options.seed, index),
                   fmt::format("{}\n  against what is claimed: {}", wrong.what(), attack.claim), folder.path());
  }
}

int try_all(int argc, char** argv) {
  CLI::App app("Tries each attack that was ever found.");
  Options options;
  options.seed = std::random_device()() % 1'000'000;
  app.add_option("--program", options.programs.command, "The attnscope to run")->capture_default_str();
  app.add_option("--window", options.programs.window, "The attnscope-gui to run; left out where there is none")
      ->capture_default_str();
  app.add_option("--sample", options.programs.sample, "The recorded sample")->capture_default_str();
  app.add_option("--seed", options.seed, "The same seed makes the same cases (default: random)");
  app.add_option("--only", options.only, "These attacks, by their names")->delimiter(',');
  app.add_option("--count", options.count, "How often each")->capture_default_str();
  app.add_option("--jobs", options.jobs, "How many at a time")->check(CLI::Range(1U, 1024U));
  app.add_option("--keep", options.keep, "Folder for the files of cases that fail")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  std::vector<const Attack*> attacks;
  for (const std::span<const Attack> some : {attacks_by_remotes(), attacks_on_files()}) {
    for (const Attack& attack : some) {
      if (options.only.empty() || std::ranges::find(options.only, attack.name) != options.only.end()) {
        attacks.push_back(&attack);
      }
    }
  }
  std::cout << fmt::format("seed {}\n", options.seed);
  for (const Attack* attack : attacks) {
    std::cout << fmt::format("{}, {} s: {}\n", attack->name, attack->seconds, attack->claim);
  }
  std::cout << std::flush;
  Account account(options.keep);
  const long kinds = std::ssize(attacks);
  for_each_case(
      options.jobs, [&](long n) { return n < options.count * kinds; },
      [&](long n) { try_one(*attacks[static_cast<std::size_t>(n % kinds)], options, n / kinds, account); });
  std::cout << fmt::format("{} attacks, {} failures\n", account.cases(), account.failures());
  return account.failures() == 0 && account.cases() > 0 ? 0 : 1;
}

}  // namespace
}  // namespace attnscope::testing

int main(int argc, char** argv) {
  try {
    return attnscope::testing::try_all(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "attacks: " << error.what() << '\n';
    return 2;
  }
}

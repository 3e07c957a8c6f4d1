// SPDX-License-Identifier: Apache-2.0
// Error rates of verdicts on simulated rounds; prints the table "Verdicts" of measurements.md. Usage: `bench_verdicts
// [TRIALS]`, trials for coverage (default: 1,000).
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/profiler/stats/verdict_simulation.h"

namespace attnscope::simulated_rounds {
namespace {

constexpr std::uint64_t seed = 20261122;

void print_coverage(std::size_t trials) {
  fmt::print("Intervals of 95% that hold the truth, of {} trials, at 5, 10, 30 rounds\n", trials);
  for (const std::size_t rows : {1U, 20U, 500U}) {
    for (const Noise noise : noise_kinds) {
      fmt::print("  {:3} rows  {:18}", rows, to_string(noise));
      for (const std::size_t rounds : {5U, 10U, 30U}) {
        const Tally tally = play({.noise = noise, .rows = rows, .rounds = rounds, .changed = rows / 2, .change = 0.03},
                                 std::max<std::size_t>(trials / rows, 1), seed);
        fmt::print("  {:5.1f}%", 100 * tally.coverage_share());
      }
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
}

void print_identical_builds() {
  struct Design {
    const char* name;
    std::size_t base;
    std::size_t other;
    std::size_t rounds;
    std::size_t trials;
  };
  constexpr std::array designs{
      Design{"one interleaved", 0, 0, 10, 5},        Design{"1 against 1", 1, 1, 10, 40},
      Design{"2 against 3", 2, 3, 10, 20},           Design{"1 against 4", 1, 4, 10, 20},
      Design{"1 against 1, one round", 1, 1, 1, 40}, Design{"2 against 3, one round", 2, 3, 1, 20}};
  fmt::print("\nOne build against itself, 2,000 rows: FASTER or SLOWER; ambiguous; coverage\n");
  for (const Design& design : designs) {
    for (const Noise noise : noise_kinds) {
      const Tally tally = play(
          {.noise = noise, .rounds = design.rounds, .base_recordings = design.base, .other_recordings = design.other},
          design.trials, seed);
      fmt::print("  {:24} {:18} {:6.3f}%  {:5.1f}%  {:5.1f}%\n", design.name, to_string(noise),
                 100 * tally.false_verdict_share(),
                 100.0 * static_cast<double>(tally.undecided) / static_cast<double>(tally.rows),
                 100 * tally.coverage_share());
    }
  }
}

void print_power() {
  struct Plan {
    const char* name;
    std::size_t changed;
    double change;
    std::size_t trials;
  };
  constexpr std::array plans{Plan{"one of 2,000 by 5%", 1, 0.05, 100}, Plan{"1% of 2,000 by 2%", 20, 0.02, 20},
                             Plan{"10% of 2,000 by 2%", 200, 0.02, 10}, Plan{"all of 2,000 by 2%", 2000, 0.02, 5}};
  fmt::print("\nFound at 10 interleaved rounds (and wrong ones a 1,000 rows), by spread of a side's rounds\n");
  for (const Plan& plan : plans) {
    for (const Noise noise : noise_kinds) {
      fmt::print("  {:19} {:18}", plan.name, to_string(noise));
      for (const double spread : {0.005, 0.01, 0.02, 0.03, 0.05}) {
        const Tally tally =
            play({.noise = noise, .spread = spread, .changed = plan.changed, .change = plan.change}, plan.trials, seed);
        fmt::print("  {:.1f}%: {:5.1f}% ({:.2f})", 100 * spread, 100 * tally.detection_share(),
                   1000 * tally.false_verdict_share());
      }
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
}

void print_until_decided() {
  fmt::print("\nRounds until a verdict stands, at most 320, one row, 2,000 trials: decided; rounds; coverage\n");
  for (const double change : {0.0, 0.01, 0.02, 0.05}) {
    for (const Noise noise : noise_kinds) {
      for (const bool corrected : {true, false}) {
        std::size_t spent = 0;
        const Setting setting{.noise = noise, .rounds = 320, .spread = 0.01, .changed = 1, .change = change};
        const Tally tally = simulate_until_decided(setting, 2000, seed, corrected, &spent);
        const auto rows = static_cast<double>(tally.rows);
        fmt::print("  {:2.0f}% {:18} {:9} {:5.1f}% FASTER or SLOWER, {:5.1f}% SAME, {:5.1f} rounds, {:5.1f}%\n",
                   100 * change, to_string(noise), corrected ? "corrected" : "plain",
                   100 * static_cast<double>(tally.found + tally.wrong) / rows,
                   100 * static_cast<double>(tally.same) / rows, static_cast<double>(spent) / rows,
                   100 * tally.coverage_share());
      }
    }
  }
}

}  // namespace
}  // namespace attnscope::simulated_rounds

int main(int argc, char** argv) {
  using namespace attnscope::simulated_rounds;
  const std::size_t trials = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  print_coverage(trials == 0 ? 1000 : trials);
  print_identical_builds();
  print_power();
  print_until_decided();
  return 0;
}

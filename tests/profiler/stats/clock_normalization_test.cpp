// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/recording_noise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace attnscope::analysis {
namespace {

/// Simulates rounds of a kernel that takes `ns` at 1.8 GHz, of which the share `bound` scales with the clock, at clocks
/// around `ghz`.
SideRounds side(std::mt19937_64& random, double ns, double bound, double ghz, double clock_sd,
                std::uint32_t recording) {
  std::normal_distribution<double> normal;
  SideRounds rounds;
  for (int round = 0; round < 10; ++round) {
    const double clock = ghz * std::exp(clock_sd * normal(random));
    const double time = ns * (1 - bound + bound * 1.8 / clock) * std::exp(0.0005 * normal(random));
    rounds.ns.push_back(time);
    rounds.cycles.push_back(time * clock);
    rounds.recordings.push_back(recording);
  }
  return rounds;
}

double log_ratio(const ComparedRow& row) {
  double sum = 0;
  for (std::size_t k = 0; k < row.base.ns.size(); ++k) sum += std::log(row.other.ns[k] / row.base.ns[k]);
  return sum / static_cast<double>(row.base.ns.size());
}

double scatter(const SideRounds& rounds) {
  double mean = 0;
  double squares = 0;
  for (const double ns : rounds.ns) mean += std::log(ns) / static_cast<double>(rounds.ns.size());
  for (const double ns : rounds.ns) squares += std::pow(std::log(ns) - mean, 2);
  return std::sqrt(squares / static_cast<double>(rounds.ns.size() - 1));
}

// The residual scatter does not depend on the kernel's clock-bound share, and a true change keeps its size.
TEST(ClockNormalization, RemovesClockVariation) {
  std::mt19937_64 random(3);
  for (const double bound : {0.0, 0.3, 0.8, 1.0}) {
    ComparedRow row{.base = side(random, 1e5, bound, 1.8, 0.015, 0),
                    .other = side(random, 1.02e5, bound, 1.8, 0.015, 1)};
    const double before = scatter(row.other);
    normalize_clock(row);
    EXPECT_TRUE(row.one_clock);
    EXPECT_FALSE(row.clocks_differ) << bound;
    EXPECT_NEAR(std::exp(log_ratio(row)), 1.02, 0.0012) << bound;
    EXPECT_LT(scatter(row.other), 0.0012) << bound;
    if (bound >= 0.8) {
      EXPECT_GT(before, 5 * scatter(row.other));
    }
  }
}

// A recording at the power cap: the ratio is 1 and the clock's effect is reported in clock_shift.
TEST(ClockNormalization, ReportsClockShift) {
  std::mt19937_64 random(5);
  ComparedRow row{.base = side(random, 1e5, 0.9, 1.9, 0.01, 0), .other = side(random, 1e5, 0.9, 1.8, 0.01, 1)};
  const double unnormalized = log_ratio(row);
  EXPECT_GT(unnormalized, 0.035);
  normalize_clock(row);
  EXPECT_NEAR(log_ratio(row), 0, 0.003);
  EXPECT_NEAR(row.clock_shift, unnormalized, 0.003);
  EXPECT_TRUE(row.clocks_differ);
}

// Locked clocks give no slope, so the effect of different clocks is unknown and times are not normalized.
TEST(ClockNormalization, IgnoresLockedClocks) {
  std::mt19937_64 random(9);
  ComparedRow row{.base = side(random, 1e5, 0, 1.98, 1e-6, 0), .other = side(random, 1e5, 0, 1.6, 1e-6, 1)};
  const std::vector<double> before = row.other.ns;
  normalize_clock(row);
  EXPECT_FALSE(row.one_clock);
  EXPECT_EQ(row.other.ns, before);
}

// In interleaved rounds, a lower clock is caused by the candidate's build.
TEST(ClockNormalization, KeepsClockChangesOfPairedRounds) {
  std::mt19937_64 random(11);
  ComparedRow row{.base = side(random, 1e5, 0.9, 1.9, 0.01, 0), .other = side(random, 1e5, 0.9, 1.8, 0.01, 0)};
  row.paired = true;
  const double unnormalized = log_ratio(row);
  normalize_clock(row);
  EXPECT_FALSE(row.one_clock);
  EXPECT_EQ(log_ratio(row), unnormalized);
}

TEST(ClockNormalization, NeedsClocks) {
  ComparedRow row;
  row.base = {.ns = {100, 101}, .cycles = {}, .recordings = {0, 0}};
  row.other = {.ns = {100, 103}, .cycles = {}, .recordings = {1, 1}};
  normalize_clock(row);
  EXPECT_FALSE(row.one_clock);
  EXPECT_EQ(row.other.ns[1], 103);
  EXPECT_FALSE(fit_clock(std::array<const SideRounds*, 1>{&row.base}));
}

// One round per side gives no slope.
TEST(ClockNormalization, NeedsSeveralRounds) {
  ComparedRow row;
  row.base = {.ns = {1000}, .cycles = {2000}, .recordings = {0}};
  row.other = {.ns = {1000}, .cycles = {1000}, .recordings = {1}};
  normalize_clock(row);
  EXPECT_FALSE(row.one_clock);
  EXPECT_EQ(log_ratio(row), 0);
}

}  // namespace
}  // namespace attnscope::analysis

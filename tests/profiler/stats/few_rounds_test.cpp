// SPDX-License-Identifier: Apache-2.0
// Verdicts of rows with fewer than `min_rounds`, whose spread is that of samples, as recorded or stated by a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "profiler/metrics/point.h"
#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {
namespace {

using Draw = std::function<double(std::mt19937_64&)>;

SideRounds single_round(double ns, std::uint32_t recording, std::optional<SampleSpread> spread) {
  SideRounds side{.ns = {ns}, .cycles = {}, .recordings = {recording}};
  if (spread) side.sampled = {*spread};
  return side;
}

ComparedRow few_rounds_row(SideRounds base, SideRounds other) {
  ComparedRow row;
  row.base = std::move(base);
  row.other = std::move(other);
  return row;
}

RowVerdict verdict_of(const ComparedRow& row) {
  return judge(std::vector{row}).at(0);
}

/// Median and quartiles of samples, with their number unless `stated` is false.
SideRounds sampled_side(const Draw& draw, int count, double factor, std::uint32_t recording, std::mt19937_64& random,
                        bool stated = true) {
  std::vector<double> samples;
  for (int k = 0; k < count; ++k) samples.push_back(factor * draw(random));
  const SampleSummary found = summarize(samples).value();
  return single_round(found.median, recording,
                      SampleSpread{.log_range = std::log(found.q3 / found.q1), .samples = stated ? 1.0 * count : 0.0});
}

struct SampleShape {
  std::string name;
  Draw draw;
};

std::vector<SampleShape> shapes(double spread) {
  const auto normal = [](std::mt19937_64& random) { return std::normal_distribution<>()(random); };
  return {{"normal", [=](auto& random) { return std::max(0.05, 1 + spread * normal(random)); }},
          {"lognormal", [=](auto& random) { return std::exp(spread * normal(random)); }},
          {"late", [=](auto& random) { return 1 + spread * std::exponential_distribution<>()(random); }},
          {"heavy tails", [=](auto& random) { return std::exp(spread * std::student_t_distribution<>(3)(random)); }},
          {"two clocks", [=](auto& random) {
             return std::exp(spread * (2.0 * std::bernoulli_distribution(0.3)(random) + 0.1 * normal(random)));
           }}};
}

/// Share of FASTER or SLOWER (first) and of intervals with the true ratio (second).
std::pair<double, double> shares(const Draw& draw, int count, double ratio, bool stated = true) {
  constexpr int trials = 1000;
  std::mt19937_64 random(17);
  int changed = 0;
  int covered = 0;
  for (int k = 0; k < trials; ++k) {
    const RowVerdict row = verdict_of(few_rounds_row(sampled_side(draw, count, 1000, 0, random, stated),
                                                     sampled_side(draw, count, 1000 * ratio, 1, random, stated)));
    changed += row.verdict == Verdict::faster || row.verdict == Verdict::slower ? 1 : 0;
    covered += row.time.interval.contains(ratio) ? 1 : 0;
  }
  return {1.0 * changed / trials, 1.0 * covered / trials};
}

// An import with 10,914 ns [9,000, 13,500] and 10,089 ns [8,500, 13,000] of five samples each.
TEST(FewRounds, StatedQuartilesWidenTheInterval) {
  const auto side = [](double ns, double q1, double q3, std::uint32_t recording) {
    return single_round(ns, recording, SampleSpread{.log_range = std::log(q3 / q1), .samples = 5});
  };
  const RowVerdict row = verdict_of(few_rounds_row(side(10914, 9000, 13500, 0), side(10089, 8500, 13000, 1)));
  EXPECT_EQ(row.verdict, Verdict::ambiguous);
  EXPECT_EQ(row.floor, SpreadFloor::few_samples);
  EXPECT_FALSE(row.time.assumed);
  EXPECT_LT(row.time.interval.low, 0.7);
  EXPECT_GT(row.time.interval.high, 1.3);
  EXPECT_FALSE(row.rounds_needed);
  EXPECT_FALSE(row.recordings_needed);
}

TEST(FewRounds, UnchangedTimesHaveFewFalseVerdicts) {
  for (const double spread : {0.02, 0.1, 0.4}) {
    for (const auto& [name, draw] : shapes(spread)) {
      for (const int count : {3, 5, 10, 30}) {
        const auto [changed, covered] = shares(draw, count, 1);
        EXPECT_LE(changed, 0.05) << name << ' ' << spread << ' ' << count;
        EXPECT_GE(covered, 0.93) << name << ' ' << spread << ' ' << count;
        if (name == "two clocks") continue;  // quartiles of few samples may miss the second clock
        EXPECT_LE(shares(draw, count, 1, false).first, 0.05) << name << ' ' << spread << ' ' << count;
      }
    }
  }
}

TEST(FewRounds, TightQuartilesKeepPower) {
  for (const auto& [name, draw] : shapes(0.01)) {
    for (const int count : {5, 20}) EXPECT_GE(shares(draw, count, 1.15).first, 0.95) << name << ' ' << count;
  }
  EXPECT_GE(shares(shapes(0.1)[1].draw, 100, 1.3).first, 0.9) << "many samples determine a median";
}

TEST(FewRounds, FloorOnlyWidens) {
  const auto width = [](std::optional<SampleSpread> base, std::optional<SampleSpread> other) {
    const RatioInterval time =
        verdict_of(few_rounds_row(single_round(1000, 0, base), single_round(1000, 1, other))).time;
    return std::log(time.interval.high / time.interval.low) / 2;
  };
  const double assumed = width({}, {});
  EXPECT_NEAR(assumed, std::log1p(assumed_spread), 1e-9);
  double narrower = assumed;
  for (const double range : {0.0, 0.01, 0.1, 0.5, 2.0}) {
    const SampleSpread many{.log_range = range, .samples = 40};
    const SampleSpread unknown{.log_range = range};
    const double known = width(many, many);
    EXPECT_GE(known, narrower * (1 - 1e-9)) << range;
    EXPECT_GE(width(unknown, unknown), known) << range << ": an unknown number of samples counts as one";
    EXPECT_GE(width(many, {}), known) << range << ": a side without a spread is no better than one with";
    EXPECT_NEAR(width(many, {}), width({}, many), 1e-9) << range;
    narrower = known;
  }
}

TEST(FewRounds, ScatterOfTwoRoundsCounts) {
  for (const bool paired : {false, true}) {
    ComparedRow row;
    row.paired = paired;
    row.base = {.ns = {1000, 1000}, .cycles = {}, .recordings = {0, 0}};
    row.other = {.ns = {900, 1300}, .cycles = {}, .recordings = {1, 1}};
    const RowVerdict verdict = verdict_of(row);
    EXPECT_EQ(verdict.verdict, Verdict::ambiguous);
    EXPECT_LT(verdict.time.interval.low, 0.8);
    EXPECT_GT(verdict.time.interval.high, 1.4);
  }
}

TEST(FewRounds, EqualCyclesNameTheClocks) {
  ComparedRow row = few_rounds_row(single_round(1000, 0, {}), single_round(1800, 1, {}));
  for (SideRounds* side : {&row.base, &row.other}) side->cycles = {2000};
  const RowVerdict verdict = verdict_of(row);
  EXPECT_EQ(verdict.verdict, Verdict::ambiguous);
  EXPECT_EQ(verdict.undecided, Undecided::clocks);
  row.other.cycles = {3600};
  EXPECT_EQ(verdict_of(row).verdict, Verdict::slower);
}

TEST(FewRounds, UnknownModelErrorClaimsNothing) {
  ComparedRow row = few_rounds_row(single_round(1000, 0, {}), single_round(9000, 1, {}));
  row.model_error = std::numeric_limits<double>::infinity();
  ComparedRow known = row;
  known.model_error = 0.1;
  const std::vector<RowVerdict> verdicts = judge(std::vector{row, known});
  EXPECT_EQ(verdicts[0].verdict, Verdict::ambiguous);
  EXPECT_EQ(verdicts[0].undecided, Undecided::not_validated);
  EXPECT_TRUE(verdicts[0].time.unknown);
  EXPECT_EQ(verdicts[0].detectable, 0);
  EXPECT_EQ(verdicts[1].verdict, Verdict::slower);
  EXPECT_EQ(verdicts[1].p_change, verdict_of(known).p_change);
}

}  // namespace
}  // namespace attnscope::analysis

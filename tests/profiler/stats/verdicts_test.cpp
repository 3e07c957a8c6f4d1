// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/stats/variance_prior.h"
#include "tests/profiler/stats/verdict_simulation.h"

namespace attnscope::analysis {
namespace {

using simulated_rounds::Noise;
using simulated_rounds::noise_kinds;
using simulated_rounds::play;
using simulated_rounds::Setting;
using simulated_rounds::Tally;

constexpr std::uint64_t noise_seed = 11;

ComparedRow paired_row(std::vector<double> base, std::vector<double> other) {
  ComparedRow row;
  row.base.ns = std::move(base);
  row.other.ns = std::move(other);
  row.paired = true;
  return row;
}

ComparedRow unpaired_row(std::vector<double> base, std::vector<double> other) {
  ComparedRow row = paired_row(std::move(base), std::move(other));
  row.paired = false;
  row.base.recordings.assign(row.base.ns.size(), 0);
  row.other.recordings.assign(row.other.ns.size(), 1);
  return row;
}

RowVerdict judge_one(const ComparedRow& row, const VerdictOptions& options = {}) {
  return judge(std::vector{row}, options).at(0);
}

const std::vector<double> base_times{100, 101, 99, 100.5, 100.2};
const std::vector<double> other_times{103, 104.5, 101, 103.2, 103.5};

// Values 1, 2, 10 have the pairwise means 1, 1.5, 2, 5.5, 6, 10.
TEST(Verdicts, HodgesLehmannIsMedianOfPairMeans) {
  EXPECT_DOUBLE_EQ(hodges_lehmann(std::vector<double>{10, 1, 2}), 3.75);
  EXPECT_DOUBLE_EQ(hodges_lehmann(std::vector<double>{7}), 7);
}

TEST(Verdicts, HodgesLehmannSubsamplesManyValues) {
  std::vector<double> values;
  values.reserve(200'001);
  for (int i = 0; i <= 200'000; ++i) values.push_back(i * 1e-5);
  EXPECT_NEAR(hodges_lehmann(values), 1, 1e-3);  // all pairs would take 160 GB
}

TEST(Verdicts, ModeratesVariances) {
  std::vector<VarianceEstimate> found;
  for (const double variance : {1.0, 2.0, 0.5, 8.0, 1.5, 0.7, 3.0, 0.1}) {
    found.push_back({.variance = variance * 1e-5, .dof = 4});
  }
  const VariancePrior prior = fit_variance_prior(found, 0);
  EXPECT_NEAR(prior.dof, 2.720238850237033, 1e-6);
  EXPECT_NEAR(prior.variance, 9.755440072139095e-06, 1e-11);
  const std::vector<VarianceEstimate> result = moderate(found, 0);
  EXPECT_NEAR(result[3].variance, 5.156619203693468e-05, 1e-10);
  EXPECT_NEAR(result[3].dof, 6.720238850237033, 1e-6);
  // For equal variances, the degrees of freedom are limited to the sum over all rows.
  EXPECT_DOUBLE_EQ(moderate(std::vector<VarianceEstimate>(3, {.variance = 1e-5, .dof = 4}), 0)[0].dof, 12);
}

TEST(Verdicts, OutlierKeepsItsVariance) {
  std::vector<VarianceEstimate> found;
  for (int i = 0; i < 200; ++i) found.push_back({.variance = (i % 2 == 0 ? 0.9 : 1.1) * 1e-6, .dof = 9});
  found.push_back({.variance = 1e-4, .dof = 9});
  const std::vector<VarianceEstimate> result = moderate(found, 0);
  EXPECT_DOUBLE_EQ(result.back().variance, 1e-4);
  EXPECT_DOUBLE_EQ(result.back().dof, 9);
  EXPECT_GT(result.front().dof, 100);
}

// Expected values: Student's t of five log ratios, from SciPy.
TEST(Verdicts, JudgesPairedRounds) {
  const RowVerdict row = judge_one(paired_row(base_times, other_times));
  EXPECT_NEAR(row.time.ratio, 1.029895432045098, 1e-9);
  EXPECT_NEAR(row.time.interval.low, 1.0218428423364996, 1e-9);
  EXPECT_NEAR(row.time.interval.high, 1.0360428706431042, 1e-9);
  EXPECT_NEAR(row.spread, 0.005557388550994163, 1e-9);
  EXPECT_NEAR(row.p_change, 0.0009105768278252598, 1e-9);
  EXPECT_EQ(row.verdict, Verdict::slower);
  EXPECT_EQ(row.floor, SpreadFloor::none);
  EXPECT_EQ(row.rounds, 5U);
  EXPECT_EQ(judge_one(paired_row(other_times, base_times)).verdict, Verdict::faster);
}

TEST(Verdicts, UnpairedSpreadIsAtLeastThatOfRounds) {
  const RowVerdict row = judge_one(unpaired_row(base_times, other_times));
  EXPECT_NEAR(row.time.ratio, 1.0299401197604794, 1e-9);
  EXPECT_NEAR(row.time.interval.low, 0.9951106219421586, 1e-9);
  EXPECT_NEAR(row.time.interval.high, 1.0638746772235257, 1e-9);
  EXPECT_EQ(row.floor, SpreadFloor::of_rounds);
  EXPECT_EQ(row.verdict, Verdict::ambiguous);
  EXPECT_EQ(row.undecided, Undecided::apart);
}

// Outliers move the mean but not the Hodges-Lehmann estimate.
TEST(Verdicts, IntervalContainsRatio) {
  for (const double far : {1.0, -1.0}) {
    ComparedRow row = paired_row(std::vector<double>(40, 100), std::vector<double>(40, 100));
    for (std::size_t k = 0; k < 40; k += 5) row.other.ns[k] *= std::exp(far);
    const RatioInterval time = judge_one(row).time;
    EXPECT_DOUBLE_EQ(time.ratio, 1);
    EXPECT_DOUBLE_EQ(far > 0 ? time.interval.low : time.interval.high, 1);
  }
}

TEST(Verdicts, UnpairedRowsUseGivenMargin) {
  const std::vector<std::tuple<double, double, Verdict>> cases{{1.015, 0.001, Verdict::slower},
                                                               {1.005, 0.015, Verdict::same},
                                                               {1.03, 0.001, Verdict::slower},
                                                               {1.03, 0.05, Verdict::same}};
  const std::vector<double> tight{1e6, 1.00001e6, 0.99999e6, 1.000005e6, 0.999995e6};
  for (const auto& [by, margin, verdict] : cases) {
    std::vector<double> other = tight;
    for (double& ns : other) ns *= by;
    EXPECT_EQ(judge_one(unpaired_row(tight, other), {.margin = margin}).verdict, verdict)
        << by << ", margin " << margin;
  }
}

// The variance between recordings has a floor, higher for short kernels, even if the rounds of two recordings agree.
TEST(Verdicts, UnpairedSpreadHasFloor) {
  const auto half_width = [](double ns, bool paired) {
    const std::vector<double> base{ns, ns * 1.00001, ns * 0.99999, ns, ns};
    const RowVerdict row = judge_one(paired ? paired_row(base, base) : unpaired_row(base, base));
    return std::log(row.time.interval.high);
  };
  // t(0.975) with eight degrees of freedom, for the difference of two recordings.
  EXPECT_NEAR(half_width(1e6, false), 2.306 * std::sqrt(2) * 0.0015, 1e-6);
  EXPECT_NEAR(half_width(5.5e4, false), 2.306 * std::sqrt(2) * 0.002, 1e-6);
  EXPECT_NEAR(half_width(1e3, false), 2.306 * std::sqrt(2) * 0.008, 1e-5);
  EXPECT_LT(half_width(1e3, true), 2e-4) << "in the same rounds there is no other process";
}

TEST(Verdicts, RoundsAreMinimumOfBothSides) {
  EXPECT_EQ(judge_one(unpaired_row(base_times, {103, 104, 102})).rounds, 3U);
  EXPECT_EQ(judge_one(unpaired_row({103, 104, 102}, base_times)).rounds, 3U);
}

TEST(Verdicts, FewRoundsUseAssumedSpread) {
  for (const bool paired : {false, true}) {
    const auto row_of = [&](double other) {
      return judge_one(paired ? paired_row({100, 100}, {other, other}) : unpaired_row({100, 100}, {other, other}));
    };
    const RowVerdict near = row_of(103);
    EXPECT_NEAR(near.time.interval.low, 1.03 / 1.05, 1e-9);
    EXPECT_NEAR(near.time.interval.high, 1.03 * 1.05, 1e-9);
    EXPECT_EQ(near.floor, SpreadFloor::assumed_percent);
    EXPECT_EQ(near.verdict, Verdict::ambiguous);
    EXPECT_EQ(near.undecided, Undecided::few_rounds);
    EXPECT_FALSE(near.rounds_needed) << "the spread is unknown";
    EXPECT_FALSE(near.recordings_needed);
    EXPECT_EQ(row_of(100).verdict, Verdict::ambiguous);
    EXPECT_EQ(row_of(120).verdict, Verdict::slower);
    EXPECT_EQ(row_of(70).verdict, Verdict::faster);
  }
}

TEST(Verdicts, ChangesNeedMatchingCycles) {
  struct Case {
    double time;
    double cycles;
    Verdict verdict;
  };
  for (const Case& each :
       {Case{1.1, 1.1, Verdict::slower}, Case{1.1, 1, Verdict::ambiguous}, Case{1.1, 0.9, Verdict::ambiguous},
        Case{0.9, 0.9, Verdict::faster}, Case{0.9, 1, Verdict::ambiguous}, Case{0.9, 1.1, Verdict::ambiguous}}) {
    ComparedRow row = paired_row(base_times, base_times);
    row.base.cycles = row.other.cycles = base_times;
    for (double& ns : row.other.ns) ns *= each.time;
    for (double& cycles : row.other.cycles) cycles *= each.cycles;
    row.other.ns[1] *= 1.001;
    row.other.cycles[0] *= 0.999;
    const RowVerdict verdict = judge_one(row);
    EXPECT_EQ(verdict.verdict, each.verdict) << each.time << ", cycles " << each.cycles;
    EXPECT_EQ(verdict.undecided, each.verdict == Verdict::ambiguous ? Undecided::clocks : Undecided::decided);
    EXPECT_NEAR(verdict.cycles->ratio, each.cycles, 1e-3);
  }
}

TEST(Verdicts, ExactRowsHaveNoSpread) {
  ComparedRow row = unpaired_row({100}, {100.9});
  row.exact = true;
  EXPECT_DOUBLE_EQ(judge_one(row).time.interval.low, judge_one(row).time.interval.high);
  const std::vector<std::tuple<double, double, Verdict>> cases{
      {100.9, 0.01, Verdict::same}, {101.1, 0.01, Verdict::slower}, {101.1, 0.02, Verdict::same},
      {99.1, 0.01, Verdict::same},  {98.9, 0.01, Verdict::faster},  {98.9, 0.02, Verdict::same}};
  for (const auto& [ns, margin, verdict] : cases) {
    row.other.ns = {ns};
    EXPECT_EQ(judge_one(row, {.margin = margin}).verdict, verdict) << ns << ", margin " << margin;
  }
}

TEST(Verdicts, RejectsInvalidRows) {
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)judge_one(paired_row({1}, {bad})), std::invalid_argument) << bad;
  }
  EXPECT_THROW((void)judge_one(paired_row({}, {})), std::invalid_argument);
  EXPECT_TRUE(judge({}).empty());
}

TEST(Verdicts, IntervalsHaveNominalCoverage) {
  for (const Noise noise : noise_kinds) {
    for (const std::size_t rounds : {5U, 10U, 30U}) {
      for (const std::size_t rows : {1U, 50U}) {
        const Setting setting{.noise = noise, .rows = rows, .rounds = rounds, .changed = rows / 2, .change = 0.03};
        const double covered = play(setting, 1000 / rows, noise_seed).coverage_share();
        EXPECT_GE(covered, 0.93) << to_string(noise) << ", rounds " << rounds << ", rows " << rows;
        EXPECT_LE(covered, 0.97) << to_string(noise) << ", rounds " << rounds << ", rows " << rows;
      }
    }
  }
}

TEST(Verdicts, IdenticalBuildsHaveFewFalseVerdicts) {
  struct Design {
    std::size_t base = 0;
    std::size_t other = 0;
    std::size_t rounds = 10;
  };
  for (const Design design : {Design{}, Design{1, 1}, Design{2, 3}, Design{1, 4}, Design{2, 3, 1}}) {
    for (const Noise noise : noise_kinds) {
      const Tally tally = play(
          {.noise = noise, .rounds = design.rounds, .base_recordings = design.base, .other_recordings = design.other},
          1, noise_seed);
      EXPECT_LT(tally.false_verdict_share(), 0.01)
          << to_string(noise) << ", " << design.base << " recordings against " << design.other;
    }
  }
}

TEST(Verdicts, FindsOneRegressionOf5PercentIn2000Rows) {
  const Tally tally = play({.changed = 1, .change = 0.05}, 20, noise_seed);
  EXPECT_GE(tally.detection_share(), 0.95);
  EXPECT_LE(tally.wrong, 1U);
}

TEST(Verdicts, FindsChangesOf2Percent) {
  for (const std::size_t changed : {20U, 200U, 2000U}) {
    const Tally tally = play({.changed = changed, .change = -0.02}, 4, noise_seed);
    EXPECT_GE(tally.detection_share(), 0.90) << changed;
    EXPECT_LT(tally.false_verdict_share(), 0.001) << changed;
  }
}

// Without correction, clock steps of 2% or drift of 1.5% between the two sides would hide changes of this size.
TEST(Verdicts, CommonDriftHidesNoChange) {
  for (const Noise noise : {Noise::drift, Noise::steps, Noise::power_cap}) {
    Setting setting{.noise = noise, .rows = 1000, .changed = 100, .change = 0.02};
    const Tally tally = play(setting, 4, noise_seed);
    EXPECT_GE(tally.detection_share(), 0.90) << to_string(noise);
    EXPECT_LT(tally.false_verdict_share(), 0.001) << to_string(noise);
    EXPECT_GE(tally.coverage_share(), 0.93) << to_string(noise);
    EXPECT_LE(tally.coverage_share(), 0.97) << to_string(noise);
    setting.moments = false;  // unknown measurement order
    EXPECT_LT(play(setting, 4, noise_seed).detection_share(), tally.detection_share()) << to_string(noise);
    if (noise == Noise::power_cap) {
      EXPECT_LT(play(setting, 4, noise_seed).detection_share(), 0.5);
    }
  }
}

TEST(Verdicts, KeepsTimesWithoutCommonDrift) {
  for (const Noise noise : {Noise::gaussian, Noise::heavy_tails}) {
    for (const analysis::RowVerdict& verdict :
         judge(simulated_rounds::simulate({.noise = noise, .rows = 300}, noise_seed).rows)) {
      EXPECT_FALSE(verdict.steadied);
    }
  }
  for (const analysis::RowVerdict& verdict :
       judge(simulated_rounds::simulate({.noise = Noise::power_cap, .rows = 300}, noise_seed).rows)) {
    EXPECT_TRUE(verdict.steadied);
  }
}

/// Returns ten rounds of one row whose log ratios have this mean and standard deviation.
ComparedRow row_with_spread(double ratio, double spread) {
  ComparedRow row = paired_row({}, {});
  for (int round = 0; round < 10; ++round) {
    row.base.ns.push_back(1000);
    row.other.ns.push_back(1000 * ratio * std::exp((round % 2 == 0 ? 1 : -1) * spread * std::sqrt(0.9)));
  }
  return row;
}

// The suggested rounds are those of `attnscope ab`, including its interim analyses.
TEST(Verdicts, SuggestedRoundsHaveTargetPower) {
  struct Case {
    double ratio;
    double spread;
  };
  for (const Case& each : {Case{1.02, 0.02}, Case{1, 0.02}, Case{0.97, 0.03}, Case{1.003, 0.01}, Case{1.05, 0.08}}) {
    const RowVerdict verdict = judge_one(row_with_spread(each.ratio, each.spread));
    EXPECT_EQ(verdict.verdict, Verdict::ambiguous) << each.ratio;
    EXPECT_EQ(verdict.undecided, Undecided::spread);
    ASSERT_TRUE(verdict.rounds_needed) << each.ratio;
    const Setting named{.rows = 1,
                        .rounds = *verdict.rounds_needed,
                        .spread = each.spread / std::sqrt(2.0),
                        .spread_variation = 0,
                        .changed = each.ratio == 1 ? 0U : 1U,
                        .change = each.ratio - 1};
    constexpr std::size_t trials = 1000;
    const Tally tally = simulated_rounds::simulate_until_decided(named, trials, noise_seed);
    const bool inside = std::abs(std::log(each.ratio)) < std::log(1.01);
    EXPECT_GE(inside ? tally.same : tally.found, 0.9 * trials) << each.ratio << " after " << named.rounds;
    // 60% of the suggested rounds are too few.
    Setting fewer = named;
    fewer.rounds = std::max<std::size_t>(3, named.rounds * 3 / 5);
    const Tally less = simulated_rounds::simulate_until_decided(fewer, trials, noise_seed);
    EXPECT_LT(inside ? less.same : less.found, 0.9 * trials) << each.ratio << " after " << fewer.rounds;
  }
  EXPECT_FALSE(judge_one(row_with_spread(1.0101, 0.02)).rounds_needed) << "at the margin";
}

TEST(Verdicts, SuggestedRoundsIgnoreEarlierAnalyses) {
  for (const double ratio : {1.02, 1.0}) {
    const ComparedRow row = row_with_spread(ratio, 0.02);
    const RowVerdict once = judge_one(row);
    const RowVerdict of_many = judge(std::vector{row}, {.looks = 8}).at(0);
    ASSERT_EQ(of_many.verdict, Verdict::ambiguous);
    ASSERT_TRUE(once.rounds_needed);
    EXPECT_EQ(of_many.rounds_needed, once.rounds_needed) << ratio;
    EXPECT_EQ(of_many.recordings_needed, once.recordings_needed) << ratio;
    EXPECT_GT(of_many.time.interval.high, once.time.interval.high) << "but the interval pays";
  }
}

// The spread between recordings equals that of a round.
TEST(Verdicts, SuggestedRecordingsHaveTargetPower) {
  for (const double ratio : {1.04, 1.0}) {
    ComparedRow row = row_with_spread(ratio, 0.01);
    row.paired = false;
    row.base.ns.assign({1000, 1012, 988, 1009, 991});
    row.other.ns.clear();
    for (const double ns : row.base.ns) row.other.ns.push_back(ratio * ns);
    row.base.recordings.assign(5, 0);
    row.other.recordings.assign(5, 1);
    const RowVerdict verdict = judge_one(row);
    ASSERT_EQ(verdict.verdict, Verdict::ambiguous) << ratio;
    ASSERT_TRUE(verdict.recordings_needed) << ratio;
    const double of_recording = verdict.spread / std::sqrt(2.0);
    const Setting named{.rows = 1,
                        .rounds = 10,
                        .spread = 1e-4,
                        .spread_variation = 0,
                        .changed = ratio == 1 ? 0U : 1U,
                        .change = ratio - 1,
                        .base_recordings = *verdict.recordings_needed,
                        .other_recordings = *verdict.recordings_needed,
                        .between = of_recording / std::sqrt(2.0)};
    const Tally tally = play(named, 1000, noise_seed);
    EXPECT_GE(ratio == 1 ? tally.same : tally.found, 900U) << ratio << " after " << named.base_recordings;
  }
}

// All rows have the same step per round; half of the rows lack the second round of the baseline.
TEST(Verdicts, CommonEffectsUseRoundIndex) {
  const std::vector<double> steps{0, 0.02, 0, 0.02, 0, 0.02};
  const auto rows_of = [&](bool lacking, bool numbered) {
    std::vector<ComparedRow> rows;
    for (int i = 0; i < 20; ++i) {
      ComparedRow row;
      for (const bool other : {false, true}) {
        SideRounds& side = other ? row.other : row.base;
        for (std::uint32_t round = 0; round < steps.size(); ++round) {
          if (lacking && i % 2 == 1 && round == 1 && !other) continue;
          const double own = 1e-4 * ((i + 3 * static_cast<int>(round) + (other ? 1 : 0)) % 5 - 2);
          side.ns.push_back(1e5 * std::exp(steps[round] + own));
          side.recordings.push_back(other ? 1 : 0);
          if (numbered) side.rounds.push_back(round);
        }
      }
      rows.push_back(row);
    }
    return judge(rows);
  };
  const double whole = rows_of(false, true).at(1).spread;
  EXPECT_LT(whole, 1e-3) << "the steps are all rows' alike";
  EXPECT_LT(rows_of(true, true).at(1).spread, 2 * whole);
  EXPECT_GT(rows_of(true, false).at(1).spread, 5 * whole) << "by place a step would look like scatter";
}

// The baseline's recordings have 3 rounds at 100 and 100 rounds at 110; their unweighted geometric mean is 104.9.
TEST(Verdicts, RecordingsHaveEqualWeight) {
  ComparedRow row;
  const auto add = [](SideRounds& side, std::uint32_t recording, int rounds, double ns) {
    for (int round = 0; round < rounds; ++round) {
      side.ns.push_back(ns * (1 + 1e-3 * (round % 3 - 1)));
      side.recordings.push_back(recording);
    }
  };
  add(row.base, 0, 3, 100);
  add(row.base, 1, 100, 110);
  add(row.other, 2, 10, 107);
  EXPECT_NEAR(judge_one(row).time.ratio, 107 / std::sqrt(100.0 * 110.0), 2e-3);
  EXPECT_EQ(judge_one(row).floor, SpreadFloor::of_rounds) << "three recordings are too few";
}

// Four identical recordings whose rounds scatter by 3%: the spread stays that of a round.
TEST(Verdicts, SpreadIsThatOfRounds) {
  ComparedRow row;
  for (const std::uint32_t recording : {0U, 1U, 2U, 3U}) {
    SideRounds& side = recording < 2 ? row.base : row.other;
    for (int round = 0; round < 10; ++round) {
      side.ns.push_back(1000 * std::exp(round % 2 == 0 ? 0.03 : -0.03));
      side.recordings.push_back(recording);
    }
  }
  EXPECT_NEAR(judge_one(row).spread, 0.03 * std::sqrt(2.0 * 10 / 9), 1e-3);
  EXPECT_EQ(judge_one(row).floor, SpreadFloor::none);
}

TEST(Verdicts, ComputedRowsUseModelError) {
  ComparedRow row = unpaired_row({100, 101, 99}, {115});
  row.model_error = 0.2;
  const RowVerdict near = judge_one(row);
  EXPECT_EQ(near.verdict, Verdict::ambiguous);
  EXPECT_EQ(near.undecided, Undecided::computed);
  EXPECT_EQ(near.floor, SpreadFloor::model_error_floor);
  EXPECT_NEAR(near.time.ratio, 1.15, 1e-9);
  EXPECT_NEAR(near.time.interval.high, 1.15 * 1.2, 1e-6);
  EXPECT_FALSE(near.rounds_needed);
  row.other.ns = {150};
  EXPECT_EQ(judge_one(row).verdict, Verdict::slower);
}

TEST(Verdicts, AnalysisRoundsDouble) {
  EXPECT_EQ(analysis_rounds(100), (std::vector<std::size_t>{5, 10, 20, 40, 80, 100}));
  EXPECT_EQ(analysis_rounds(5), (std::vector<std::size_t>{5}));
  EXPECT_EQ(analysis_rounds(3), (std::vector<std::size_t>{3}));
}

// A true change equal to the margin: every verdict is wrong.
TEST(Verdicts, EarlyStoppingKeepsErrorRates) {
  for (const Noise noise : noise_kinds) {
    const Setting setting{.noise = noise, .rounds = 80, .spread = 0.01, .changed = 1, .change = 0.01};
    const Tally tally = simulate_until_decided(setting, 400, noise_seed);
    EXPECT_LE(tally.found + tally.wrong, 16U) << to_string(noise);  // 2.5% of 400 plus two standard deviations
    EXPECT_LE(tally.same, 16U) << to_string(noise);
    EXPECT_GE(tally.coverage_share(), 0.93) << to_string(noise);  // 95% minus two standard deviations
  }
  const Setting changed{.rounds = 80, .spread = 0.01, .changed = 1, .change = 0.05};
  EXPECT_GE(simulate_until_decided(changed, 100, noise_seed).detection_share(), 0.99);
}

}  // namespace
}  // namespace attnscope::analysis

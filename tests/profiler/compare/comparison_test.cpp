// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison.h"
#include "messages/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/compare/comparison_view.h"
#include "profiler/metrics/rounds.h"
#include "profiler/plan/round_order.h"
#include "profiler/predict/published_errors.h"
#include "profiler/stats/recording_noise.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A point whose every sample took so long.
PointRecord timed(PointSpec spec, double ns, double dram_bytes = 1e6) {
  PointRecord record;
  record.spec = std::move(spec);
  KernelRecord sum;
  sum.samples_ns = {ns, ns, ns};
  sum.metrics = {{"dram_read_bytes", dram_bytes * 0.75, "byte", Provenance::measured},
                 {"dram_write_bytes", dram_bytes * 0.25, "byte", Provenance::measured}};
  record.kernels.push_back(std::move(sum));
  return record;
}

std::vector<Row> rows_of_runs(const PointTable& table, std::vector<RunIndex> runs) {
  std::vector<Row> rows;
  for (const Row row : table.rows()) {
    if (std::ranges::find(runs, table.run_index(row)) != runs.end()) rows.push_back(row);
  }
  return rows;
}

ComparisonRequest request_for(const PointTable& table, std::vector<Row> base, std::vector<Row> other,
                              const std::vector<std::string>& align = {}) {
  ComparisonRequest request;
  request.alignment = alignment_of(align, table, base, other).value();
  request.base = std::move(base);
  request.other = std::move(other);
  return request;
}

// A cold simulation writes back what the launch left dirty; a GPU's counters have that apart.
TEST(Comparison, UnsettledBytesAreNotHeldAgainstSettledOnes) {
  for (const CacheState cache : {CacheState::cold, CacheState::warm}) {
    PointSpec spec = fixtures::spec("fa2", 1024);
    spec.cache = cache;
    fixtures::Points points;
    points.add({fixtures::ok_point(spec, false)});
    points.add({fixtures::ok_point(spec, true)});
    const PointTable table = points.table();
    const ComparisonResult result =
        compare(table, request_for(table, rows_of_runs(table, {0}), rows_of_runs(table, {1})));
    ASSERT_EQ(result.pairs.size(), 1U);
    EXPECT_EQ(result.pairs[0].levels[0].ratio().has_value(), cache == CacheState::warm);
  }
}

TEST(Comparison, OneRecordingBeforeAndOneAfter) {
  fixtures::Points points;
  points.add({timed(fixtures::spec("fa1", 512), 1000, 4e6), timed(fixtures::spec("fa1", 1024), 4000)});
  points.add({timed(fixtures::spec("fa1", 512), 1300, 3e6), timed(fixtures::spec("fa1", 1024), 4040)});
  const PointTable table = points.table();
  const ComparisonResult result =
      compare(table, request_for(table, rows_of_runs(table, {0}), rows_of_runs(table, {1})));
  ASSERT_EQ(result.pairs.size(), 2U);
  const ComparedPair& slower = result.pairs[0];
  EXPECT_DOUBLE_EQ(slower.base_ns, 1000);
  EXPECT_DOUBLE_EQ(slower.other_ns, 1300);
  EXPECT_NEAR(slower.verdict.time.ratio, 1.3, 1e-12);
  EXPECT_EQ(slower.verdict.verdict, Verdict::slower);
  EXPECT_EQ(slower.verdict.floor, SpreadFloor::of_percent);
  EXPECT_TRUE(slower.same_point);
  EXPECT_FALSE(slower.paired);
  EXPECT_EQ(slower.recordings, 2U);
  ASSERT_TRUE(slower.levels[0].ratio());
  EXPECT_DOUBLE_EQ(*slower.levels[0].base, 4e6);
  EXPECT_DOUBLE_EQ(*slower.levels[0].ratio(), 0.75);
  EXPECT_FALSE(slower.levels[1].ratio());
  EXPECT_EQ(result.pairs[1].verdict.undecided, Undecided::few_rounds);
  const ComparisonRequest same = request_for(table, rows_of_runs(table, {0}), rows_of_runs(table, {1}));
  const ComparisonResult judged = compare(table, same);
  EXPECT_EQ(regressions(judged, 0.29).size(), 1U);
  EXPECT_TRUE(regressions(judged, 0.31).empty());  // it is 1.3
  EXPECT_EQ(regressions(judged, 0.2, true).size(), 1U);
  EXPECT_TRUE(regressions(judged, 0.25, true).empty());  // 1.3 / 1.05 is the near end, of this row alone
  ComparisonRequest wide = same;
  wide.margin = 0.25;
  EXPECT_TRUE(regressions(compare(table, wide), 0.01).empty()) << "not SLOWER at that margin";
  EXPECT_TRUE(result.left_out.empty());
  EXPECT_TRUE(result.differences.empty());
}

TEST(Comparison, MoreRecordingsOfAPointAreFurtherRounds) {
  fixtures::Points points;
  const std::vector<double> noise{1.000, 1.002, 0.999, 1.001, 0.998};
  for (const double by : {1.0, 1.05}) {
    for (const double one : noise) points.add({timed(fixtures::spec("fa1", 512), 1000 * by * one)});
  }
  const PointTable table = points.table();
  const ComparisonResult result =
      compare(table, request_for(table, rows_of_runs(table, {0, 1, 2, 3, 4}), rows_of_runs(table, {5, 6, 7, 8, 9})));
  ASSERT_EQ(result.pairs.size(), 1U);
  EXPECT_EQ(result.pairs[0].recordings, 10U);
  EXPECT_EQ(result.pairs[0].verdict.floor, SpreadFloor::none);
  EXPECT_EQ(result.pairs[0].verdict.verdict, Verdict::slower);
  EXPECT_NEAR(result.pairs[0].verdict.time.ratio, 1.05, 1e-3);
}

/// A point of several rounds, each with its own time and clock.
PointRecord in_rounds(const PointSpec& spec, const std::vector<double>& times, double hz) {
  PointRecord record;
  for (std::size_t k = 0; k < times.size(); ++k) {
    PointRecord once = timed(spec, times[k]);
    once.clocks = ClockReading{.sm_clock_hz = hz};
    if (k == 0) {
      record = once;
    } else {
      add_round(record, static_cast<int>(k), once);
    }
  }
  return record;
}

// Two recordings of what the noise of their GPU is known of: decided by it, at the margin of recordings made apart.
TEST(Comparison, RecordingsAreHeldToTheNoiseThatIsKnownOfThem) {
  const PointSpec spec = fixtures::spec("fa1", 512);
  const auto noise = std::make_shared<const NoiseModel>(RecordingNoise{
      .recordings = 6, .rounds = 5, .points = {{identity_text(spec), {.ns = 100, .variance = 1e-6, .freedom = 5}}}});
  for (const auto& [by, known, verdict] :
       {std::tuple(1.004, true, Verdict::same), std::tuple(1.03, true, Verdict::slower),
        std::tuple(0.97, true, Verdict::faster), std::tuple(1.014, true, Verdict::ambiguous),
        std::tuple(1.03, false, Verdict::ambiguous)}) {
    fixtures::Points points;
    analysis::Run run = fixtures::run(Provenance::measured);
    run.noise = known ? noise : nullptr;
    points.add({in_rounds(spec, {100, 103, 99.9, 101, 104}, 1e9)}, run);
    points.add({in_rounds(spec, {100 * by, 101 * by, 99.9 * by, 105 * by, 104 * by}, 1e9)}, run);
    const PointTable table = points.table();
    const ComparisonResult result = compare(table, request_for(table, {0}, {1}));
    EXPECT_DOUBLE_EQ(result.margin, usual_margin_apart);
    EXPECT_EQ(result.pairs.at(0).verdict.verdict, verdict) << by;
    EXPECT_EQ(result.pairs.at(0).verdict.floor, known ? SpreadFloor::calibrated : SpreadFloor::of_rounds) << by;
    if (!known) continue;
    EXPECT_NEAR(result.pairs.at(0).verdict.time.ratio, by, 1e-9) << "of the faster half";
    EXPECT_GT(result.pairs.at(0).verdict.detectable, usual_margin_apart);
  }
}

// What was looked at several times while it went on had several chances to look decided.
TEST(Comparison, EachLookHasItsPart) {
  fixtures::Points points;
  points.add({in_rounds(fixtures::spec("fa1", 512), {100, 101, 99, 100.5, 100.2}, 1e9),
              in_rounds(fixtures::spec("fa2", 512), {103, 104.5, 101, 103.2, 103.5}, 1e9)});
  const PointTable table = points.table();
  ComparisonRequest request = request_for(table, {0}, {1});
  request.margin = 0.02;
  const RowVerdict once = compare(table, request).pairs.at(0).verdict;
  request.looks = 8;
  const RowVerdict often = compare(table, request).pairs.at(0).verdict;
  EXPECT_DOUBLE_EQ(once.time.ratio, often.time.ratio);
  EXPECT_LT(often.time.interval.low, once.time.interval.low);
  EXPECT_GT(often.time.interval.high, once.time.interval.high);
  EXPECT_EQ(once.verdict, Verdict::slower);
  EXPECT_EQ(often.verdict, Verdict::ambiguous);
}

TEST(Comparison, HalvesAreAlignedByWhatTheyShare) {
  fixtures::Points points;
  PointSpec half = fixtures::spec("fa1", 512);
  PointSpec brain = fixtures::spec("fa1", 512);
  brain.problem.dtype = half.problem.dtype == DType::fp16 ? DType::bf16 : DType::fp16;
  points.add({timed(half, 100), timed(brain, 200)});
  const PointTable table = points.table();
  const std::vector<Row> base{0};
  const std::vector<Row> other{1};
  ComparisonRequest request = request_for(table, base, other);
  EXPECT_TRUE(compare(table, request).pairs.empty());  // another problem
  request.alignment = alignment_of_halves(table, base, other);
  EXPECT_EQ(std::ranges::count(request.alignment.fields, "dtype"), 0);
  EXPECT_EQ(std::ranges::count(request.alignment.fields, "n_q"), 1);
  const ComparisonResult result = compare(table, request);
  ASSERT_EQ(result.pairs.size(), 1U);
  EXPECT_NEAR(result.pairs[0].verdict.time.ratio, 2, 1e-12);
}

TEST(Comparison, ClocksThatDifferAreSaid) {
  fixtures::Points points;
  points.add({in_rounds(fixtures::spec("fa1", 512), {100, 101, 99}, 1.98e9)});
  points.add({in_rounds(fixtures::spec("fa1", 512), {100, 101, 99}, 1.71e9)});
  points.add({in_rounds(fixtures::spec("fa1", 512), {100, 101, 99}, 1.975e9)});
  const PointTable table = points.table();
  const std::vector<Difference> found = compare(table, request_for(table, {0}, {1})).differences;
  const auto clock = std::ranges::find(found, Message(say::difference::sm_clock{}), &Difference::name);
  ASSERT_NE(clock, found.end());
  EXPECT_EQ(words_of(clock->base), "1980 MHz");
  EXPECT_EQ(words_of(clock->other), "1710 MHz");
  const std::vector<Difference> alike = compare(table, request_for(table, {0}, {2})).differences;
  EXPECT_EQ(std::ranges::find(alike, Message(say::difference::sm_clock{}), &Difference::name), alike.end());
}

TEST(Comparison, RoundsOfOneRunArePaired) {
  fixtures::Points points;
  points.add({in_rounds(fixtures::spec("fa1", 512), {100, 101, 99, 100.5, 100.2}, 1e9),
              in_rounds(fixtures::spec("fa2", 512), {103, 104.5, 101, 103.2, 103.5}, 1e9)});
  const PointTable table = points.table();
  const ComparisonResult result = compare(table, request_for(table, {0}, {1}));
  ASSERT_EQ(result.pairs.size(), 1U);
  const ComparedPair& pair = result.pairs[0];
  EXPECT_TRUE(pair.paired);
  EXPECT_EQ(pair.verdict.rounds, 5U);
  EXPECT_DOUBLE_EQ(pair.base_ns, 100.2);
  EXPECT_EQ(pair.verdict.floor, SpreadFloor::none);
  // As verdicts_test.cpp has it of these rounds, by SciPy.
  EXPECT_NEAR(pair.verdict.time.interval.low, 1.0218428423364996, 1e-9);
  EXPECT_NEAR(pair.verdict.time.interval.high, 1.0360428706431042, 1e-9);
  ASSERT_TRUE(pair.verdict.cycles);
  EXPECT_NEAR(pair.verdict.cycles->ratio, pair.verdict.time.ratio, 1e-9);
  EXPECT_EQ(pair.verdict.verdict, Verdict::slower);
}

// Fewer than three common rounds are worth less than all of both sides.
TEST(Comparison, FewCommonRoundsArePairedOnlyWhereTheyAreAll) {
  struct Case {
    std::size_t base, other;
    bool paired;
  };
  const std::vector<double> times{100, 101, 99, 100.5};
  for (const Case& each : {Case{2, 2, true}, Case{2, 3, false}, Case{3, 2, false}, Case{3, 4, true}}) {
    const auto first = [&](std::size_t count) {
      return std::vector(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count));
    };
    fixtures::Points points;
    points.add({in_rounds(fixtures::spec("fa1", 512), first(each.base), 1e9),
                in_rounds(fixtures::spec("fa2", 512), first(each.other), 1e9)});
    const PointTable table = points.table();
    EXPECT_EQ(compare(table, request_for(table, {0}, {1})).pairs.at(0).paired, each.paired)
        << each.base << " and " << each.other;
  }
}

TEST(Comparison, ClocksCountWhereEveryRoundHasOne) {
  PointRecord some = in_rounds(fixtures::spec("fa1", 512), {100}, 1e9);
  add_round(some, 1, in_rounds(fixtures::spec("fa1", 512), {101}, 0));
  fixtures::Points points;
  points.add({some, in_rounds(fixtures::spec("fa2", 512), {100, 101}, 1e9)});
  const PointTable table = points.table();
  EXPECT_FALSE(compare(table, request_for(table, {0}, {1})).pairs.at(0).verdict.cycles);
  EXPECT_FALSE(compare(table, request_for(table, {1}, {0})).pairs.at(0).verdict.cycles);
}

/// Two algorithms at 100 lengths in five rounds, each round in its own order; in the midst of each the clock steps down
/// by 3%. The second algorithm is slower by 4%.
PointTable stepping(std::uint64_t seed_in_file) {
  const SweepRounds rounds{.count = 5, .seed = 77};
  constexpr std::size_t lengths = 100;
  std::vector<std::vector<double>> times(2 * lengths, std::vector<double>(5));
  for (int round = 0; round < rounds.count; ++round) {
    double place = 0;
    for (const std::size_t point : round_order(2 * lengths, round, rounds)) {
      const double step = place++ < lengths ? 1 : 1.03;
      const double jitter = 1 + 0.002 * std::sin(static_cast<double>(point) * 12.9898 + 78.233 * round);
      times[point][static_cast<std::size_t>(round)] = 1000 * (point < lengths ? 1 : 1.04) * step * jitter;
    }
  }
  fixtures::Points points;
  std::vector<PointRecord> records;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto n = static_cast<std::int64_t>(64 * (1 + i % lengths));
    records.push_back(in_rounds(fixtures::spec(i < lengths ? "fa1" : "fa2", n), times[i], 1e9));
  }
  Run run = fixtures::run();
  run.planned_points = records.size();
  run.rounds = {.count = 5, .seed = seed_in_file};
  points.add(records, run);
  return points.table();
}

TEST(Comparison, TheOrderInEachRoundTellsWhatAllPointsWentThrough) {
  const auto compared = [](const PointTable& table) {
    std::vector<Row> base;
    std::vector<Row> other;
    for (const Row row : table.rows()) (table.algorithm(row) == "fa1" ? base : other).push_back(row);
    return compare(table, request_for(table, base, other));
  };
  const ComparisonResult result = compared(stepping(77));
  ASSERT_EQ(result.pairs.size(), 100U);
  for (const ComparedPair& pair : result.pairs) {
    EXPECT_TRUE(pair.verdict.steadied);
    EXPECT_NEAR(pair.verdict.time.ratio, 1.04, 0.01);
  }
  EXPECT_GE(result.count(Verdict::slower), 95U);
  // In another order than they were measured in, points have nothing in common with their neighbours.
  const ComparisonResult disordered = compared(stepping(78));
  EXPECT_FALSE(disordered.pairs.front().verdict.steadied);
  EXPECT_LT(disordered.count(Verdict::slower), result.count(Verdict::slower));
}

TEST(Comparison, PartnersAreByWhatBothSidesShare) {
  fixtures::Points points;
  points.add({timed(fixtures::spec("fa1", 512), 1000), timed(fixtures::spec("fa1", 512, 64), 1100),
              timed(fixtures::spec("fa2", 512), 500), timed(fixtures::spec("fa2", 512, 64), 550)});
  const PointTable table = points.table();
  const ComparisonRequest request = request_for(table, {0, 1}, {2, 3});
  EXPECT_THAT(request.alignment.words(), ElementsAre("problem", "tile", "knobs", "device"));
  const ComparisonResult result = compare(table, request);
  ASSERT_EQ(result.pairs.size(), 2U);
  EXPECT_TRUE(result.pairs[0].paired);  // one recording
  EXPECT_THAT(result.pairs[0].base, ElementsAre(0U));
  EXPECT_THAT(result.pairs[0].other, ElementsAre(2U));
  EXPECT_THAT(result.pairs[1].other, ElementsAre(3U));
  EXPECT_FALSE(result.pairs[0].same_point);

  const ComparisonResult by_problem = compare(table, request_for(table, {0, 1}, {2, 3}, {"problem"}));
  EXPECT_TRUE(by_problem.pairs.empty());
  ASSERT_EQ(by_problem.left_out.size(), 2U);
  EXPECT_EQ(by_problem.left_out[0].why, LeftOut::Why::several);
  EXPECT_EQ(by_problem.left_out[0].rows.size(), 2U);
}

TEST(Comparison, WhatHasNoPartnerOrFailedIsListedWithTheReason) {
  fixtures::Points points;
  points.add({timed(fixtures::spec("fa1", 512), 1000), timed(fixtures::spec("fa1", 1024), 1000),
              timed(fixtures::spec("fa1", 2048), 1000)});
  points.add({timed(fixtures::spec("fa1", 512), 1000),
              fixtures::failed_point(fixtures::spec("fa1", 1024), Disposition::timeout, "too long"),
              timed(fixtures::spec("fa1", 4096), 1000)});
  const PointTable table = points.table();
  const ComparisonResult result =
      compare(table, request_for(table, rows_of_runs(table, {0}), rows_of_runs(table, {1})));
  EXPECT_EQ(result.pairs.size(), 1U);
  ASSERT_EQ(result.left_out.size(), 3U);
  EXPECT_EQ(result.left_out[0].why, LeftOut::Why::failed);
  EXPECT_TRUE(result.left_out[0].of_other);
  EXPECT_EQ(text(table.reason(result.left_out[0].rows.front())), "too long");
  EXPECT_EQ(result.left_out[1].why, LeftOut::Why::no_partner);
  EXPECT_FALSE(result.left_out[1].of_other);
  EXPECT_EQ(table.n_q(result.left_out[1].rows.front()), 2048);
  EXPECT_TRUE(result.left_out[2].of_other);
}

TEST(Comparison, ARecordingInWhichAPointFailedIsListedBesideThePair) {
  fixtures::Points points;
  points.add({timed(fixtures::spec("fa1", 512), 1000)});
  points.add({timed(fixtures::spec("fa1", 512), 1000)});
  points.add({fixtures::failed_point(fixtures::spec("fa1", 512), Disposition::crashed, "gone")});
  const PointTable table = points.table();
  const ComparisonResult result = compare(table, request_for(table, {0}, {1, 2}));
  ASSERT_EQ(result.pairs.size(), 1U);
  EXPECT_THAT(result.pairs[0].other, ElementsAre(1U));
  ASSERT_EQ(result.left_out.size(), 1U);
  EXPECT_EQ(result.left_out[0].why, LeftOut::Why::failed);
  EXPECT_THAT(result.left_out[0].rows, ElementsAre(2U));
}

TEST(Comparison, ARowOfBothSidesIsTheBasesAlone) {
  fixtures::Points points;
  points.add({timed(fixtures::spec("fa1", 512), 1000)});
  points.add({timed(fixtures::spec("fa1", 512), 1300)});
  const PointTable table = points.table();
  const ComparisonResult result = compare(table, request_for(table, {0}, {0, 1}));
  ASSERT_EQ(result.pairs.size(), 1U);
  EXPECT_THAT(result.pairs[0].other, ElementsAre(1U));
  EXPECT_NEAR(result.pairs[0].verdict.time.ratio, 1.3, 1e-12);
  EXPECT_EQ(result.pairs[0].verdict.verdict, Verdict::slower);
  EXPECT_EQ(result.on_both_sides, 1U);
  // What failed in a run that both files hold has no partner, and is not the baseline's alone.
  fixtures::Points failed;
  failed.add({fixtures::failed_point(fixtures::spec("fa1", 512), Disposition::crashed, "it fell")});
  failed.add({fixtures::failed_point(fixtures::spec("fa1", 1024), Disposition::crashed, "it fell")});
  failed.add({timed(fixtures::spec("fa1", 2048), 1000)});
  const PointTable of_failed = failed.table();
  const ComparisonResult both = compare(of_failed, request_for(of_failed, {0, 1}, {0, 2}));
  ASSERT_EQ(both.left_out.size(), 3U);
  EXPECT_EQ(text(left_out_words(of_failed, both.left_out[0])), "the same point of one run stands on both sides");
  EXPECT_EQ(text(left_out_words(of_failed, both.left_out[1])), "the baseline alone has this point");
  EXPECT_EQ(text(left_out_words(of_failed, both.left_out[2])), "the baseline has no such point");
}

TEST(Comparison, ASimulationIsNoFurtherRoundOfAMeasurement) {
  fixtures::Points points;
  points.add({timed(fixtures::spec("fa1", 1024), 1000)});
  points.add({timed(fixtures::spec("fa1", 1024), 1000)});
  points.add({fixtures::ok_point(fixtures::spec("fa1", 1024), true)});
  const PointTable table = points.table();
  const ComparisonResult result = compare(table, request_for(table, {0}, {1, 2}));
  EXPECT_TRUE(result.pairs.empty());
  ASSERT_EQ(result.left_out.size(), 1U);
  EXPECT_EQ(result.left_out[0].why, LeftOut::Why::several);
  EXPECT_TRUE(result.left_out[0].of_other);
}

TEST(Comparison, WhatIsOfOtherSourcesOrComputedOtherwiseIsNoFurtherRound) {
  const auto pairs = [](const PointRecord& first, const PointRecord& second) {
    fixtures::Points points;
    points.add({timed(fixtures::spec("fa1", 512), 1000)}).add({first}).add({second});
    const PointTable table = points.table();
    return compare(table, request_for(table, {0}, {1, 2})).pairs.size();
  };
  const auto of_sources = [](const char* digest) {
    PointRecord record = timed(fixtures::spec("fa1", 512), 1000);
    record.kernels.front().launch.emplace().digest = digest;
    return record;
  };
  const PointRecord unknown = timed(fixtures::spec("fa1", 512), 1000);
  EXPECT_EQ(pairs(of_sources("a"), of_sources("a")), 1U);
  EXPECT_EQ(pairs(of_sources("a"), unknown), 1U);
  EXPECT_EQ(pairs(unknown, of_sources("a")), 1U);
  EXPECT_EQ(pairs(of_sources("a"), of_sources("b")), 0U);
  PointRecord played = unknown;
  played.provenance = Provenance::simulated;
  PointRecord slower = played;
  slower.kernels.front().samples_ns = {1100};
  EXPECT_EQ(pairs(played, played), 1U);
  EXPECT_EQ(pairs(played, slower), 0U);
}

TEST(Comparison, RecordingsOfASideThatDisagreeDecideNothing) {
  fixtures::Points points;
  for (const double ns : {1000.0, 200.0, 1500.0}) points.add({timed(fixtures::spec("fa1", 512), ns)});
  const PointTable table = points.table();
  const ComparisonResult result = compare(table, request_for(table, {0}, {1, 2}));
  ASSERT_EQ(result.pairs.size(), 1U);
  EXPECT_EQ(result.pairs[0].verdict.verdict, Verdict::ambiguous);
  EXPECT_LT(result.pairs[0].verdict.time.interval.low, 0.2);
  EXPECT_GT(result.pairs[0].verdict.time.interval.high, 1.5);
}

TEST(Comparison, WhatRanAndDoesNoMoreIsCounted) {
  fixtures::Points points;
  points.add({timed(fixtures::spec("fa1", 512), 1000), timed(fixtures::spec("fa1", 1024), 1000)});
  points.add({fixtures::failed_point(fixtures::spec("fa1", 512), Disposition::crashed, "boom"),
              fixtures::failed_point(fixtures::spec("fa1", 1024), Disposition::infeasible, "too large")});
  const PointTable table = points.table();
  EXPECT_EQ(compare(table, request_for(table, {0, 1}, {2, 3})).no_longer_run(table), 1U);
  EXPECT_EQ(compare(table, request_for(table, {2, 3}, {0, 1})).no_longer_run(table), 0U);
}

TEST(Comparison, OneSimulationTwiceIsExact) {
  fixtures::Points points;
  points.add({fixtures::ok_point(fixtures::spec("fa1", 1024), true)});
  points.add({fixtures::ok_point(fixtures::spec("fa1", 1024), true)});
  const PointTable table = points.table();
  const ComparisonResult result = compare(table, request_for(table, {0}, {1}));
  ASSERT_EQ(result.pairs.size(), 1U);
  const RowVerdict& verdict = result.pairs[0].verdict;
  EXPECT_DOUBLE_EQ(verdict.time.interval.low, verdict.time.ratio);
  EXPECT_EQ(verdict.verdict, Verdict::same);
  EXPECT_FALSE(result.pairs[0].computed);
}

double time_error_of(std::string_view algorithm, std::string_view gpu = "NVIDIA H200") {
  return published_time_error(published_errors(gpu), algorithm, Pass::fwd);
}

TEST(Comparison, OfOneComputedSideTheErrorIsThatOfItsAlgorithm) {
  ASSERT_NE(time_error_of("naive"), time_error_of("fa2"));
  fixtures::Points points;
  points.add({fixtures::ok_point(fixtures::spec("naive", 1024), true)});
  points.add({fixtures::ok_point(fixtures::spec("fa2", 1024))});
  const PointTable table = points.table();
  for (const bool computed_base : {true, false}) {
    const std::vector<Row> base{computed_base ? 0U : 1U};
    const std::vector<Row> other{computed_base ? 1U : 0U};
    const ComparisonResult result = compare(table, request_for(table, base, other));
    ASSERT_EQ(result.pairs.size(), 1U);
    const RatioInterval& time = result.pairs[0].verdict.time;
    EXPECT_EQ(result.pairs[0].verdict.floor, SpreadFloor::of_model);
    EXPECT_NEAR(time.interval.high / time.ratio, 1 + time_error_of("naive"), 1e-9);
    EXPECT_NEAR(time.ratio / time.interval.low, 1 + time_error_of("naive"), 1e-9);
  }
}

/// A simulated point of that time.
PointRecord played(PointSpec spec, double ns) {
  PointRecord record = timed(std::move(spec), ns);
  record.provenance = Provenance::simulated;
  return record;
}

TEST(Comparison, OfTwoTilesTheErrorIsThatOfTheirRatio) {
  PointSpec tile = fixtures::spec("fa2", 1024);
  PointSpec other_tile = tile;
  other_tile.tile.br *= 2;
  const double error = published_tile_error(published_errors("NVIDIA H200"), "fa2", Pass::fwd);
  ASSERT_GT(error, 0.02);
  for (const auto& [ratio, verdict] : {std::pair(1 + error * 0.9, Verdict::ambiguous),
                                       {1.0, Verdict::ambiguous},
                                       {(1 + error) * 1.1, Verdict::slower},
                                       {0.5, Verdict::faster}}) {
    fixtures::Points points;
    points.add({played(tile, 1000)}, fixtures::run(Provenance::simulated, "played"));
    points.add({played(other_tile, 1000 * ratio)}, fixtures::run(Provenance::simulated, "played"));
    const PointTable table = points.table();
    const ComparisonResult result = compare(table, request_for(table, {0}, {1}, {"problem", "algorithm"}));
    ASSERT_EQ(result.pairs.size(), 1U);
    const RowVerdict& row = result.pairs[0].verdict;
    EXPECT_TRUE(result.pairs[0].computed);
    EXPECT_EQ(row.verdict, verdict) << ratio;
    EXPECT_EQ(row.floor, SpreadFloor::of_model);
    EXPECT_NEAR(row.time.interval.high, ratio * (1 + error), 1e-9);
    EXPECT_NEAR(row.time.interval.low, ratio / (1 + error), 1e-9);
  }
}

TEST(Comparison, OfTwoSimulatedAlgorithmsBothMayBeOff) {
  fixtures::Points points;
  points.add({played(fixtures::spec("naive", 1024), 1000)}, fixtures::run(Provenance::simulated, "played"));
  points.add({played(fixtures::spec("fa2", 1024), 700)}, fixtures::run(Provenance::simulated, "played"));
  const PointTable table = points.table();
  const ComparisonResult result = compare(table, request_for(table, {0}, {1}));
  ASSERT_EQ(result.pairs.size(), 1U);
  const double naive = std::log(1 + time_error_of("naive"));
  const double fa2 = std::log(1 + time_error_of("fa2"));
  EXPECT_NEAR(std::log(result.pairs[0].verdict.time.interval.high / 0.7), std::sqrt(naive * naive + fa2 * fa2), 1e-9);
}

TEST(Comparison, WhatIsSimulatedIsTrustedAsFarAsItsOwnGpuSays) {
  ASSERT_NE(time_error_of("fa2"), time_error_of("fa2", "H100"));
  analysis::Run h100 = fixtures::run(Provenance::simulated, "played");
  h100.device_name = "NVIDIA H100 SXM";
  fixtures::Points points;
  points.add({played(fixtures::spec("fa2", 1024), 1000)}, h100);
  points.add({timed(fixtures::spec("fa2", 1024), 1000)});
  const PointTable table = points.table();
  const ComparisonResult result = compare(table, request_for(table, {0}, {1}, {"problem", "algorithm"}));
  ASSERT_EQ(result.pairs.size(), 1U);
  EXPECT_NEAR(result.pairs[0].verdict.time.interval.high, 1 + time_error_of("fa2", "H100"), 1e-9);
  const ComparedSide side{.base = "measured", .name = "simulated", .alignment = {}, .result = result};
  const std::vector<Message> words = view_of(table, {std::make_shared<const ComparedSide>(side)}).spreads;
  ASSERT_EQ(words.size(), 1U);
  EXPECT_THAT(text(words[0]), HasSubstr("on NVIDIA H100 80GB HBM3"));
}

TEST(Comparison, CircumstancesThatDifferComeByName) {
  fixtures::Points points;
  auto other = fixtures::run();
  other.device_name = "NVIDIA A100";
  PointRecord before = timed(fixtures::spec("fa1", 512), 1000);
  before.kernels.front().launch.emplace().digest = "abc";
  PointRecord after = before;
  after.kernels.front().launch->digest = "abd";
  points.add({before, timed(fixtures::spec("fa1", 1024), 1000)});
  points.add({after, timed(fixtures::spec("fa1", 1024), 1000)}, other);  // of the second pair no source is known
  const PointTable table = points.table();
  ComparisonRequest request = request_for(table, {0, 1}, {2, 3}, {"N"});
  const Message driver = say::difference::driver{};
  const Message cuda = Message::verbatim("CUDA");
  const Message on_13 = Message::verbatim("13.0");
  request.conditions = {{{driver, Message::verbatim("580")}, {cuda, on_13}},
                        {{driver, Message::verbatim("570")}, {cuda, on_13}}};
  const ComparisonResult result = compare(table, request);
  ASSERT_EQ(result.differences.size(), 3U);
  EXPECT_EQ(text(result.differences[0].name), "GPU");
  EXPECT_EQ(words_of(result.differences[0].other), "NVIDIA A100");
  EXPECT_EQ(text(result.differences[1].name), "driver");
  EXPECT_EQ(words_of(result.differences[1].base), "580");
  EXPECT_EQ(text(result.differences[2].name), "kernel sources");
  EXPECT_EQ(words_of(result.differences[2].other), "1/1");
}

TEST(Comparison, AWordThatIsNothingIsNamed) {
  fixtures::Points points;
  points.add({timed(fixtures::spec("fa1", 512), 1000)});
  const PointTable table = points.table();
  const std::vector<Row> rows = table.rows();
  const auto wrong = alignment_of(std::vector<std::string>{"heads_w"}, table, rows, rows);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(text(wrong.error()), HasSubstr("'heads_w'"));
  EXPECT_THAT(text(wrong.error()), HasSubstr("heads_q"));
  const auto by_n = alignment_of(std::vector<std::string>{"N", "device"}, table, rows, rows);
  EXPECT_THAT(by_n->words(), ElementsAre("n_q", "n_k", "device"));
}

}  // namespace
}  // namespace attnscope::analysis

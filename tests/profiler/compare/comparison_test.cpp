// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "messages/compare.h"
#include "messages/difference.h"
#include "messages/field.h"
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
using ::testing::IsEmpty;
using Words = std::vector<std::string>;
using SkipReason = SkippedRows::SkipReason;

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

PointRecord fa1(double ns, std::int64_t n = 512) {
  return timed(fixtures::spec("fa1", n), ns);
}

PointRecord simulated(PointSpec spec, double ns) {
  PointRecord record = timed(std::move(spec), ns);
  record.provenance = Provenance::simulated;
  return record;
}

/// Returns a point with one round per time, all at this clock.
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

PointRecord failed(std::int64_t n, Disposition disposition, const Message& reason) {
  return fixtures::failed_point(fixtures::spec("fa1", n), disposition, reason);
}

ComparisonRequest request_for(const PointTable& table, std::vector<Row> base, std::vector<Row> other,
                              const Words& align = {}) {
  ComparisonRequest request;
  request.alignment = parse_alignment(align, table, base, other).value();
  request.base = std::move(base);
  request.other = std::move(other);
  return request;
}

struct Compared {
  PointTable table;
  ComparisonResult result;
  [[nodiscard]] const ComparedPair& pair() const { return result.pairs.at(0); }
  [[nodiscard]] const RowVerdict& verdict() const { return pair().verdict; }
};

Compared compared(const fixtures::Points& points, const std::vector<Row>& base = {0},
                  const std::vector<Row>& other = {1}, const Words& align = {}) {
  PointTable table = points.table();
  ComparisonResult result = compare(table, request_for(table, base, other, align));
  return {std::move(table), std::move(result)};
}

fixtures::Points runs_of(const std::vector<std::vector<PointRecord>>& runs) {
  fixtures::Points points;
  for (const std::vector<PointRecord>& run : runs) points.add(run);
  return points;
}

// Cold-L2 simulation counts dirty lines as DRAM bytes, GPU counters do not.
TEST(Comparison, ColdDramBytesAreNotComparedWithSimulation) {
  for (const CacheState cache : {CacheState::cold, CacheState::warm}) {
    PointSpec spec = fixtures::spec("fa2", 1024);
    spec.cache = cache;
    const Compared of = compared(runs_of({{fixtures::ok_point(spec, false)}, {fixtures::ok_point(spec, true)}}));
    EXPECT_EQ(of.pair().levels[0].ratio().has_value(), cache == CacheState::warm);
  }
}

// Files of other programs rarely state the L2's state; their points still match measured ones.
TEST(Comparison, AnUnknownL2StateMatchesAndIsADifference) {
  PointSpec imported = fixtures::spec("fa1", 512);
  imported.cache = CacheState::unknown;
  const Compared of = compared(runs_of({{timed(imported, 1000)}, {fa1(1100)}}));
  ASSERT_EQ(of.result.pairs.size(), 1U);
  const auto found = std::ranges::find(of.result.differences, Message(msg::field::cache{}), &Difference::name);
  ASSERT_NE(found, of.result.differences.end());
  EXPECT_EQ(text(found->base.at(0)) + "/" + text(found->other.at(0)), "unknown/cold");
  PointSpec warm = fixtures::spec("fa1", 512);
  warm.cache = CacheState::warm;
  EXPECT_TRUE(compared(runs_of({{timed(warm, 1000)}, {fa1(1100)}})).result.pairs.empty());
}

TEST(Comparison, ComparesTwoRecordings) {
  const fixtures::Points points = runs_of({{timed(fixtures::spec("fa1", 512), 1000, 4e6), fa1(4000, 1024)},
                                           {timed(fixtures::spec("fa1", 512), 1300, 3e6), fa1(4040, 1024)}});
  const auto [table, result] = compared(points, {0, 1}, {2, 3});
  ASSERT_EQ(result.pairs.size(), 2U);
  const ComparedPair& slower = result.pairs[0];
  EXPECT_DOUBLE_EQ(slower.base_ns, 1000);
  EXPECT_DOUBLE_EQ(slower.other_ns, 1300);
  EXPECT_NEAR(slower.verdict.time.ratio, 1.3, 1e-12);
  EXPECT_EQ(slower.verdict.verdict, Verdict::slower);
  EXPECT_EQ(slower.verdict.floor, SpreadFloor::assumed_percent);
  EXPECT_TRUE(slower.same_point);
  EXPECT_FALSE(slower.paired);
  EXPECT_EQ(slower.recordings, 2U);
  ASSERT_TRUE(slower.levels[0].ratio());
  EXPECT_DOUBLE_EQ(*slower.levels[0].base, 4e6);
  EXPECT_DOUBLE_EQ(*slower.levels[0].ratio(), 0.75);
  EXPECT_FALSE(slower.levels[1].ratio());
  EXPECT_EQ(result.pairs[1].verdict.undecided, Undecided::few_rounds);
  EXPECT_EQ(regressions(result, 0.29).size(), 1U);
  EXPECT_TRUE(regressions(result, 0.31).empty());  // the ratio is 1.3
  EXPECT_EQ(regressions(result, 0.2, true).size(), 1U);
  EXPECT_TRUE(regressions(result, 0.25, true).empty());  // the lower bound is 1.3 / 1.05
  ComparisonRequest wide = request_for(table, {0, 1}, {2, 3});
  wide.margin = 0.25;
  EXPECT_TRUE(regressions(compare(table, wide), 0.01).empty()) << "not SLOWER at that margin";
  EXPECT_TRUE(result.left_out.empty());
  EXPECT_TRUE(result.differences.empty());
}

TEST(Comparison, RepeatedRecordingsAddRounds) {
  std::vector<std::vector<PointRecord>> runs;
  for (const double by : {1.0, 1.05}) {
    for (const double noise : {1.000, 1.002, 0.999, 1.001, 0.998}) runs.push_back({fa1(1000 * by * noise)});
  }
  const Compared of = compared(runs_of(runs), {0, 1, 2, 3, 4}, {5, 6, 7, 8, 9});
  EXPECT_EQ(of.pair().recordings, 10U);
  EXPECT_EQ(of.verdict().floor, SpreadFloor::none);
  EXPECT_EQ(of.verdict().verdict, Verdict::slower);
  EXPECT_NEAR(of.verdict().time.ratio, 1.05, 1e-3);
  const Compared disagree = compared(runs_of({{fa1(1000)}, {fa1(200)}, {fa1(1500)}}), {0}, {1, 2});
  EXPECT_EQ(disagree.verdict().verdict, Verdict::ambiguous);
  EXPECT_LT(disagree.verdict().time.interval.low, 0.2);
  EXPECT_GT(disagree.verdict().time.interval.high, 1.5);
}

// Two recordings on a GPU with calibrated noise.
TEST(Comparison, UsesCalibratedNoise) {
  const PointSpec spec = fixtures::spec("fa1", 512);
  const auto noise = std::make_shared<const NoiseModel>(RecordingNoise{
      .recordings = 6, .rounds = 5, .points = {{canonical_text(spec), {.ns = 100, .variance = 1e-6, .dof = 5}}}});
  for (const auto& [by, known, verdict] :
       {std::tuple(1.004, true, Verdict::same), std::tuple(1.03, true, Verdict::slower),
        std::tuple(0.97, true, Verdict::faster), std::tuple(1.014, true, Verdict::ambiguous),
        std::tuple(1.03, false, Verdict::ambiguous)}) {
    fixtures::Points points;
    analysis::Run run = fixtures::run(Provenance::measured);
    run.noise = known ? noise : nullptr;
    points.add({in_rounds(spec, {100, 103, 99.9, 101, 104}, 1e9)}, run);
    points.add({in_rounds(spec, {100 * by, 101 * by, 99.9 * by, 105 * by, 104 * by}, 1e9)}, run);
    const Compared of = compared(points);
    EXPECT_DOUBLE_EQ(of.result.margin, default_margin_unpaired);
    EXPECT_EQ(of.verdict().verdict, verdict) << by;
    EXPECT_EQ(of.verdict().floor, known ? SpreadFloor::calibrated : SpreadFloor::of_rounds) << by;
    if (!known) continue;
    EXPECT_NEAR(of.verdict().time.ratio, by, 1e-9) << "of the faster half";
    EXPECT_GT(of.verdict().detectable, default_margin_unpaired);
  }
}

const std::vector<double> some_rounds{100, 101, 99, 100.5, 100.2};
const std::vector<double> slower_rounds{103, 104.5, 101, 103.2, 103.5};

TEST(Comparison, PairsRoundsOfOneRun) {
  const auto [table, result] = compared(runs_of({{in_rounds(fixtures::spec("fa1", 512), some_rounds, 1e9),
                                                  in_rounds(fixtures::spec("fa2", 512), slower_rounds, 1e9)}}));
  const ComparedPair& pair = result.pairs.at(0);
  EXPECT_TRUE(pair.paired);
  EXPECT_EQ(pair.verdict.rounds, 5U);
  EXPECT_DOUBLE_EQ(pair.base_ns, 100.2);
  EXPECT_EQ(pair.verdict.floor, SpreadFloor::none);
  // Expected values from SciPy; same rounds as in verdicts_test.cpp.
  EXPECT_NEAR(pair.verdict.time.interval.low, 1.0218428423364996, 1e-9);
  EXPECT_NEAR(pair.verdict.time.interval.high, 1.0360428706431042, 1e-9);
  ASSERT_TRUE(pair.verdict.cycles);
  EXPECT_NEAR(pair.verdict.cycles->ratio, pair.verdict.time.ratio, 1e-9);
  EXPECT_EQ(pair.verdict.verdict, Verdict::slower);
  // Interim analyses widen the interval.
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

// Fewer than three common rounds are paired only if there are no other rounds.
TEST(Comparison, PairsFewRoundsOnlyIfAllAreCommon) {
  for (const auto& [base, other, paired] :
       {std::tuple(2, 2, true), std::tuple(2, 3, false), std::tuple(3, 2, false), std::tuple(3, 4, true)}) {
    const auto first = [](int count) { return std::vector(some_rounds.begin(), some_rounds.begin() + count); };
    const Compared of = compared(runs_of({{in_rounds(fixtures::spec("fa1", 512), first(base), 1e9),
                                           in_rounds(fixtures::spec("fa2", 512), first(other), 1e9)}}));
    EXPECT_EQ(of.pair().paired, paired) << base << " and " << other;
  }
}

TEST(Comparison, UsesCyclesOnlyIfComplete) {
  PointRecord some = in_rounds(fixtures::spec("fa1", 512), {100}, 1e9);
  add_round(some, 1, in_rounds(fixtures::spec("fa1", 512), {101}, 0));
  const fixtures::Points points = runs_of({{some, in_rounds(fixtures::spec("fa2", 512), {100, 101}, 1e9)}});
  EXPECT_FALSE(compared(points, {0}, {1}).verdict().cycles);
  EXPECT_FALSE(compared(points, {1}, {0}).verdict().cycles);
}

/// Two algorithms at 100 lengths in five shuffled rounds; the clock drops by 3% within each round, later in later ones.
/// The second algorithm is slower by 4%. `apart`: each algorithm has its own run, interleaved with the other.
fixtures::Points with_clock_steps(std::uint64_t recorded_seed, bool apart = false) {
  const SweepRounds rounds{.count = 5, .seed = 77};
  constexpr std::size_t lengths = 100;
  std::vector<std::vector<double>> times(2 * lengths, std::vector<double>(5));
  for (int round = 0; round < rounds.count; ++round) {
    double place = 0;
    for (const std::size_t point : round_order(2 * lengths, round, rounds)) {
      const double step = place++ < 60.0 + 20 * round ? 1 : 1.03;
      const double jitter = 1 + 0.002 * std::sin(static_cast<double>(point) * 12.9898 + 78.233 * round);
      times[point][static_cast<std::size_t>(round)] = 1000 * (point < lengths ? 1 : 1.04) * step * jitter;
    }
  }
  std::vector<PointRecord> records;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto n = static_cast<std::int64_t>(64 * (1 + i % lengths));
    records.push_back(in_rounds(fixtures::spec(i < lengths ? "fa1" : "fa2", n), times[i], 1e9));
  }
  Run run = fixtures::run();
  run.planned_points = records.size();
  run.rounds = {.count = 5, .seed = recorded_seed};
  fixtures::Points points;
  if (!apart) return points.add(records, run);
  run.turns = 9;
  points.add({records.begin(), records.begin() + lengths}, run);
  run.first_place = lengths;
  return points.add({records.begin() + lengths, records.end()}, run);
}

TEST(Comparison, RemovesCommonDriftByOrder) {
  std::vector<Row> base(100);
  std::vector<Row> other(100);
  for (Row row = 0; row < 100; ++row) std::tie(base[row], other[row]) = std::pair(row, row + 100);
  const ComparisonResult result = compared(with_clock_steps(77), base, other).result;
  ASSERT_EQ(result.pairs.size(), 100U);
  for (const ComparedPair& pair : result.pairs) {
    EXPECT_TRUE(pair.verdict.steadied);
    EXPECT_NEAR(pair.verdict.time.ratio, 1.04, 0.012);
  }
  EXPECT_GE(result.count(Verdict::slower), 95U);
  const ComparisonResult apart = compared(with_clock_steps(77, true), base, other).result;
  ASSERT_EQ(apart.pairs.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(apart.pairs[i].verdict.time.ratio, result.pairs[i].verdict.time.ratio) << "two runs share the order";
  }
  // With the wrong seed the recorded order is wrong, so neighbors have nothing in common.
  const ComparisonResult disordered = compared(with_clock_steps(78), base, other).result;
  EXPECT_FALSE(disordered.pairs.front().verdict.steadied);
  EXPECT_LT(disordered.count(Verdict::slower), result.count(Verdict::slower));
}

TEST(Comparison, AlignsBySharedKeys) {
  const fixtures::Points points =
      runs_of({{fa1(1000), timed(fixtures::spec("fa1", 512, 64), 1100), timed(fixtures::spec("fa2", 512), 500),
                timed(fixtures::spec("fa2", 512, 64), 550)}});
  const auto [table, result] = compared(points, {0, 1}, {2, 3}, {"problem", "tile", "knobs", "device"});
  EXPECT_THAT(request_for(table, {0, 1}, {2, 3}).alignment.keywords(), ElementsAre("problem", "device"));
  EXPECT_THAT(request_for(table, {0, 2}, {1, 2}).alignment.keywords(),
              ElementsAre("problem", "algorithm", "tile", "knobs", "device"));
  ASSERT_EQ(result.pairs.size(), 2U);
  EXPECT_TRUE(result.pairs[0].paired);  // same recording
  EXPECT_THAT(result.pairs[0].base, ElementsAre(0U));
  EXPECT_THAT(result.pairs[0].other, ElementsAre(2U));
  EXPECT_THAT(result.pairs[1].other, ElementsAre(3U));
  EXPECT_FALSE(result.pairs[0].same_point);
  const ComparisonResult by_problem = compared(points, {0, 1}, {2, 3}, {"problem"}).result;
  EXPECT_TRUE(by_problem.pairs.empty());
  ASSERT_EQ(by_problem.left_out.size(), 2U);
  EXPECT_EQ(by_problem.left_out[0].why, SkipReason::several);
  EXPECT_EQ(by_problem.left_out[0].rows.size(), 2U);
}

TEST(Comparison, AlignsHalves) {
  PointSpec brain = fixtures::spec("fa1", 512);
  brain.problem.dtype = brain.problem.dtype == DType::fp16 ? DType::bf16 : DType::fp16;
  const auto [table, result] = compared(runs_of({{fa1(100), timed(brain, 200)}}));
  EXPECT_TRUE(result.pairs.empty());  // different problems
  ComparisonRequest request = request_for(table, {0}, {1});
  request.alignment = infer_alignment(table, request.base, request.other);
  EXPECT_EQ(std::ranges::count(request.alignment.fields, "dtype"), 0);
  EXPECT_EQ(std::ranges::count(request.alignment.fields, "n_q"), 1);
  EXPECT_NEAR(compare(table, request).pairs.at(0).verdict.time.ratio, 2, 1e-12);
}

TEST(Comparison, RejectsUnknownAlignmentKey) {
  const PointTable table = runs_of({{fa1(1000)}}).table();
  const std::vector<Row> rows = table.rows();
  const auto wrong = parse_alignment(Words{"heads_w"}, table, rows, rows);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(text(wrong.error()), HasSubstr("heads_w"));
  EXPECT_THAT(text(wrong.error()), HasSubstr("heads_q"));
  EXPECT_THAT(parse_alignment(Words{"N", "device"}, table, rows, rows)->keywords(),
              ElementsAre("n_q", "n_k", "device"));
}

TEST(Comparison, ListsSkippedRowsWithReason) {
  const Message too_long = "too long";
  struct Left {
    SkipReason why;
    bool of_other;
    Row row;
    Message reason;
  };
  struct Case {
    std::vector<std::vector<PointRecord>> runs;
    std::vector<Row> base;
    std::vector<Row> other;
    std::size_t pairs;
    std::vector<Left> left;
  };
  const PointRecord simulated_row = fixtures::ok_point(fixtures::spec("fa1", 1024), true);
  for (const Case& each :
       std::vector<Case>{// Unmatched points, and a match that failed.
                         {{{fa1(1000), fa1(1000, 1024), fa1(1000, 2048)},
                           {fa1(1000), failed(1024, Disposition::timeout, too_long), fa1(1000, 4096)}},
                          {0, 1, 2},
                          {3, 4, 5},
                          1,
                          {{SkipReason::failed, true, 4,
                            msg::compare::failed{.disposition = title(Disposition::timeout), .reason = too_long}},
                           {SkipReason::unmatched, false, 2, msg::compare::only_in_baseline{}},
                           {SkipReason::unmatched, true, 5, msg::compare::not_in_baseline{}}}},
                         // A failed recording is listed in addition to the pair.
                         {{{fa1(1000)}, {fa1(1000)}, {failed(512, Disposition::crashed, "gone")}},
                          {0},
                          {1, 2},
                          1,
                          {{SkipReason::failed, true, 2,
                            msg::compare::failed{.disposition = title(Disposition::crashed), .reason = "gone"}}}},
                         // A run on both sides counts for the baseline only.
                         {{{failed(512, Disposition::crashed, "it fell")},
                           {failed(1024, Disposition::crashed, "it fell")},
                           {fa1(1000, 2048)}},
                          {0, 1},
                          {0, 2},
                          0,
                          {{SkipReason::unmatched, false, 0, msg::compare::same_measurement{}},
                           {SkipReason::unmatched, false, 1, msg::compare::only_in_baseline{}},
                           {SkipReason::unmatched, true, 2, msg::compare::not_in_baseline{}}}},
                         // A simulation is not a repeat of a measurement.
                         {{{fa1(1000, 1024)}, {fa1(1000, 1024)}, {simulated_row}},
                          {0},
                          {1, 2},
                          0,
                          {{SkipReason::several, true, 1, msg::compare::not_unique{.points = 2}}}}}) {
    const auto [table, result] = compared(runs_of(each.runs), each.base, each.other);
    EXPECT_EQ(result.pairs.size(), each.pairs);
    ASSERT_EQ(result.left_out.size(), each.left.size()) << text(each.left.front().reason);
    for (std::size_t i = 0; i < each.left.size(); ++i) {
      EXPECT_EQ(result.left_out[i].why, each.left[i].why) << text(each.left[i].reason);
      EXPECT_EQ(result.left_out[i].of_other, each.left[i].of_other) << text(each.left[i].reason);
      EXPECT_EQ(result.left_out[i].rows.front(), each.left[i].row) << text(each.left[i].reason);
      EXPECT_EQ(text(skip_reason(table, result.left_out[i])), text(each.left[i].reason));
    }
  }
}

TEST(Comparison, CommonRowsCountAsBaseline) {
  const Compared of = compared(runs_of({{fa1(1000)}, {fa1(1300)}}), {0}, {0, 1});
  EXPECT_THAT(of.pair().other, ElementsAre(1U));
  EXPECT_NEAR(of.verdict().time.ratio, 1.3, 1e-12);
  EXPECT_EQ(of.verdict().verdict, Verdict::slower);
  EXPECT_EQ(of.result.on_both_sides, 1U);
}

TEST(Comparison, DifferentSourcesAreNotRepeats) {
  const auto pairs = [](const PointRecord& first, const PointRecord& second) {
    return compared(runs_of({{fa1(1000)}, {first}, {second}}), {0}, {1, 2}).result.pairs.size();
  };
  const auto of_sources = [](const char* digest) {
    PointRecord record = fa1(1000);
    record.kernels.front().launch.emplace().digest = digest;
    return record;
  };
  const PointSpec spec = fixtures::spec("fa1", 512);
  EXPECT_EQ(pairs(of_sources("a"), of_sources("a")), 1U);
  EXPECT_EQ(pairs(of_sources("a"), fa1(1000)), 1U);
  EXPECT_EQ(pairs(fa1(1000), of_sources("a")), 1U);
  EXPECT_EQ(pairs(of_sources("a"), of_sources("b")), 0U);
  EXPECT_EQ(pairs(simulated(spec, 1000), simulated(spec, 1000)), 1U);
  EXPECT_EQ(pairs(simulated(spec, 1000), simulated(spec, 1100)), 0U);
}

TEST(Comparison, CountsNewFailures) {
  const fixtures::Points points =
      runs_of({{fa1(1000), fa1(1000, 1024)},
               {failed(512, Disposition::crashed, "boom"), failed(1024, Disposition::infeasible, "too large")}});
  const Compared of = compared(points, {0, 1}, {2, 3});
  EXPECT_EQ(of.result.newly_failed(of.table), 1U);
  const Compared backwards = compared(points, {2, 3}, {0, 1});
  EXPECT_EQ(backwards.result.newly_failed(backwards.table), 0U);
}

double time_error_of(std::string_view algorithm, std::string_view gpu = "NVIDIA H200") {
  return published_time_error(*validated_errors(*find_gpu(gpu)), algorithm, Pass::fwd).value();
}

/// Expects an interval of this relative half width.
void expect_error(const RatioInterval& time, double error) {
  EXPECT_NEAR(time.interval.high / time.ratio, 1 + error, 1e-9);
  EXPECT_NEAR(time.ratio / time.interval.low, 1 + error, 1e-9);
}

TEST(Comparison, EqualSimulationsAreExact) {
  const PointRecord point = fixtures::ok_point(fixtures::spec("fa1", 1024), true);
  const Compared of = compared(runs_of({{point}, {point}}));
  EXPECT_DOUBLE_EQ(of.verdict().time.interval.low, of.verdict().time.ratio);
  EXPECT_EQ(of.verdict().verdict, Verdict::same);
  EXPECT_FALSE(of.pair().computed);
}

TEST(Comparison, UsesErrorOfComputedAlgorithm) {
  ASSERT_NE(time_error_of("naive"), time_error_of("fa2"));
  const fixtures::Points points = runs_of(
      {{fixtures::ok_point(fixtures::spec("naive", 1024), true)}, {fixtures::ok_point(fixtures::spec("fa2", 1024))}});
  for (const Row base : {0U, 1U}) {
    const Compared of = compared(points, {base}, {1 - base});
    EXPECT_EQ(of.verdict().floor, SpreadFloor::model_error_floor);
    expect_error(of.verdict().time, time_error_of("naive"));
  }
}

TEST(Comparison, UsesRatioErrorOfTiles) {
  const PointSpec tile = fixtures::spec("fa2", 1024);
  PointSpec other_tile = tile;
  other_tile.tile.br *= 2;
  const double error = published_tile_error(*validated_errors(*find_gpu("H200")), "fa2", Pass::fwd).value();
  ASSERT_GT(error, 0.02);
  for (const auto& [ratio, verdict] : {std::pair(1 + error * 0.9, Verdict::ambiguous),
                                       {1.0, Verdict::ambiguous},
                                       {(1 + error) * 1.1, Verdict::slower},
                                       {0.5, Verdict::faster}}) {
    const Compared of = compared(runs_of({{simulated(tile, 1000)}, {simulated(other_tile, 1000 * ratio)}}), {0}, {1},
                                 {"problem", "algorithm"});
    EXPECT_TRUE(of.pair().computed);
    EXPECT_EQ(of.verdict().verdict, verdict) << ratio;
    EXPECT_EQ(of.verdict().floor, SpreadFloor::model_error_floor);
    EXPECT_NEAR(of.verdict().time.ratio, ratio, 1e-9);
    expect_error(of.verdict().time, error);
  }
}

TEST(Comparison, CombinesErrorsOfAlgorithms) {
  const Compared of = compared(
      runs_of({{simulated(fixtures::spec("naive", 1024), 1000)}, {simulated(fixtures::spec("fa2", 1024), 700)}}));
  const double naive = std::log(1 + time_error_of("naive"));
  const double fa2 = std::log(1 + time_error_of("fa2"));
  EXPECT_NEAR(std::log(of.verdict().time.interval.high / 0.7), std::sqrt(naive * naive + fa2 * fa2), 1e-9);
}

TEST(Comparison, ErrorsApplyToTheirGpuAndAlgorithmOnly) {
  const analysis::Run h200 = fixtures::run(Provenance::simulated, "simulated");
  analysis::Run l40s = h200;
  l40s.limits = *find_gpu("L40S");
  const auto verdict = [](const analysis::Run& run, const std::string& algorithm, const std::string& candidate) {
    const bool is_measured = candidate.empty();
    fixtures::Points points;
    points.add({simulated(fixtures::spec(algorithm, 1024), 1000)}, run);
    PointSpec spec = fixtures::spec(is_measured ? algorithm : candidate, 1024);
    if (!is_measured && candidate == algorithm) spec.tile.br *= 2;
    is_measured ? points.add({timed(spec, 9000)}) : points.add({simulated(spec, 9000)}, run);
    return compared(points, {0}, {1}, {"problem"}).verdict();
  };
  EXPECT_EQ(verdict(h200, "fa2", "").verdict, Verdict::slower);
  EXPECT_EQ(verdict(h200, "fa2", "fa2").verdict, Verdict::slower);
  for (const auto& [run, algorithm, candidate] : {std::tuple(l40s, "fa2", ""),
                                                  {l40s, "fa2", "fa2"},
                                                  {l40s, "fa2", "fa1"},
                                                  {h200, "mine", ""},
                                                  {h200, "fa2", "mine"}}) {
    const RowVerdict unknown = verdict(run, algorithm, candidate);
    EXPECT_EQ(unknown.verdict, Verdict::ambiguous) << algorithm << candidate;
    EXPECT_EQ(unknown.undecided, Undecided::not_validated) << algorithm << candidate;
    EXPECT_TRUE(unknown.time.unknown) << algorithm << candidate;
    EXPECT_EQ(unknown.floor, SpreadFloor::unknown) << algorithm << candidate;
  }
}

TEST(Comparison, UsesErrorsOfSimulatedGpu) {
  ASSERT_NE(time_error_of("fa2"), time_error_of("fa2", "H100"));
  analysis::Run h100 = fixtures::run(Provenance::simulated, "simulated");
  h100.limits = *find_gpu("H100");
  fixtures::Points points;
  points.add({simulated(fixtures::spec("fa2", 1024), 1000)}, h100);
  points.add({timed(fixtures::spec("fa2", 1024), 1000)});
  const auto [table, result] = compared(points, {0}, {1}, {"problem", "algorithm"});
  EXPECT_NEAR(result.pairs.at(0).verdict.time.interval.high, 1 + time_error_of("fa2", "H100"), 1e-9);
  const ComparedSide side{.base = "simulated", .name = "measured", .alignment = {}, .result = result};
  const std::vector<Message> words = view_of(table, {std::make_shared<const ComparedSide>(side)}).spreads;
  ASSERT_EQ(words.size(), 1U);
  EXPECT_THAT(text(words[0]), HasSubstr("on NVIDIA H100 80GB HBM3"));
}

TEST(Comparison, ListsDifferentClocks) {
  const PointSpec spec = fixtures::spec("fa1", 512);
  const std::vector<double> times{100, 101, 99};
  const fixtures::Points points =
      runs_of({{in_rounds(spec, times, 1.98e9)}, {in_rounds(spec, times, 1.71e9)}, {in_rounds(spec, times, 1.975e9)}});
  const Message name = msg::difference::sm_clock{};
  const std::vector<Difference> found = compared(points, {0}, {1}).result.differences;
  const auto clock = std::ranges::find(found, name, &Difference::name);
  ASSERT_NE(clock, found.end());
  EXPECT_EQ(display_text(clock->base), "1980 MHz");
  EXPECT_EQ(display_text(clock->other), "1710 MHz");
  EXPECT_EQ(std::ranges::count(compared(points, {0}, {2}).result.differences, name, &Difference::name), 0);
}

TEST(Comparison, ListsDifferentConditions) {
  auto other = fixtures::run();
  other.device_name = "NVIDIA A100";
  PointRecord before = fa1(1000);
  before.kernels.front().launch.emplace().digest = "abc";
  PointRecord after = before;
  after.kernels.front().launch->digest = "abd";
  fixtures::Points points;
  points.add({before, fa1(1000, 1024)});
  points.add({after, fa1(1000, 1024)}, other);  // no kernel sources for the second pair
  const PointTable table = points.table();
  ComparisonRequest request = request_for(table, {0, 1}, {2, 3}, {"N"});
  const Message driver = msg::difference::driver{};
  const std::pair cuda(Message::verbatim("CUDA"), Message::verbatim("13.0"));
  request.conditions = {{{driver, Message::verbatim("580")}, cuda}, {{driver, Message::verbatim("570")}, cuda}};
  const std::vector<Difference> differences = compare(table, request).differences;
  ASSERT_EQ(differences.size(), 3U);
  EXPECT_EQ(text(differences[0].name), text(msg::difference::gpu{}));
  EXPECT_EQ(display_text(differences[0].other), "NVIDIA A100");
  EXPECT_EQ(text(differences[1].name), text(driver));
  EXPECT_EQ(display_text(differences[1].base), "580");
  EXPECT_EQ(display_text(differences[1].other), "570");
  EXPECT_EQ(text(differences[2].name), text(msg::difference::kernel_sources{}));
  EXPECT_EQ(display_text(differences[2].base), "abc");
  EXPECT_EQ(display_text(differences[2].other), "abd");
  EXPECT_EQ(differences[2].rows, 1U);
}

TEST(Comparison, NamesAlgorithmsWithChangedKernels) {
  struct Side {
    const char* digest = "abc";
    const char* nvrtc = "13.0";
    const char* gpu = "H200";
    const char* define = "ATTN_D=64";
  };
  const auto evidence = [](const Side& base, const Side& other) {
    fixtures::Points points;
    for (const Side& side : {base, other}) {
      std::vector<PointRecord> records{fa1(1000), timed(fixtures::spec("fa2", 512), 1000)};
      for (PointRecord& record : records) record.kernels.front().launch.emplace().digest = "equal";
      records.front().kernels.front().launch->digest = side.digest;
      records.front().kernels.front().launch->defines = {side.define};
      analysis::Run run = fixtures::run();
      run.nvrtc = side.nvrtc;
      run.limits = *find_gpu(side.gpu);
      points.add(records, run);
    }
    const auto [table, result] = compared(points, {0, 1}, {2, 3});
    const ComparedSide side{.base = "before", .name = "after", .alignment = {}, .result = result};
    std::vector<std::string> words;
    for (const Message& each : view_of(table, {std::make_shared<const ComparedSide>(side)}).evidence) {
      if (each.id == Message(msg::compare::changed_kernels{.algorithms = ""}).id) words.push_back(text(each));
    }
    return words;
  };
  EXPECT_THAT(evidence({}, {.digest = "abd"}), ElementsAre(HasSubstr(": FA1.")));
  EXPECT_THAT(evidence({}, {}), IsEmpty());
  EXPECT_THAT(evidence({.nvrtc = ""}, {.digest = "abd", .nvrtc = ""}), IsEmpty()) << "the compiler is unknown";
  EXPECT_THAT(evidence({}, {.digest = ""}), IsEmpty()) << "the candidate has no digest";
  EXPECT_THAT(evidence({}, {.digest = "abd", .nvrtc = "13.1"}), IsEmpty()) << "digests depend on the compiler";
  EXPECT_THAT(evidence({}, {.digest = "abd", .gpu = "A100"}), IsEmpty()) << "digests depend on the architecture";
  EXPECT_THAT(evidence({}, {.digest = "abd", .define = "ATTN_D=128"}), IsEmpty()) << "different launches";
}

}  // namespace
}  // namespace attnscope::analysis

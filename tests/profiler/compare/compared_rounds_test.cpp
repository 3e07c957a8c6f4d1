// SPDX-License-Identifier: Apache-2.0
// Comparisons with two of something: rounds, runs, recordings, GPUs, failures and values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "messages/difference.h"
#include "profiler/compare/compared_values.h"
#include "profiler/compare/comparison.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/rounds.h"
#include "profiler/stats/recording_noise.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using SkipReason = SkippedRows::SkipReason;
using RowList = std::vector<Row>;
using Words = std::vector<std::string>;

PointSpec fa1_spec(std::int64_t n = 512) {
  return fixtures::spec("fa1", n);
}

PointRecord sampled_point(PointSpec spec, const std::vector<double>& samples, double hz = 0) {
  PointRecord record;
  record.spec = std::move(spec);
  record.kernels.emplace_back().samples_ns = samples;
  if (hz > 0) record.clocks = ClockReading{.sm_clock_hz = hz};
  return record;
}

/// A point with one time per round, by round number.
PointRecord rounds_point(const PointSpec& spec, const std::vector<std::pair<int, double>>& times,
                         const std::vector<double>& hz = {}) {
  const auto at = [&](std::size_t k) { return sampled_point(spec, {times[k].second}, hz.empty() ? 1e9 : hz[k]); };
  PointRecord record = at(0);
  for (std::size_t k = 1; k < times.size(); ++k) add_round(record, times[k].first, at(k));
  return record;
}

PointRecord of_provenance(PointRecord record, Provenance provenance) {
  record.provenance = provenance;
  return record;
}

Run run_on_device(const std::string& device_id, Provenance provenance = Provenance::measured) {
  analysis::Run run = fixtures::run(provenance);
  run.device_id = device_id;
  return run;
}

ComparisonResult compare_rows(const PointTable& table, const RowList& base, const RowList& other,
                              const Words& align = {}) {
  ComparisonRequest request{
      .base = base, .other = other, .alignment = parse_alignment(align, table, base, other).value()};
  return compare(table, request);
}

/// Compares the first record with the others, each in a run of its own.
ComparisonResult compare_rows(const std::vector<PointRecord>& records, std::size_t of_base = 1) {
  fixtures::Points points;
  RowList base;
  RowList other;
  for (Row row = 0; row < records.size(); ++row) {
    points.add({records[row]});
    (row < of_base ? base : other).push_back(row);
  }
  return compare_rows(points.table(), base, other);
}

TEST(ComparedRounds, MatchByRoundNumber) {
  fixtures::Points points;
  points.add({rounds_point(fa1_spec(), {{0, 100}, {2, 200}, {3, 300}}),
              rounds_point(fixtures::spec("fa2", 512), {{0, 110}, {1, 999}, {2, 220}, {3, 330}})});
  const ComparisonResult result = compare_rows(points.table(), {0}, {1});
  EXPECT_TRUE(result.pairs.at(0).paired);
  EXPECT_EQ(result.pairs[0].verdict.rounds, 3U);
  EXPECT_NEAR(result.pairs[0].verdict.time.interval.high, 1.1, 1e-3) << "every round is slower by 10%";
  EXPECT_EQ(result.pairs[0].recordings, 1U);
}

// A run may measure a point twice in each round.
TEST(ComparedRounds, RepeatsOfARunMatchInOrder) {
  fixtures::Points points;
  points.add({rounds_point(fa1_spec(), {{0, 100}, {1, 100}}), rounds_point(fa1_spec(), {{0, 200}, {1, 200}}),
              rounds_point(fixtures::spec("fa2", 512), {{0, 110}, {1, 110}}),
              rounds_point(fixtures::spec("fa2", 512), {{0, 220}, {1, 220}})});
  const ComparedPair pair = compare_rows(points.table(), {0, 1}, {2, 3}).pairs.at(0);
  EXPECT_TRUE(pair.paired);
  EXPECT_EQ(pair.verdict.rounds, 4U);
  EXPECT_NEAR(pair.verdict.time.interval.high, 1.1, 1e-3);
}

TEST(ComparedRounds, InterleavedRunsShareRounds) {
  fixtures::Points points;
  for (const std::uint64_t turns : {5U, 5U, 7U, 0U, 0U}) {
    analysis::Run run = fixtures::run();
    run.turns = turns;
    points.add({rounds_point(fa1_spec(), {{0, 100}, {1, 101}, {2, 102}})}, run);
  }
  const PointTable table = points.table();
  for (const auto& [base, other, paired] :
       {std::tuple(0U, 1U, true), {1U, 0U, true}, {0U, 2U, false}, {0U, 3U, false}, {3U, 4U, false}}) {
    const ComparedPair pair = compare_rows(table, {base}, {other}).pairs.at(0);
    EXPECT_EQ(pair.paired, paired) << base << " " << other;
    EXPECT_EQ(pair.recordings, paired ? 1U : 2U) << base << " " << other;
  }
  EXPECT_EQ(compare_rows(table, {2, 3}, {4}).pairs.at(0).recordings, 3U);
}

TEST(ComparedRounds, SideValuesAreMediansOverRecordings) {
  const ComparedPair pair = compare_rows({sampled_point(fa1_spec(), {100}, 1e9), sampled_point(fa1_spec(), {300}, 1e9),
                                          sampled_point(fa1_spec(), {120}, 1e9), sampled_point(fa1_spec(), {240}, 2e9)},
                                         3)
                                .pairs.at(0);
  EXPECT_EQ(pair.base_ns, 120);
  EXPECT_EQ(pair.base_cycles, 120);
  EXPECT_EQ(pair.other_cycles, 480);
}

// Rows of one import that repeat a point are samples; their clocks are not those of the median.
TEST(ComparedRounds, RepeatedRowsOfAnImportAreSamples) {
  const auto verdict = [](const std::vector<double>& times) {
    fixtures::Points points;
    std::vector<PointRecord> imported;
    RowList base;
    for (const double ns : times) {
      base.push_back(static_cast<Row>(imported.size()));
      imported.push_back(of_provenance(sampled_point(fa1_spec(), {ns}, 1e9), Provenance::imported));
    }
    points.add(imported).add({sampled_point(fa1_spec(), {150e3}, 1e9)});
    return compare_rows(points.table(), base, {static_cast<Row>(times.size())}).pairs.at(0).verdict;
  };
  EXPECT_TRUE(verdict({150e3}).cycles);
  EXPECT_FALSE(verdict({150e3, 151e3}).cycles);
  EXPECT_NEAR(verdict({150e3}).time.interval.high, 1.05, 1e-9) << "the assumed spread";
  EXPECT_GT(verdict({100e3, 200e3}).time.interval.high, 1.3);
  EXPECT_NEAR(verdict({100e3, 300e3, 120e3}).time.ratio, 1.25, 1e-9);
}

TEST(ComparedRounds, SamplesWidenTheInterval) {
  const auto width = [](const PointRecord& base) {
    return compare_rows({base, sampled_point(fa1_spec(), {100e3})}).pairs.at(0).verdict.time.interval.high;
  };
  EXPECT_GT(width(sampled_point(fa1_spec(), {50e3, 100e3, 200e3})), 1.3);
  // Quartiles q3 / q1 = 1.6404 are a relative range of 0.5 about their geometric mean.
  const auto stated = [&](std::vector<std::pair<std::string_view, double>> values) {
    PointRecord record = of_provenance(sampled_point(fa1_spec(), {}), Provenance::imported);
    values.emplace_back(metric_key::time_median_ns, 100e3);
    values.emplace_back(metric_key::time_samples, 20);
    for (const auto& [key, value] : values)
      record.kernels[0].metrics.push_back({std::string(key), value, "", Provenance::imported});
    return width(record);
  };
  const double half = std::asinh(0.25);
  EXPECT_NEAR(
      stated({{metric_key::time_spread, 0.5}}),
      stated({{metric_key::time_q1_ns, 100e3 * std::exp(-half)}, {metric_key::time_q3_ns, 100e3 * std::exp(half)}}),
      1e-9);
  EXPECT_GT(stated({{metric_key::time_spread, 0.5}}), 1.1);
}

TEST(ComparedRounds, CalibratedNoiseOfSeveralRecordings) {
  const auto noise = [](double variance) {
    return std::make_shared<const NoiseModel>(
        RecordingNoise{.recordings = 6,
                       .rounds = 5,
                       .points = {{canonical_text(fa1_spec()), {.ns = 100, .variance = variance, .dof = 5}}}});
  };
  const auto small = noise(1e-6);
  const auto large = noise(1e-4);
  const PointRecord many = rounds_point(fa1_spec(), {{0, 100}, {1, 100}, {2, 100}, {3, 100}, {4, 100}});
  const PointRecord few = rounds_point(fa1_spec(), {{0, 100}, {1, 100}});
  using Side = std::vector<std::pair<PointRecord, std::shared_ptr<const NoiseModel>>>;
  const auto width = [&](const Side& base) {
    fixtures::Points points;
    analysis::Run run = fixtures::run();
    RowList rows;
    for (const auto& [record, model] : base) {
      run.noise = model;
      rows.push_back(static_cast<Row>(rows.size()));
      points.add({record}, run);
    }
    run.noise = small;
    points.add({many}, run);
    return std::log(
        compare_rows(points.table(), rows, {static_cast<Row>(rows.size())}).pairs.at(0).verdict.time.interval.high);
  };
  EXPECT_DOUBLE_EQ(width({{many, small}, {many, large}}), width({{many, large}, {many, large}})) << "the larger one";
  EXPECT_DOUBLE_EQ(width({{many, large}, {many, small}}), width({{many, large}, {many, large}}));
  EXPECT_DOUBLE_EQ(width({{few, large}, {many, large}}), width({{many, large}, {few, large}}));
  EXPECT_NEAR(width({{few, large}, {many, large}}) / width({{many, large}, {many, large}}), std::sqrt(2.5), 0.02)
      << "two rounds instead of five";
}

TEST(ComparedRounds, ClocksOfDifferentGpusAreNotNormalized) {
  const std::vector<double> hz{1.70e9, 1.75e9, 1.80e9, 1.85e9, 1.90e9};
  std::vector<std::pair<int, double>> times;
  for (int k = 0; k < 5; ++k) times.emplace_back(k, 1e14 / hz[static_cast<std::size_t>(k)]);
  for (const bool same : {true, false}) {
    fixtures::Points points;
    points.add({rounds_point(fa1_spec(), times, hz)}, run_on_device("GPU-1"))
        .add({rounds_point(fa1_spec(), times, hz)}, run_on_device(same ? "GPU-1" : "GPU-2"));
    EXPECT_EQ(compare_rows(points.table(), {0}, {1}).pairs.at(0).verdict.one_clock, same);
  }
}

TEST(ComparedRounds, SimulationsOfOnePointAreExactIfEqual) {
  const auto result = [](double ns) {
    return compare_rows({of_provenance(sampled_point(fa1_spec(), {1000}), Provenance::simulated),
                         of_provenance(sampled_point(fa1_spec(), {ns}), Provenance::simulated)});
  };
  EXPECT_EQ(result(1000).pairs.at(0).verdict.floor, SpreadFloor::none);
  EXPECT_EQ(result(1000).margin, default_margin_paired);
  EXPECT_EQ(result(1100).pairs.at(0).verdict.floor, SpreadFloor::model_error_floor);
  const ComparisonResult against = compare_rows(
      {sampled_point(fa1_spec(), {1000}), of_provenance(sampled_point(fa1_spec(), {9000}), Provenance::simulated)});
  EXPECT_EQ(against.margin, default_margin_paired) << "the model's error is the spread";
  EXPECT_EQ(against.error_gpus.size(), 1U);
  EXPECT_EQ(compare_rows({sampled_point(fa1_spec(), {1000}), sampled_point(fa1_spec(), {1100})}).margin,
            default_margin_unpaired);
  fixtures::Points one_run;
  one_run.add(
      {rounds_point(fa1_spec(), {{0, 100}, {1, 100}, {2, 100}}),
       of_provenance(rounds_point(fixtures::spec("fa2", 512), {{0, 100}, {1, 100}, {2, 100}}), Provenance::simulated)});
  EXPECT_FALSE(compare_rows(one_run.table(), {0}, {1}).pairs.at(0).paired);
}

TEST(ComparedRounds, RunsOfOtherProgramsAreNotRepeats) {
  fixtures::Points points;
  analysis::Run other = fixtures::run();
  other.program = "2.0";
  points.add({sampled_point(fa1_spec(), {100})})
      .add({sampled_point(fa1_spec(), {100})})
      .add({sampled_point(fa1_spec(), {100})}, other);
  const PointTable table = points.table();
  EXPECT_EQ(compare_rows(table, {0}, {1}).pairs.size(), 1U);
  EXPECT_EQ(compare_rows(table, {0}, {1, 2}).left_out.at(0).why, SkipReason::several);
}

TEST(SkippedRows, FailuresAreGroupedByReason) {
  const auto failed = [](Disposition disposition, const char* reason) {
    return fixtures::failed_point(fa1_spec(), disposition, Message::verbatim(reason));
  };
  const PointRecord a = failed(Disposition::crashed, "a");
  const PointRecord b = failed(Disposition::crashed, "b");
  const ComparisonResult one_side = compare_rows({sampled_point(fa1_spec(), {100}), a, b, a});
  ASSERT_EQ(one_side.left_out.size(), 2U);
  EXPECT_THAT(one_side.left_out[0].rows, ElementsAre(1, 3));
  EXPECT_EQ(one_side.left_out[0].why, SkipReason::failed);
  const ComparisonResult both = compare_rows({a, a, b});
  ASSERT_EQ(both.left_out.size(), 3U);
  EXPECT_EQ(both.left_out[0].why, SkipReason::failed_on_both_sides);
  EXPECT_TRUE(both.left_out[0].alike && both.left_out[1].alike);
  EXPECT_FALSE(both.left_out[2].alike) << "for another reason";
  EXPECT_FALSE(both.left_out[1].is_listed());
}

TEST(Regressions, LargestFirst) {
  fixtures::Points points;
  points
      .add({sampled_point(fa1_spec(512), {100}), sampled_point(fa1_spec(1024), {100}),
            sampled_point(fa1_spec(2048), {100})})
      .add({sampled_point(fa1_spec(512), {120}), sampled_point(fa1_spec(1024), {150}),
            sampled_point(fa1_spec(2048), {130})});
  const ComparisonResult result = compare_rows(points.table(), {0, 1, 2}, {3, 4, 5});
  std::vector<double> ratios;
  for (const ComparedPair* pair : regressions(result, 0.1))
    ratios.push_back(std::round(100 * pair->verdict.time.ratio));
  EXPECT_THAT(ratios, ElementsAre(150, 130, 120));
  EXPECT_FALSE((ComparedLevel{.base = 0, .other = 5}).ratio());
  EXPECT_FALSE((ComparedLevel{.base = 5, .other = std::nullopt}).ratio());
}

TEST(Differences, CountEachPairAndSide) {
  fixtures::Points points;
  const auto throttled = [](std::int64_t n) {
    PointRecord record = sampled_point(fa1_spec(n), {100}, 1.98e9);
    record.clocks->throttled = true;
    return record;
  };
  points
      .add({sampled_point(fa1_spec(512), {100}, 1.98e9), sampled_point(fa1_spec(1024), {100}, 1.98e9)},
           run_on_device("GPU-1"))
      .add({sampled_point(fa1_spec(512), {100}, 1.98e9), throttled(1024)}, run_on_device("GPU-1"))
      .add({throttled(512), throttled(1024)}, run_on_device("GPU-2"));
  const ComparisonResult result = compare_rows(points.table(), {0, 1, 2, 3}, {4, 5});
  ASSERT_EQ(result.pairs.size(), 2U);
  ASSERT_EQ(result.differences.size(), 2U);
  EXPECT_EQ(display_text(result.differences[0].base), "H200 (1)");
  EXPECT_EQ(display_text(result.differences[0].other), "H200 (2)");
  EXPECT_EQ(display_text(result.differences[1].base), "1/2");
  EXPECT_EQ(display_text(result.differences[1].other), "2/2");
}

TEST(Differences, BeginWithProvenance) {
  PointRecord simulated =
      of_provenance(sampled_point(fixtures::spec("fa2", 512, 64, 96), {100}), Provenance::simulated);
  fixtures::Points points;
  points.add({sampled_point(fixtures::spec("fa2", 512, 64, 64), {100})}).add({simulated});
  const ComparisonResult result = compare_rows(points.table(), RowList{0}, RowList{1}, {"problem"});
  ASSERT_GE(result.differences.size(), 2U);
  EXPECT_EQ(result.differences.front().key, "provenance");
}

TEST(Differences, ListUpToThreeValues) {
  for (const std::size_t count : {2U, 3U, 4U}) {
    fixtures::Points points;
    std::vector<PointRecord> sides[2];
    RowList rows[2];
    for (std::size_t i = 0; i < count; ++i) {
      const auto n = static_cast<std::int64_t>(512 * (i + 1));
      sides[0].push_back(sampled_point(fixtures::spec("fa2", n, 64, 64), {100}));
      sides[1].push_back(sampled_point(fixtures::spec("fa2", n, 64, 16 * static_cast<int>(i + 5)), {100}));
      rows[0].push_back(static_cast<Row>(i));
      rows[1].push_back(static_cast<Row>(count + i));
    }
    points.add(sides[0]).add(sides[1]);
    const ComparisonResult result = compare_rows(points.table(), rows[0], rows[1], {"problem"});
    ASSERT_EQ(result.differences.size(), 1U);
    EXPECT_EQ(result.differences[0].rows, count);
    EXPECT_EQ(result.differences[0].other.size(), count <= 3 ? count : 0);
    EXPECT_EQ(result.differences[0].base.empty(), count > 3);
  }
}

TEST(Differences, NameTheDigestThatDiffersAndTheMedianClock) {
  const auto record = [](const char* digests, double hz) {
    PointRecord made = sampled_point(fa1_spec(), {100}, hz);
    made.kernels[0].launch.emplace().digest = digests;
    return made;
  };
  const auto differences = [&](const std::vector<PointRecord>& records, std::size_t of_base) {
    std::vector<std::string> all;
    for (const Difference& each : compare_rows(records, of_base).differences) {
      all.push_back(display_text(each.base) + "|" + display_text(each.other));
    }
    return all;
  };
  EXPECT_THAT(differences({record("aaaa bbbb cccc", 2e9), record("aaaa bbbb ccdd", 2e9)}, 1), ElementsAre("cccc|ccdd"));
  EXPECT_THAT(differences({record("a", 2e9), record("a", 1e9), record("a", 2e9), record("a", 2e9)}, 3), ElementsAre())
      << "one of three recordings was slow";
  EXPECT_THAT(differences({record("a", 2e9), record("a", 1.97e9)}, 1), ElementsAre("2000 MHz|1970 MHz"));
  EXPECT_THAT(differences({record("a", 1.97e9), record("a", 2e9)}, 1), ElementsAre("1970 MHz|2000 MHz"));
}

TEST(Alignment, KeysOfBothSides) {
  PointSpec split = fa1_spec();
  split.knobs.set("splits", std::int64_t{2});
  PointSpec unknown = fa1_spec();
  unknown.cache = CacheState::unknown;
  fixtures::Points points;
  analysis::Run h100 = run_on_device("GPU-2");
  h100.device_name = "NVIDIA H100";
  points.add({sampled_point(fa1_spec(), {100}), sampled_point(split, {100}), sampled_point(unknown, {100})})
      .add({sampled_point(fa1_spec(), {100})}, h100);
  const PointTable table = points.table();
  const auto alignment = [&](const Words& words, const RowList& base, const RowList& other,
                             std::optional<ComparedTiles> tiles = {}) {
    return parse_alignment(words, table, base, other, tiles).value();
  };
  for (const auto& [base, other] : {std::pair(0U, 1U), {1U, 0U}}) {
    EXPECT_THAT(alignment({"problem", "splits"}, {base}, {other}).knobs, ElementsAre("splits"));
  }
  EXPECT_TRUE(alignment({}, {0}, {1}, ComparedTiles::equal).all_knobs) << "as asked, although none is shared";
  for (const char* named : {"knobs", "splits", "br"}) {
    EXPECT_EQ(alignment({"problem", named}, {1}, {3}).tiles, ComparedTiles::any) << named;
  }
  EXPECT_EQ(alignment({"problem"}, {1}, {3}).tiles, ComparedTiles::best);
  for (const auto& [word, whole] : {std::pair("algorithm", true), {"tile", true}, {"dtype", false}, {"n", false}}) {
    EXPECT_EQ(std::ranges::count(alignment({word}, {0}, {0}).fields, "heads_q") > 0, whole) << word;
  }
  // An L2 state that exactly one side does not state matches any.
  EXPECT_THAT(alignment({}, {0}, {1}).fields, Contains("cache"));
  EXPECT_THAT(alignment({}, {2}, {0}).fields, Not(Contains("cache")));
  EXPECT_THAT(alignment({}, {2}, {2}).fields, Contains("cache"));
  EXPECT_THAT(alignment({}, {2, 0}, {1}).fields, Contains("cache")) << "some rows state it";
  EXPECT_TRUE(infer_alignment(table, RowList{0}, RowList{1}).device);
  EXPECT_FALSE(infer_alignment(table, RowList{0}, RowList{3}).device);
}

TEST(ComparedValues, BoundsAreScaledWithTheValue) {
  PointSpec spec = fixtures::spec("fa2", 1024);
  PointRecord measured = rounds_point(spec, {{0, 1e5}, {1, 3e5}});
  PointRecord counted = sampled_point(spec, {1e5});
  counted.kernels[0].metrics = {{std::string(metric_key::l2_to_sm_bytes), 2e6, "byte", Provenance::measured},
                                {std::string(metric_key::dram_read_bytes), 4e6, "byte", Provenance::measured}};
  PointRecord simulated = of_provenance(counted, Provenance::simulated);
  for (MetricValue& value : simulated.kernels[0].metrics) value.provenance = Provenance::simulated;
  PointRecord zero = counted;
  zero.kernels[0].metrics[0].value = 0;
  const PointTable table = fixtures::Points({measured, counted, simulated, zero}).table();
  const std::string time(metric_key::time_median_ns);
  const ComparedValue own = ComparedValues(table, {.metric = time}).at(0).value();
  EXPECT_EQ(own.value, 2e5);
  EXPECT_EQ(own.low, 1.5e5);
  EXPECT_EQ(own.high, 2.5e5);
  const ComparedValue over = ComparedValues(table, {.metric = time, .as = Comparison::over_model}).at(0).value();
  EXPECT_DOUBLE_EQ(over.low / over.value, 0.75);
  EXPECT_DOUBLE_EQ(over.high / over.value, 1.25);
  EXPECT_DOUBLE_EQ(over.value * over.over.value(), 2e5);
  ComparedValues bytes(table, {.metric = std::string(metric_key::dram_read_bytes)});
  EXPECT_DOUBLE_EQ(bytes.at(1)->high - bytes.at(1)->low, 0.01 * 4e6) << "counts differ by up to 1%";
  EXPECT_DOUBLE_EQ(bytes.at(1)->value - bytes.at(1)->low, 0.005 * 4e6);
  EXPECT_EQ(bytes.at(2)->low, bytes.at(2)->high) << "simulated bytes do not vary";
  ComparedValues ratio(table, {.metric = std::string(metric_key::l2_to_sm_bytes), .as = Comparison::over_model});
  EXPECT_EQ(ratio.at(1)->provenance, Provenance::derived);
  EXPECT_EQ(ratio.at(2)->provenance, Provenance::simulated);
  EXPECT_FALSE(ratio.at(3)) << "no ratio of 0";
}

}  // namespace
}  // namespace attnscope::analysis

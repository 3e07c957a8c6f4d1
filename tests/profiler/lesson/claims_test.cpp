// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/claims.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <tuple>

#include "profiler/lesson/claim_tests.h"
#include "profiler/lesson/texts.h"
#include "tests/kernels/modified_algorithm.h"
#include "tests/profiler/lesson/claim_cards.h"

namespace attnscope::analysis::lesson {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Adds naive and FA2 with this ratio of their times.
void add_ratio(std::vector<PointRecord>& records, std::int64_t n, double ratio, std::int64_t d = 128) {
  for (const char* algorithm : {"naive", "fa2"}) {
    PointRecord& record = records.emplace_back(fixtures::ok_point(fixtures::spec(algorithm, n, 128, 64, d)));
    for (KernelRecord& kernel : record.kernels) {
      kernel.samples_ns.assign(3, record.spec.algorithm == "naive" ? 1e6 * ratio : 1e6);
      std::erase_if(kernel.metrics, [](const MetricValue& m) { return m.name == metric_key::time_median_ns; });
    }
  }
}

TEST(Claims, TestPoints) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = make_evidence(table);
  const auto outcome = [&](std::initializer_list<std::pair<std::string, std::string>> entries) {
    return judge(card(entries), evidence).outcome;
  };
  const std::pair<std::string, std::string> bytes{"metric", "l2_sm_bytes"};
  EXPECT_EQ(outcome({{"test", "doubled"}, bytes, {"points", "algo:fa2 N>=4096"}, {"states", "4"}}), Outcome::held);
  EXPECT_EQ(outcome({{"test", "doubled"}, bytes, {"points", "algo:fa2 N>=4096"}, {"states", "2"}}), Outcome::refuted);
  EXPECT_EQ(outcome({{"test", "doubled"}, bytes, {"points", "algo:fa2 N:1"}, {"states", "2"}}), Outcome::not_testable);
  const Verdict verdict = judge(card({{"test", "doubled"}, bytes, {"points", "algo:fa2"}, {"states", "4"}}), evidence);
  EXPECT_FALSE(verdict.points.empty());
  EXPECT_EQ(verdict.figures.front().label, "claimed");
  EXPECT_EQ(judge(card({{"test", "ceiling"}, {"ceiling", "dram_read"}, {"over", "l2_read"}, {"states", "1"}}), evidence)
                .explanation,
            "no_ceilings");
}

TEST(Claims, JudgesEachCase) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = make_evidence(table);
  // FA2 bytes at 2N over N: one ratio per pair; the bounds include the smallest but not the largest.
  const auto of = [&](const std::string& low, const std::string& high) {
    return judge(card({{"test", "doubled"},
                       {"metric", "l2_sm_bytes"},
                       {"points", "algo:naive,fa2"},
                       {"low", low},
                       {"high", high}}),
                 evidence);
  };
  const Verdict all = of("1", "100");
  ASSERT_EQ(all.outcome, Outcome::held);
  const auto cases = std::ranges::find(all.figures, "cases_inside", &ClaimFigure::label);
  ASSERT_NE(cases, all.figures.end());
  std::vector<double> each;
  for (const ClaimFigure& figure : all.figures) {
    if (figure.label == "each") each.push_back(figure.value);
  }
  ASSERT_GE(each.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(each));
  ASSERT_LT(each.front() * 1.000001, each.back());
  const double between = (each.front() + each.back()) / 2;
  const Verdict some = of("1", fmt::to_string(between));
  EXPECT_EQ(some.outcome, Outcome::partly);
  const auto inside = std::ranges::find(some.figures, "cases_inside", &ClaimFigure::label);
  ASSERT_NE(inside, some.figures.end());
  EXPECT_GE(inside->value, 1);
  EXPECT_LT(inside->value, cases->value);
  EXPECT_EQ(of("1", fmt::to_string(each.front() / 2)).outcome, Outcome::refuted);
}

Verdict judged(const ClaimedRange& claimed, const std::vector<double>& values) {
  std::vector<ClaimFigure> found;
  for (const double value : values) found.push_back({"each", value, Unit::ratio, Provenance::measured});
  return judge_cases(claimed, found, Unit::ratio, {});
}

std::vector<double> values_of(const Verdict& verdict, std::string_view label) {
  std::vector<double> values;
  for (const ClaimFigure& figure : verdict.figures) {
    if (figure.label == label) values.push_back(figure.value);
  }
  return values;
}

TEST(Claims, BoundsAreInclusive) {
  const ClaimedRange range{.low = 2, .high = 4};
  EXPECT_EQ(judged(range, {2, 4}).outcome, Outcome::held);
  EXPECT_EQ(judged(range, {1.999, 4.001}).outcome, Outcome::refuted);
  EXPECT_EQ(judged(range, {1.999, 2}).outcome, Outcome::partly);
  ClaimedRange open = range;
  open.open_conditions = "heads";
  EXPECT_EQ(judged(open, {1, 5}).outcome, Outcome::not_testable);
  EXPECT_EQ(judged(open, {1, 1.5}).outcome, Outcome::refuted) << "all below";
  EXPECT_EQ(judged(open, {5, 6}).outcome, Outcome::refuted) << "all above";
  EXPECT_EQ(judged(open, {1, 3, 5}).outcome, Outcome::partly);
  const Verdict stated = judged({.low = 1.5, .high = 2.5, .stated = 2, .tolerance = 0.25}, {2});
  EXPECT_THAT(values_of(stated, "claimed"), ElementsAre(2));
  EXPECT_THAT(values_of(stated, "tolerance"), ElementsAre(25));
  EXPECT_THAT(values_of(judged(range, {2}), "asked_low"), ElementsAre(2));
  EXPECT_THAT(values_of(judged(range, {2}), "asked_high"), ElementsAre(4));
}

TEST(Claims, ShowTheMedianAndTwelveCases) {
  const ClaimedRange any;
  EXPECT_THAT(values_of(judged(any, {7}), "found"), ElementsAre(7));
  EXPECT_THAT(values_of(judged(any, {7}), "median"), IsEmpty());
  EXPECT_THAT(values_of(judged(any, {3, 1, 2}), "median"), ElementsAre(2));
  EXPECT_THAT(values_of(judged(any, {8, 1, 2, 4}), "median"), ElementsAre(3));
  EXPECT_THAT(values_of(judged(any, {8, 1}), "each"), ElementsAre(1, 8));
  std::vector<double> twelve(12);
  std::ranges::generate(twelve, [value = 12.0]() mutable { return value--; });
  EXPECT_THAT(values_of(judged(any, twelve), "each"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  std::vector<double> many(25);
  std::ranges::generate(many, [value = 0.0]() mutable { return value++; });
  EXPECT_THAT(values_of(judged(any, many), "each"), ElementsAre(0, 2, 4, 6, 8, 10, 13, 15, 17, 19, 21, 24));
  // The provenance of a summary is the weakest one.
  for (const auto& [first, second] : {std::pair(Provenance::measured, Provenance::simulated),
                                      std::pair(Provenance::simulated, Provenance::measured)}) {
    const Verdict mixed =
        judge_cases(any, {{"each", 1, Unit::ratio, first}, {"each", 2, Unit::ratio, second}}, Unit::ratio, {});
    EXPECT_EQ(mixed.figures.front().provenance, Provenance::simulated);
    EXPECT_EQ(mixed.figures.front().of, "/ 2");
  }
}

TEST(Claims, FiguresHaveUnits) {
  const std::tuple<double, Unit, const char*> cases[] = {
      {99.994, Unit::ratio, "99.99 ×"},     {100, Unit::ratio, "100 ×"},     {-100, Unit::ratio, "-100 ×"},
      {INFINITY, Unit::length, "∞"},        {-INFINITY, Unit::length, "−"},  {1448.2, Unit::length, "N 1448"},
      {1.5, Unit::tflops, "1.50 TFLOP/s"},  {2048, Unit::bytes, "2 KiB"},    {2e9, Unit::bytes_per_second, "2 GB/s"},
      {1500, Unit::nanoseconds, "1.50 µs"}, {2e9, Unit::flops, "2 GFLOP/s"}, {12.5, Unit::percent, "12.5%"}};
  for (const auto& [value, unit, text] : cases) EXPECT_EQ(format_figure(value, unit), text);
}

TEST(Claims, NamesShowWhatDiffers) {
  PointSpec spec = fixtures::decode_spec("fa2", 4096);
  const std::string tile = fmt::format(" {}x{}", spec.tile.br, spec.tile.bc);
  ASSERT_NE(spec.tile.br, spec.tile.bc);
  const auto named = [&] {
    const PointTable table = fixtures::Points({fixtures::ok_point(spec)}).table();
    return name_of(table, table.rows().front());
  };
  EXPECT_EQ(named(), "FA2 n_q 1 n_k 4096 d 128 heads 16" + tile);
  spec.problem.n_q = 4096;
  spec.problem.heads_kv = 4;
  EXPECT_EQ(named(), "FA2 N 4096 d 128 heads 16" + tile);
  spec.problem.batch = 2;
  EXPECT_EQ(named(), "FA2 N 4096 d 128 batch 2 heads 16" + tile);
}

TEST(Claims, ProblemKeysSetBothSides) {
  const Claim claim = card({{"test", "operations"},
                            {"from", "naive"},
                            {"to", "fa2"},
                            {"n", "2048"},
                            {"d", "128"},
                            {"heads", "4"},
                            {"batch", "3"},
                            {"low", "0"},
                            {"high", "0"}});
  EXPECT_EQ(claim.problem,
            (AttentionProblem{.batch = 3, .heads_q = 4, .heads_kv = 4, .n_q = 2048, .n_k = 2048, .d = 128}));
  const PointTable none;
  EXPECT_THAT(judge(claim, make_evidence(none)).of.own, ElementsAre("Naive", "FA2"));
  for (const char* key : {"from", "to"}) {
    EXPECT_THROW((void)card({{"test", "operations"},
                             {"from", key == std::string_view("from") ? "imported:x" : "fa2"},
                             {"to", key == std::string_view("to") ? "imported:x" : "fa2"},
                             {"n", "2048"},
                             {"d", "128"},
                             {"low", "0"}}),
                 std::invalid_argument);
  }
  Registry known;
  known.add(std::make_unique<test::ModifiedAlgorithm>(*built_in_algorithms().find("naive"), "naive", true));
  known.add(std::make_unique<test::ModifiedAlgorithm>(*built_in_algorithms().find("fa2"), "fa2", false));
  const Verdict unknown = judge(claim, {.points = none, .rows = {}, .gpu = fixtures::h200(), .registry = known});
  EXPECT_EQ(unknown.explanation, "no_flops");
  EXPECT_EQ(unknown.detail, "naive");
  const auto softmax = [](const char* key, const char* value) {
    return card({{"test", "softmax-error"}, {"fault", "none"}, {"states", "1"}, {key, value}}).claimed;
  };
  EXPECT_EQ(softmax("tolerance", "0").low, 1);
  EXPECT_EQ(softmax("tolerance", "0").high, 1);
  EXPECT_THROW((void)softmax("tolerance", "-0.01"), std::invalid_argument);
}

// Theorem 2: SM<->L2 bytes grow as N² d² / M.
TEST(Claims, JudgesEveryExponentOfTheLaw) {
  std::vector<PointRecord> records;
  for (const char* algorithm : {"fa1", "fa2"}) {
    for (const std::int64_t n : {2048, 4096, 8192}) {
      for (const auto& [d, side] : {std::pair(64, 64), std::pair(64, 128), std::pair(128, 64), std::pair(128, 128)}) {
        const int other = std::min(side, d);                     // the paper's rule
        const bool keys = algorithm == std::string_view("fa1");  // the tile side that divides the traffic
        records.push_back(
            fixtures::ok_point(fixtures::spec(algorithm, n, keys ? other : side, keys ? side : other, d)));
      }
    }
  }
  const PointTable table = fixtures::Points(records).table();
  for (const auto& [of, exponent] : {std::pair("N", "2"), std::pair("d", "2"), std::pair("M", "-1")}) {
    const Verdict verdict = judge(card({{"test", "exponent"},
                                        {"of", of},
                                        {"level", "sm-l2"},
                                        {"points", "N>=1"},
                                        {"states", exponent},
                                        {"tolerance", "0.2"}}),
                                  make_evidence(table));
    EXPECT_EQ(verdict.outcome, Outcome::held) << of << ' ' << verdict.explanation;
    EXPECT_EQ(values_of(verdict, "each").size(), 2U) << "one per algorithm";
    EXPECT_EQ(verdict.points.size(), records.size());
    EXPECT_THAT(verdict.of.own, ::testing::UnorderedElementsAre("FA1", "FA2"));
    EXPECT_EQ(verdict.of.level, "sm-l2");
  }
}

TEST(Claims, OpenConditionsPreventRefutation) {
  // Time ratios naive / FA2 at two problems: 1.2 and 3.
  std::vector<PointRecord> records;
  add_ratio(records, 1024, 1.2);
  add_ratio(records, 2048, 3);
  const PointTable table = fixtures::Points(records).table();
  for (const auto& [states, leaves, outcome, explanation] :
       {std::tuple{"2", "batch heads", Outcome::not_testable, "bracketed"}, std::tuple{"2", "", Outcome::refuted, ""},
        std::tuple{"5", "batch heads", Outcome::refuted, ""}, std::tuple{"3", "batch heads", Outcome::partly, ""}}) {
    const Verdict verdict = judge(card({{"test", "versus"},
                                        {"from", "naive"},
                                        {"to", "fa2"},
                                        {"metric", "time_median_ns"},
                                        {"points", "N>=1"},
                                        {"states", states},
                                        {"source_leaves", leaves}}),
                                  make_evidence(table));
    EXPECT_EQ(verdict.outcome, outcome) << states;
    EXPECT_EQ(verdict.explanation, explanation) << states;
    EXPECT_EQ(verdict.detail, *explanation != 0 ? "batch, heads" : "") << states;
  }
  // For a growth law, cases on both sides do refute: naive's time grows by 2.5 from N to 2N, FA2's not at all.
  EXPECT_EQ(judge(card({{"test", "doubled"}, {"metric", "time_median_ns"}, {"points", "N>=1"}, {"states", "2"}}),
                  make_evidence(table))
                .outcome,
            Outcome::refuted);
}

/// Points of one GPU, optionally with an A100's and another program's times.
PointTable mixed_points(bool with_a100, bool with_peers) {
  fixtures::Points points(fixtures::memory_wall());
  if (with_a100) {
    analysis::Run a100 = fixtures::run(Provenance::measured, "a100");
    a100.device_id = "GPU-A100";
    a100.device_name = "NVIDIA A100-SXM4-80GB";  // the driver's name
    points.add(fixtures::memory_wall(), a100);
  }
  if (with_peers) points.add(fixtures::peers());
  return points.table();
}

TEST(Claims, DescribeTheirData) {
  const PointTable table = mixed_points(true, true);
  const auto of = [&](const char* metric, const char* points) {
    return judge(card({{"test", "metric"}, {"metric", metric}, {"points", points}, {"low", "0"}}), make_evidence(table))
        .of;
  };
  const DataSummary all = of("tflops", "N>=1");
  EXPECT_THAT(all.gpus, ElementsAre("NVIDIA H200", "NVIDIA A100-SXM4-80GB"));
  EXPECT_THAT(all.own, ::testing::UnorderedElementsAre("Naive", "FA1", "FA2"));
  EXPECT_THAT(all.others, ::testing::UnorderedElementsAre("torch-flash", "torch-cudnn"));
  EXPECT_EQ(all.level, "");
  EXPECT_THAT(of("tflops", "device:A100-SXM4-80GB").gpus, ElementsAre("NVIDIA A100-SXM4-80GB"));
  EXPECT_EQ(of("l2_sm_bytes", "algo:fa2").level, "sm-l2");
  EXPECT_EQ(of("dram_settled_bytes", "algo:fa2").level, "dram");
  // Points exported and imported again count as this program's.
  fixtures::Points again;
  again.add(fixtures::memory_wall(), fixtures::run(Provenance::imported, "again"));
  const PointTable imported = again.table();
  const Claim claim = card({{"test", "metric"}, {"metric", "tflops"}, {"points", "N>=1"}, {"low", "0"}});
  EXPECT_THAT(judge(claim, make_evidence(imported)).of.others, IsEmpty());
}

TEST(Claims, AcceptImportedSeries) {
  const PointTable table = mixed_points(false, true);
  const auto judged = [&](const char* from, const char* to) {
    return judge(card({{"test", "versus"},
                       {"from", from},
                       {"to", to},
                       {"metric", "time_median_ns"},
                       {"points", "N>=1"},
                       {"low", "0"}}),
                 make_evidence(table));
  };
  const Verdict verdict = judged("imported:torch-cudnn", "imported:torch-flash");
  EXPECT_EQ(verdict.outcome, Outcome::held) << verdict.explanation;
  EXPECT_THAT(verdict.of.others, ::testing::UnorderedElementsAre("torch-flash", "torch-cudnn"));
  EXPECT_EQ(judged("fa1", "fa2").outcome, Outcome::held);
  EXPECT_EQ(judged("imported:nobody", "fa2").explanation, "no_pairs");
}

TEST(Claims, ComparesWithRidge) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  Evidence evidence = make_evidence(table);
  const auto outcome = [&](double flops) {
    evidence.ceilings = {{.name = "wgmma_fp16", .value = 1e15, .unit = "flop/s", .source = CeilingSource::measured},
                         {.name = "mma_fp16", .value = flops, .unit = "flop/s", .source = CeilingSource::measured},
                         {.name = "dram_read", .value = 1e12, .unit = "byte/s", .source = CeilingSource::measured}};
    const Verdict verdict =
        judge(card({{"test", "over-ridge"}, {"ceiling", "mma_fp16"}, {"points", "algo:fa2 N:4096"}, {"high", "1"}}),
              evidence);
    EXPECT_DOUBLE_EQ(verdict.figures.back().value, flops / 1e12);
    EXPECT_EQ(verdict.figures.back().of, "NVIDIA H200, mma_fp16");
    EXPECT_EQ(verdict.of.level, "dram");
    return verdict.outcome;
  };
  EXPECT_EQ(outcome(1e12), Outcome::refuted);  // 1 FLOP per byte: everything is above the ridge
  EXPECT_EQ(outcome(1e18), Outcome::held);
  evidence.ceilings.clear();  // the Hopper datasheet has no mma.sync rate
  EXPECT_EQ(judge(card({{"test", "over-ridge"}, {"ceiling", "mma_fp16"}, {"points", "algo:fa2 N:4096"}, {"high", "1"}}),
                  evidence)
                .explanation,
            "no_ceilings");
}

TEST(Claims, SeparateCasesPerGpu) {
  const auto cases = [](const char* second) {
    PointTableBuilder builder;
    for (const char* device : {"GPU-1", second}) {
      analysis::Run run;
      run.device_id = device;
      run.device_name = "NVIDIA H200";
      run.limits = fixtures::h200();
      const RunIndex index = builder.add_run(run);
      for (const PointRecord& record : fixtures::memory_wall()) builder.add(index, record);
    }
    const PointTable table = std::move(builder).finish();
    const Verdict verdict =
        judge(card({{"test", "metric"}, {"metric", "tflops"}, {"points", "N>=1"}, {"low", "0"}}), make_evidence(table));
    const auto inside = std::ranges::find(verdict.figures, "cases_inside", &ClaimFigure::label);
    return inside == verdict.figures.end() ? 0 : inside->value;
  };
  const double one = cases("GPU-1");
  ASSERT_GT(one, 1);
  EXPECT_EQ(cases("GPU-2"), 2 * one);
}

TEST(Claims, EveryCrossoverCounts) {
  std::vector<PointRecord> records;
  add_ratio(records, 512, 2, 32);  // two lengths only
  add_ratio(records, 1024, 2, 32);
  for (const std::int64_t d : {64, 128}) {
    for (const std::int64_t n : {512, 1024, 2048}) add_ratio(records, n, 2, d);
  }
  const PointTable table = fixtures::Points(records).table();
  const auto at = [&](const char* low, const char* high) {
    return judge(card({{"test", "crossover"},
                       {"from", "naive"},
                       {"to", "fa2"},
                       {"points", "N>=1"},
                       {"low", low},
                       {"high", high}}),
                 make_evidence(table));
  };
  const Verdict verdict = at("", "512");  // ahead at the first length, which is the bound
  EXPECT_EQ(verdict.outcome, Outcome::held);
  EXPECT_THAT(values_of(verdict, "each_at_most"), ElementsAre(512, 512));
  EXPECT_EQ(verdict.points.size(), 12U);
  std::vector<std::string> groups;
  for (const ClaimFigure& figure : verdict.figures) {
    if (figure.label == "each_at_most") groups.push_back(figure.of);
  }
  EXPECT_THAT(groups, ::testing::UnorderedElementsAre("d 64 BH 132", "d 128 BH 132"));
  EXPECT_EQ(at("", "511").outcome, Outcome::not_testable) << "may be at 511 or below";
  EXPECT_EQ(at("512", "4096").outcome, Outcome::not_testable) << "may be at 512 exactly";
  EXPECT_EQ(at("513", "4096").outcome, Outcome::refuted);
}

TEST(Claims, ImportedSeriesOfBothSidesAreImportedOnly) {
  fixtures::Points points;
  points.add(fixtures::peers());
  const auto figures = [&] {
    const PointTable table = points.table();
    return values_of(judge(card({{"test", "versus"},
                                 {"from", "imported:torch-cudnn"},
                                 {"to", "imported:torch-flash"},
                                 {"metric", "time_median_ns"},
                                 {"points", "N>=1"},
                                 {"low", "0"}}),
                           make_evidence(table)),
                     "each");
  };
  const std::vector<double> imported = figures();
  ASSERT_EQ(imported.size(), 7U);
  std::vector<PointRecord> measured = fixtures::peers();
  for (PointRecord& record : measured) record.provenance = Provenance::measured;
  points.add(measured, fixtures::run(Provenance::measured));
  EXPECT_EQ(figures(), imported);
}

TEST(Claims, TheFastestPointOfEachCaseCounts) {
  std::vector<PointRecord> records;
  for (const int bc : {32, 64, 128}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", 1024, 128, bc)));
  for (std::size_t i = 0; i < records.size(); ++i) {
    const double ns[] = {3e6, 1e6, 1e6};  // the last two are equal: the first of them counts
    records[i].kernels[0].samples_ns.assign(3, ns[i]);
  }
  const PointTable table = fixtures::Points(records).table();
  for (const auto& [metric, unit] : {std::pair("time_median_ns", Unit::nanoseconds), std::pair("tflops", Unit::tflops),
                                     std::pair("l2_sm_bytes", Unit::bytes), std::pair("registers", Unit::plain),
                                     std::pair("achieved_occupancy_pct", Unit::percent)}) {
    const Verdict verdict =
        judge(card({{"test", "metric"}, {"metric", metric}, {"points", "N>=1"}, {"low", "0"}}), make_evidence(table));
    EXPECT_THAT(verdict.points, ElementsAre(table.rows()[1])) << metric;
    EXPECT_EQ(verdict.figures.back().unit, unit) << metric;
  }
}

TEST(Claims, EachGpuHasItsRidge) {
  fixtures::Points points(fixtures::memory_wall());
  analysis::Run a100 = fixtures::run(Provenance::measured, "a100");
  a100.device_id = "GPU-A100";
  a100.limits = *find_gpu("a100");
  a100.device_name = a100.limits.name;
  points.add(fixtures::memory_wall(), a100);
  const PointTable table = points.table();
  Evidence evidence = make_evidence(table);
  const auto ridges = [&] {
    const Verdict verdict =
        judge(card({{"test", "over-ridge"}, {"ceiling", "mma_fp16"}, {"points", "algo:fa1,fa2 N:4096"}, {"low", "0"}}),
              evidence);
    return std::pair(values_of(verdict, "ridge").size(), verdict.points.size());
  };
  EXPECT_EQ(ridges(), std::pair(std::size_t{1}, std::size_t{2})) << "the Hopper datasheet has no mma.sync rate";
  evidence.ceilings = {{.name = "mma_fp16", .value = 6e14, .unit = "flop/s", .source = CeilingSource::measured},
                       {.name = "dram_read", .value = 4e12, .unit = "byte/s", .source = CeilingSource::measured}};
  EXPECT_EQ(ridges(), std::pair(std::size_t{2}, std::size_t{4}));
}

TEST(Claims, IgnoreDatasheetCeilings) {
  const PointTable none;
  Evidence evidence = make_evidence(none);
  evidence.ceilings = {{.name = "l2_read", .value = 8e12, .unit = "byte/s", .source = CeilingSource::measured},
                       {.name = "dram_read", .value = 4e12, .unit = "byte/s", .source = CeilingSource::datasheet}};
  const Claim claim = card({{"test", "ceiling"}, {"ceiling", "l2_read"}, {"over", "dram_read"}, {"states", "2"}});
  EXPECT_EQ(judge(claim, evidence).explanation, "no_ceilings");
  evidence.ceilings[1].source = CeilingSource::measured;
  EXPECT_EQ(judge(claim, evidence).outcome, Outcome::held);
}

TEST(Claims, JudgesCrossover) {
  // Time ratios naive / FA2 by N.
  using Ratios = std::vector<std::pair<std::int64_t, double>>;
  const Ratios crosses{{512, 0.5}, {1024, 0.5}, {2048, 2}};  // crosses at 1024 sqrt(2) = 1448
  const Ratios ahead{{512, 2}, {1024, 2}, {2048, 2}};
  const Ratios behind{{512, 0.5}, {1024, 0.5}, {2048, 0.5}};
  struct Case {
    Ratios ratios;
    const char* low;
    const char* high;
    Outcome outcome;
    double found = 0;
  };
  for (const Case& each : {Case{crosses, "1400", "1500", Outcome::held, 1024 * std::numbers::sqrt2},
                           Case{crosses, "1024", "1400", Outcome::refuted, 1024 * std::numbers::sqrt2},
                           Case{crosses, "1500", "4096", Outcome::refuted, 1024 * std::numbers::sqrt2},
                           // faster below the claimed range already
                           Case{ahead, "1024", "4096", Outcome::refuted, 512},
                           Case{ahead, "256", "4096", Outcome::not_testable},  // the crossover may be at 256 or above
                           Case{ahead, "", "4096", Outcome::held, 512},        // the crossover is at or below 512
                           Case{behind, "256", "4096", Outcome::refuted, std::numeric_limits<double>::infinity()},
                           Case{{{1024, 0.5}, {2048, 2}}, "1024", "2048", Outcome::not_testable}}) {
    std::vector<PointRecord> records;
    for (const auto& [n, ratio] : each.ratios) add_ratio(records, n, ratio);
    const PointTable table = fixtures::Points(records).table();
    const Claim claim = card({{"test", "crossover"},
                              {"from", "naive"},
                              {"to", "fa2"},
                              {"points", "N>=1"},
                              {"low", each.low},
                              {"high", each.high}});
    const Verdict verdict = judge(claim, make_evidence(table));
    EXPECT_EQ(verdict.outcome, each.outcome) << each.low << " to " << each.high << ' ' << verdict.explanation;
    if (each.outcome == Outcome::not_testable) {
      EXPECT_EQ(verdict.explanation, "no_pairs");
    } else {
      EXPECT_DOUBLE_EQ(verdict.figures.back().value, each.found);
    }
  }
}

TEST(Claims, BuiltInClaimsWithoutPoints) {
  const PointTable none;
  std::map<std::string, Outcome> outcomes;
  for (const Claim& each : load_lesson("en").claims) {
    const Verdict verdict = judge(each, make_evidence(none));
    EXPECT_NE(verdict.explanation, "broken_card") << each.id << ' ' << verdict.detail;
    outcomes[each.id] = verdict.outcome;
    const ClaimedRange& claimed = each.claimed;
    EXPECT_EQ(claimed.stated || std::isfinite(claimed.low) || std::isfinite(claimed.high), each.test->has_bounds);
  }
  EXPECT_EQ(outcomes["approximate"], Outcome::refuted);
  EXPECT_EQ(outcomes["saves-flops"], Outcome::refuted);  // 4 d FLOPs per pair in both
  EXPECT_EQ(outcomes["saved-n-times"], Outcome::held);   // 4 N bytes per row over 4
  EXPECT_EQ(outcomes["fa2-twice"], Outcome::not_testable);
  // Scores 0 to 7; the maximum rises in every block.
  const auto fault = [&](const char* name, const char* stated_by) {
    return judge(card({{"test", "softmax-error"}, {"fault", name}, {"low", "0.001"}, {"stated_by", stated_by}}),
                 make_evidence(none));
  };
  EXPECT_EQ(fault("forget-rescale", "ours").outcome, Outcome::held);
  EXPECT_EQ(origin(fault("none", "source").figures.front()), "stated");
  EXPECT_EQ(fault("none", "source").figures.front().label, "claimed_low");
  EXPECT_EQ(fault("none", "ours").figures.front().label, "asked_low");
}

}  // namespace
}  // namespace attnscope::analysis::lesson

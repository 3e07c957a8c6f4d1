// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/claims.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <tuple>

#include "profiler/lesson/texts.h"
#include "tests/kernels/modified_algorithm.h"
#include "tests/profiler/lesson/claim_cards.h"

namespace attnscope::analysis::lesson {
namespace {

using ::testing::ElementsAre;

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

/// Cases of one GPU per list.
Verdict judged(const Claim& claim, const std::vector<std::vector<double>>& gpus) {
  ClaimFindings findings;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (const double value : gpus[i]) findings.cases.push_back({.value = value, .gpu = fmt::format("GPU{}", i)});
  }
  return judge_cases(claim, findings);
}

std::vector<double> values_of(const Verdict& verdict) {
  std::vector<double> values;
  for (const GpuCases& group : verdict.found) {
    for (const ClaimCase& each : group.cases) values.push_back(each.value);
  }
  return values;
}

TEST(Claims, BoundsAreInclusive) {
  const Claim range{.claimed{.low = 2, .high = 4}};
  EXPECT_EQ(judged(range, {{2, 4}}).outcome, Outcome::held);
  EXPECT_EQ(judged(range, {{1.999, 4.001}}).outcome, Outcome::refuted);
  EXPECT_EQ(judged(range, {{1.999, 2}}).outcome, Outcome::partly);
  EXPECT_EQ(judged(range, {{2}, {1}}).outcome, Outcome::partly) << "all GPUs count";
  const Verdict verdict = judged(range, {{3, 9, 2}, {1, 2, 3, 8}});
  ASSERT_EQ(verdict.found.size(), 2U);
  EXPECT_EQ(verdict.found[0].median(), 3);
  EXPECT_EQ(verdict.found[0].inside, 2U);
  EXPECT_EQ(verdict.found[1].median(), 2.5);
  EXPECT_EQ(verdict.claimed.front().label, "asked_low");
  EXPECT_EQ(judged({}, {}).outcome, Outcome::not_testable);
}

TEST(Claims, ASourceWithoutGpuIsNotTestableIfGpusDisagree) {
  Claim claim{.claimed{.low = 18, .high = 22, .stated = 20, .tolerance = 0.1}};
  EXPECT_EQ(judged(claim, {{7, 7.1}, {10.5}}).explanation, "gpus_differ");
  EXPECT_EQ(judged(claim, {{7, 7.1}, {10.5}}).outcome, Outcome::not_testable);
  EXPECT_EQ(judged(claim, {{7, 7.1}, {7.3}}).outcome, Outcome::refuted) << "within the tolerance";
  EXPECT_EQ(judged(claim, {{7, 11}, {10.5}}).outcome, Outcome::refuted) << "within the cases of one GPU";
  EXPECT_EQ(judged(claim, {{7}}).outcome, Outcome::refuted) << "one GPU";
  claim.claimed = {.low = 18};
  EXPECT_EQ(judged(claim, {{7}, {30}}).outcome, Outcome::partly) << "our threshold for a general claim";
  claim.claimed.bounds_from_source = true;
  EXPECT_EQ(judged(claim, {{7}, {30}}).outcome, Outcome::not_testable);
  claim.gpu = "GPU1";
  EXPECT_EQ(judged(claim, {{7}, {30}}).outcome, Outcome::held) << "only cases of the source's GPU count";
  claim.gpu = "A100";
  EXPECT_EQ(judged(claim, {{7}, {30}}).explanation, "other_gpu");
  EXPECT_EQ(judged(claim, {{7}, {30}}).found.size(), 2U) << "shown, not judged";
}

TEST(Claims, TestPoints) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = evidence_of(table);
  const auto verdict = [&](const char* points, double states) {
    return judge(card({{"test", "doubled"}, {"metric", "l2_sm_bytes"}, {"points", points}, {"states", states}}),
                 evidence);
  };
  EXPECT_EQ(verdict("algo:fa2 N>=4096", 4).outcome, Outcome::held);
  EXPECT_EQ(verdict("algo:fa2 N>=4096", 2).outcome, Outcome::refuted);
  EXPECT_EQ(verdict("algo:fa2 N:1", 2).explanation, "no_pairs");
  EXPECT_FALSE(verdict("algo:fa2", 4).points().empty());
}

TEST(Claims, CeilingsOfEachDeviceAreCases) {
  const PointTable none;
  Evidence evidence = evidence_of(none);
  const auto device = [](double l2, CeilingSource source) {
    return DeviceCeilings{"H200",
                          {{.name = "l2_read", .value = l2, .unit = "byte/s", .source = CeilingSource::measured},
                           {.name = "dram_read", .value = 4e12, .unit = "byte/s", .source = source}}};
  };
  evidence.all_ceilings = {device(8e12, CeilingSource::datasheet)};
  const Claim claim = card({{"test", "ceiling"}, {"ceiling", "l2_read"}, {"over", "dram_read"}, {"states", 2}});
  EXPECT_EQ(judge(claim, evidence).explanation, "no_ceilings") << "datasheet";
  evidence.all_ceilings = {device(8e12, CeilingSource::measured), device(8.4e12, CeilingSource::measured)};
  EXPECT_EQ(judge(claim, evidence).outcome, Outcome::held);
  EXPECT_THAT(values_of(judge(claim, evidence)), ElementsAre(2, 2.1));
}

TEST(Claims, UnknownFlopsAreNotTestable) {
  const PointTable none;
  const Claim claim = card({{"test", "operations"}, {"from", "naive"}, {"to", "fa2"}, {"low", 0}});
  Registry known;
  known.add(std::make_unique<test::ModifiedAlgorithm>(*built_in_algorithms().find("naive"), "naive", true));
  known.add(std::make_unique<test::ModifiedAlgorithm>(*built_in_algorithms().find("fa2"), "fa2", false));
  const Verdict unknown = judge(claim, {.points = none, .rows = {}, .gpu = fixtures::h200(), .registry = known});
  EXPECT_EQ(unknown.explanation, "no_flops");
  EXPECT_EQ(unknown.detail, "naive");
}

TEST(Claims, FiguresHaveUnits) {
  const std::tuple<double, const char*, const char*> cases[] = {
      {99.994, "×", "99.99 ×"}, {100, "×", "100 ×"},     {INFINITY, "N", "∞"},       {-INFINITY, "N", "−"},
      {1448.2, "N", "N 1448"},  {1500, "ns", "1.50 µs"}, {12.5, "percent", "12.5%"}, {116224, "1", "116,224"}};
  for (const auto& [value, unit, text] : cases) EXPECT_EQ(figure_text(value, unit), text);
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
  for (const auto& [of, exponent] : {std::pair("N", 2), std::pair("d", 2), std::pair("M", -1)}) {
    const Verdict verdict = judge(card({{"test", "exponent"},
                                        {"of", of},
                                        {"level", "sm-l2"},
                                        {"points", "N>=1"},
                                        {"states", exponent},
                                        {"tolerance", 0.2}}),
                                  evidence_of(table));
    EXPECT_EQ(verdict.outcome, Outcome::held) << of << ' ' << verdict.explanation;
    EXPECT_EQ(values_of(verdict).size(), 2U) << "one per algorithm";
    EXPECT_EQ(verdict.points().size(), records.size());
  }
}

TEST(Claims, AcceptImportedSeries) {
  fixtures::Points points(fixtures::memory_wall());
  points.add(fixtures::peers());
  const PointTable table = points.table();
  const auto judged = [&](const char* from, const char* to) {
    return judge(card({{"test", "versus"},
                       {"from", from},
                       {"to", to},
                       {"metric", "time_median_ns"},
                       {"points", "N>=1"},
                       {"low", 0}}),
                 evidence_of(table));
  };
  const Verdict verdict = judged("imported:torch-cudnn", "imported:torch-flash");
  EXPECT_EQ(verdict.outcome, Outcome::held) << verdict.explanation;
  EXPECT_EQ(judged("fa1", "fa2").outcome, Outcome::held);
  EXPECT_EQ(judged("imported:nobody", "fa2").explanation, "no_pairs");
}

TEST(Claims, ComparesWithRidge) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  Evidence evidence = evidence_of(table);
  const auto outcome = [&](double flops) {
    evidence.ceilings = {{.name = "wgmma_fp16", .value = 1e15, .unit = "flop/s", .source = CeilingSource::measured},
                         {.name = "mma_fp16", .value = flops, .unit = "flop/s", .source = CeilingSource::measured},
                         {.name = "dram_read", .value = 1e12, .unit = "byte/s", .source = CeilingSource::measured}};
    const Verdict verdict = judge(
        card({{"test", "over-ridge"}, {"ceiling", "mma_fp16"}, {"points", "algo:fa2 N:4096"}, {"high", 1}}), evidence);
    EXPECT_DOUBLE_EQ(verdict.beside.back().value, flops / 1e12);
    EXPECT_EQ(verdict.beside.back().of, "NVIDIA H200, mma_fp16");
    return verdict.outcome;
  };
  EXPECT_EQ(outcome(1e12), Outcome::refuted);  // 1 FLOP per byte: everything is above the ridge
  EXPECT_EQ(outcome(1e18), Outcome::held);
  evidence.ceilings.clear();  // the Hopper datasheet has no mma.sync rate
  EXPECT_EQ(judge(card({{"test", "over-ridge"}, {"ceiling", "mma_fp16"}, {"points", "algo:fa2 N:4096"}, {"high", 1}}),
                  evidence)
                .explanation,
            "no_ceilings");
}

Claim crossover_card(std::optional<double> low, double high) {
  nlohmann::json members{{"test", "crossover"}, {"from", "naive"}, {"to", "fa2"}, {"points", "N>=1"}, {"high", high}};
  if (low) members["low"] = *low;
  return card(members);
}

TEST(Claims, EveryCrossoverCounts) {
  std::vector<PointRecord> records;
  add_ratio(records, 512, 2, 32);  // two lengths only
  add_ratio(records, 1024, 2, 32);
  for (const std::int64_t d : {64, 128}) {
    for (const std::int64_t n : {512, 1024, 2048}) add_ratio(records, n, 2, d);
  }
  const PointTable table = fixtures::Points(records).table();
  const auto at = [&](std::optional<double> low, double high) {
    return judge(crossover_card(low, high), evidence_of(table));
  };
  const Verdict verdict = at({}, 512);  // ahead at the first length, which is the bound
  EXPECT_EQ(verdict.outcome, Outcome::held);
  EXPECT_THAT(values_of(verdict), ElementsAre(512, 512));
  EXPECT_TRUE(verdict.found.front().cases.front().at_most);
  EXPECT_EQ(verdict.points().size(), 12U);
  EXPECT_EQ(at({}, 511).outcome, Outcome::not_testable) << "may be at 511 or below";
  EXPECT_EQ(at(512, 4096).outcome, Outcome::not_testable) << "may be at 512 exactly";
  EXPECT_EQ(at(513, 4096).outcome, Outcome::refuted);
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
                                 {"low", 0}}),
                           evidence_of(table)));
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
  for (const auto& [metric, unit] :
       {std::pair("time_median_ns", "ns"), std::pair("l2_sm_bytes", "byte"), std::pair("registers", "register"),
        std::pair("achieved_occupancy_pct", "percent")}) {
    const Verdict verdict =
        judge(card({{"test", "metric"}, {"metric", metric}, {"points", "N>=1"}, {"low", 0}}), evidence_of(table));
    EXPECT_THAT(verdict.points(), ElementsAre(table.rows()[1])) << metric;
    EXPECT_EQ(verdict.unit, unit) << metric;
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
  Evidence evidence = evidence_of(table);
  const auto ridges = [&] {
    const Verdict verdict =
        judge(card({{"test", "over-ridge"}, {"ceiling", "mma_fp16"}, {"points", "algo:fa1,fa2 N:4096"}, {"low", 0}}),
              evidence);
    return std::pair(verdict.beside.size(), verdict.points().size());
  };
  EXPECT_EQ(ridges(), std::pair(std::size_t{1}, std::size_t{2})) << "the Hopper datasheet has no mma.sync rate";
  const std::vector<Ceiling> measured{
      {.name = "mma_fp16", .value = 6e14, .unit = "flop/s", .source = CeilingSource::measured},
      {.name = "dram_read", .value = 4e12, .unit = "byte/s", .source = CeilingSource::measured}};
  evidence.all_ceilings = {{a100.limits.name, measured}};
  EXPECT_EQ(ridges(), std::pair(std::size_t{1}, std::size_t{2})) << "ceilings of another GPU";
  evidence.ceilings = measured;
  EXPECT_EQ(ridges(), std::pair(std::size_t{2}, std::size_t{4}));
}

TEST(Claims, JudgesCrossover) {
  // Time ratios naive / FA2 by N.
  using Ratios = std::vector<std::pair<std::int64_t, double>>;
  const Ratios crosses{{512, 0.5}, {1024, 0.5}, {2048, 2}};  // crosses at 1024 sqrt(2) = 1448
  const Ratios ahead{{512, 2}, {1024, 2}, {2048, 2}};
  const Ratios behind{{512, 0.5}, {1024, 0.5}, {2048, 0.5}};
  struct Case {
    Ratios ratios;
    std::optional<double> low;
    double high;
    Outcome outcome;
    double found = 0;
  };
  for (const Case& each : {Case{crosses, 1400, 1500, Outcome::held, 1024 * std::numbers::sqrt2},
                           Case{crosses, 1024, 1400, Outcome::refuted, 1024 * std::numbers::sqrt2},
                           Case{crosses, 1500, 4096, Outcome::refuted, 1024 * std::numbers::sqrt2},
                           // faster below the claimed range already
                           Case{ahead, 1024, 4096, Outcome::refuted, 512},
                           Case{ahead, 256, 4096, Outcome::not_testable},  // the crossover may be at 256 or above
                           Case{ahead, {}, 4096, Outcome::held, 512},      // the crossover is at or below 512
                           Case{behind, 256, 4096, Outcome::refuted, std::numeric_limits<double>::infinity()},
                           Case{{{1024, 0.5}, {2048, 2}}, 1024, 2048, Outcome::not_testable}}) {
    std::vector<PointRecord> records;
    for (const auto& [n, ratio] : each.ratios) add_ratio(records, n, ratio);
    const PointTable table = fixtures::Points(records).table();
    const Verdict verdict = judge(crossover_card(each.low, each.high), evidence_of(table));
    EXPECT_EQ(verdict.outcome, each.outcome) << each.low.value_or(0) << " to " << each.high;
    if (each.outcome == Outcome::not_testable) {
      EXPECT_EQ(verdict.explanation, "no_pairs");
    } else {
      EXPECT_DOUBLE_EQ(values_of(verdict).front(), each.found);
    }
  }
}

TEST(Claims, BuiltInClaimsWithoutPoints) {
  const PointTable none;
  std::map<std::string, Outcome> outcomes;
  for (const Claim& each : load_lesson("en").claims) {
    const Verdict verdict = judge(each, evidence_of(none));
    EXPECT_NE(verdict.explanation, "broken_card") << each.id << ' ' << verdict.detail;
    outcomes[each.id] = verdict.outcome;
    EXPECT_FALSE(each.changes.empty()) << each.id;
  }
  EXPECT_EQ(outcomes["approximate"], Outcome::refuted);
  EXPECT_EQ(outcomes["saves-flops"], Outcome::refuted);  // 4 d FLOPs per pair in both
  EXPECT_EQ(outcomes["fa2-twice"], Outcome::not_testable);
  const auto forget = card({{"test", "softmax-error"}, {"fault", "forget-rescale"}, {"low", 0.001}});
  EXPECT_EQ(judge(forget, evidence_of(none)).outcome, Outcome::held);
}

}  // namespace
}  // namespace attnscope::analysis::lesson

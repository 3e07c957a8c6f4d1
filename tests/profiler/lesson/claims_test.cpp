// SPDX-License-Identifier: Apache-2.0
// Claims on trial: what decides an outcome, and of what data it is.
#include "profiler/lesson/claims.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numbers>
#include <tuple>

#include "profiler/lesson/texts.h"
#include "tests/profiler/lesson/claim_cards.h"

namespace attnscope::analysis::lesson {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Claims, AreHeldToPoints) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = evidence_of(table);
  const auto outcome = [&](std::initializer_list<std::pair<std::string, std::string>> entries) {
    return judge(card(entries), evidence).outcome;
  };
  const std::pair<std::string, std::string> twice{"doubled", "n"};
  const std::pair<std::string, std::string> bytes{"metric", "l2_sm_bytes"};
  EXPECT_EQ(outcome({{"test", "doubled"}, twice, bytes, {"points", "algo:fa2 N>=4096"}, {"states", "4"}}),
            Outcome::held);
  EXPECT_EQ(outcome({{"test", "doubled"}, twice, bytes, {"points", "algo:fa2 N>=4096"}, {"states", "2"}}),
            Outcome::refuted);
  EXPECT_EQ(outcome({{"test", "doubled"}, twice, bytes, {"points", "algo:fa2 N:1"}, {"states", "2"}}),
            Outcome::not_testable);
  const Verdict verdict =
      judge(card({{"test", "doubled"}, twice, bytes, {"points", "algo:fa2"}, {"states", "4"}}), evidence);
  EXPECT_FALSE(verdict.points.empty());
  EXPECT_EQ(verdict.figures.front().label, "claimed");
  // What cannot be read is said, whatever it is.
  EXPECT_EQ(judge(card({{"test", "doubled"}, {"points", "algo:>="}}), evidence).because, "broken_card");
  EXPECT_EQ(judge(card({{"test", "doubled"}, {"doubled", "heads"}, {"points", ""}}), evidence).because, "broken_card");
  EXPECT_EQ(judge(card({{"test", "ceiling"}, {"ceiling", "dram_read"}, {"states", "1"}}), evidence).because,
            "no_ceilings");
}

TEST(Claims, EachCaseIsJudgedAndTheMedianDecidesNothing) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  const Evidence evidence = evidence_of(table);
  // Bytes of FA2 with N twice as large: one ratio a pair; bounds that hold the least of them and not the largest.
  const auto of = [&](const std::string& low, const std::string& high) {
    return judge(card({{"test", "doubled"},
                       {"doubled", "n"},
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

TEST(Claims, CasesOnEitherSideOfANumberRefuteNothingWhereTheSourceLeavesSomethingOpen) {
  // Times of naive over those of FA2 at two problems: 1.2 and 3.
  std::vector<PointRecord> records;
  for (const auto& [n, ns] : {std::pair{1024, 1.2e6}, std::pair{2048, 3e6}}) {
    for (const char* algorithm : {"naive", "fa2"}) {
      PointRecord& record = records.emplace_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
      for (KernelRecord& kernel : record.kernels) {
        kernel.samples_ns.assign(3, record.spec.algorithm == "naive" ? ns : 1e6);
        std::erase_if(kernel.metrics, [](const MetricValue& m) { return m.name == metric_key::time_median_ns; });
      }
    }
  }
  const PointTable table = fixtures::Points(records).table();
  for (const auto& [states, leaves, outcome, because] :
       {std::tuple{"2", "batch heads", Outcome::not_testable, "bracketed"}, std::tuple{"2", "", Outcome::refuted, ""},
        std::tuple{"5", "batch heads", Outcome::refuted, ""}, std::tuple{"3", "batch heads", Outcome::partly, ""}}) {
    const Verdict verdict = judge(card({{"test", "versus"},
                                        {"from", "naive"},
                                        {"to", "fa2"},
                                        {"metric", "time_median_ns"},
                                        {"points", ""},
                                        {"states", states},
                                        {"source_leaves", leaves}}),
                                  evidence_of(table));
    EXPECT_EQ(verdict.outcome, outcome) << states;
    EXPECT_EQ(verdict.because, because) << states;
    EXPECT_EQ(verdict.detail, *because != 0 ? "batch, heads" : "") << states;
  }
  // A law is no number that holds somewhere: naive's time grows by 2.5 with twice the N, FA2's not at all.
  EXPECT_EQ(
      judge(
          card({{"test", "doubled"}, {"doubled", "n"}, {"metric", "time_median_ns"}, {"points", ""}, {"states", "2"}}),
          evidence_of(table))
          .outcome,
      Outcome::refuted);
}

/// A GPU's points beside another's and beside times of another program.
PointTable of_two_gpus_and_another_program(bool with_a100, bool with_peers) {
  fixtures::Points points(fixtures::memory_wall());
  if (with_a100) {
    analysis::Run a100 = fixtures::run(Provenance::measured, "a100");
    a100.device_id = "GPU-A100";
    a100.device_name = "NVIDIA A100-SXM4-80GB";  // as the driver has it
    points.add(fixtures::memory_wall(), a100);
  }
  if (with_peers) points.add(fixtures::peers());
  return points.table();
}

std::vector<std::string> mismatches_of(const Verdict& verdict) {
  std::vector<std::string> words;
  for (const Mismatch& each : verdict.mismatches) words.emplace_back(each.word);
  return words;
}

TEST(Claims, AreHeldToWhatTheirSourceSpeaksOfAlone) {
  const std::pair<std::string, std::string> of_a100{"source_gpu", "NVIDIA A100 80GB"};
  const std::pair<std::string, std::string> of_published{"source_kernel", "published"};
  const auto rates = [](const PointTable& table, std::vector<std::pair<std::string, std::string>> source) {
    Front claim = card({{"test", "rate"}, {"points", ""}, {"low", "0"}});
    for (const auto& [key, value] : source) claim.entries[key].value = value;
    return judge(claim, evidence_of(table));
  };
  const PointTable h200 = of_two_gpus_and_another_program(false, false);
  const Verdict open = rates(h200, {});
  EXPECT_EQ(open.outcome, Outcome::held);
  EXPECT_THAT(open.of.gpus, ElementsAre("NVIDIA H200"));
  EXPECT_THAT(open.of.own, ::testing::UnorderedElementsAre("Naive", "FA1", "FA2"));
  EXPECT_THAT(open.of.others, IsEmpty());
  EXPECT_EQ(rates(h200, {{"source_gpu", "NVIDIA H200"}}).outcome, Outcome::held);

  // The figures stand beside a claim of something else, and judge nothing.
  const Verdict beside = rates(h200, {of_a100, of_published});
  EXPECT_EQ(beside.outcome, Outcome::not_testable);
  EXPECT_THAT(mismatches_of(beside), ElementsAre("other_gpu", "other_kernel"));
  EXPECT_EQ(beside.mismatches.front().source, "NVIDIA A100 80GB");
  EXPECT_EQ(std::ranges::count(beside.figures, "cases_inside", &ClaimFigure::label), 0);
  EXPECT_EQ(std::ranges::count(beside.figures, "each", &ClaimFigure::label),
            std::ranges::count(open.figures, "each", &ClaimFigure::label));

  const Verdict there = rates(of_two_gpus_and_another_program(true, false), {of_a100});
  EXPECT_EQ(there.outcome, Outcome::held);
  EXPECT_THAT(there.of.gpus, ElementsAre("NVIDIA A100-SXM4-80GB"));
  const Verdict theirs = rates(of_two_gpus_and_another_program(false, true), {of_published});
  EXPECT_EQ(theirs.outcome, Outcome::held);
  EXPECT_THAT(theirs.of.own, IsEmpty());
  EXPECT_THAT(theirs.of.others, ::testing::UnorderedElementsAre("torch-flash", "torch-cudnn"));
  // What is exported here and imported again is this program's as before.
  fixtures::Points again;
  again.add(fixtures::memory_wall(), fixtures::run(Provenance::imported, "again"));
  EXPECT_THAT(mismatches_of(rates(again.table(), {of_published})), ElementsAre("other_kernel"));
  EXPECT_THAT(rates(again.table(), {}).of.others, IsEmpty());
  // There are points of either, and none of both.
  EXPECT_THAT(mismatches_of(rates(of_two_gpus_and_another_program(true, true), {of_a100, of_published})),
              ElementsAre("other_kernel"));
}

TEST(Claims, OfOneLevelOfMemoryAreNotHeldToAnothers) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  for (const auto& [level, metric, mismatches] :
       {std::tuple{"dram", "l2_sm_bytes", 1U}, std::tuple{"sm-l2", "l2_sm_bytes", 0U},
        std::tuple{"dram", "dram_settled_bytes", 0U}, std::tuple{"sm-l2", "dram_settled_bytes", 1U}}) {
    const Verdict verdict = judge(card({{"test", "doubled"},
                                        {"doubled", "n"},
                                        {"metric", metric},
                                        {"points", "algo:fa2"},
                                        {"low", "0"},
                                        {"source_level", level}}),
                                  evidence_of(table));
    EXPECT_EQ(verdict.mismatches.size(), mismatches) << level << ' ' << metric;
    EXPECT_EQ(verdict.outcome, mismatches > 0 ? Outcome::not_testable : Outcome::held) << level << ' ' << metric;
    EXPECT_EQ(verdict.of.level, std::string_view(metric) == "l2_sm_bytes" ? "sm-l2" : "dram");
  }
  // What is counted of a program is counted between SM and L2.
  const Front loaded = card({{"test", "loaded-times"},
                             {"algorithm", "fa1"},
                             {"tensor", "O_acc"},
                             {"n", "4096"},
                             {"d", "64"},
                             {"low", "4"},
                             {"source_level", "dram"}});
  EXPECT_THAT(mismatches_of(judge(loaded, evidence_of(table))), ElementsAre("other_level"));
  // A time is of no level, and so no evidence of one.
  const Front time = card({{"test", "doubled"},
                           {"doubled", "n"},
                           {"metric", "time_median_ns"},
                           {"points", "algo:fa2"},
                           {"low", "0"},
                           {"source_level", "dram"}});
  EXPECT_EQ(judge(time, evidence_of(table)).because, "broken_card");
  for (const auto& [metric, level] : {std::pair{"arithmetic_intensity", "dram"}, std::pair{"dram_bandwidth", "dram"},
                                      std::pair{"l2_sm_over_model", "sm-l2"}, std::pair{"tflops", ""}})
    EXPECT_EQ(find_metric(metric)->level, level) << metric;
}

TEST(Claims, AnotherProgramsTimesMayBeCompared) {
  const PointTable table = of_two_gpus_and_another_program(false, true);
  Front claim = card({{"test", "versus"},
                      {"from", "imported:torch-cudnn"},
                      {"to", "imported:torch-flash"},
                      {"metric", "time_median_ns"},
                      {"points", ""},
                      {"low", "0"},
                      {"source_kernel", "published"}});
  const Verdict verdict = judge(claim, evidence_of(table));
  EXPECT_EQ(verdict.outcome, Outcome::held) << verdict.because;
  EXPECT_THAT(verdict.of.others, ::testing::UnorderedElementsAre("torch-flash", "torch-cudnn"));
  // Our kernel is no series of another program.
  claim.entries.erase("source_kernel");
  claim.entries["to"].value = "fa2";
  claim.entries["from"].value = "fa1";
  EXPECT_EQ(judge(claim, evidence_of(table)).outcome, Outcome::held);
  claim.entries["from"].value = "imported:fa1";
  EXPECT_EQ(judge(claim, evidence_of(table)).because, "no_pairs");
}

// Of mma.sync's 631 TFLOP/s a larger share than of the datasheet's 989.
TEST(Claims, APeakIsNamedAndAMeasuredRateStandsBesideIt) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  Evidence evidence = evidence_of(table);
  evidence.ceilings = {{.name = "mma_fp16", .value = 631e12, .unit = "flop/s", .source = CeilingSource::measured}};
  const Verdict verdict = judge(
      card({{"test", "peak-share"}, {"points", "algo:fa2 N:4096"}, {"low", "0"}, {"ceiling", "mma_fp16"}}), evidence);
  const auto figure = [&](std::string_view label) {
    const auto found = std::ranges::find(verdict.figures, label, &ClaimFigure::label);
    return found == verdict.figures.end() ? ClaimFigure{} : *found;
  };
  EXPECT_DOUBLE_EQ(figure("peak").value, fixtures::h200().tensor_flops);
  EXPECT_EQ(origin(figure("peak")), "datasheet");
  ASSERT_GT(figure("found").value, 0);
  EXPECT_NEAR(figure("share_of_ceiling").value / figure("found").value, 989.4 / 631, 1e-3);
}

TEST(Claims, BoundByMemoryIsWhatLiesBelowTheRidge) {
  const PointTable table = fixtures::Points(fixtures::memory_wall()).table();
  Evidence evidence = evidence_of(table);
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
  EXPECT_EQ(outcome(1e12), Outcome::refuted);  // one operation a byte: everything lies above
  EXPECT_EQ(outcome(1e18), Outcome::held);
  evidence.ceilings.clear();  // a Hopper's datasheet has no rate of mma.sync
  EXPECT_EQ(judge(card({{"test", "over-ridge"}, {"ceiling", "mma_fp16"}, {"points", "algo:fa2 N:4096"}, {"high", "1"}}),
                  evidence)
                .because,
            "no_ceilings");
}

TEST(LessonTexts, EveryBoundSaysWhoseItIs) {
  for (const ClaimCard& each : load_lesson("en").claims) {
    const Front& front = each.document.front;
    const bool bounded = front.find("low") != nullptr || front.find("high") != nullptr;
    EXPECT_EQ(front.find("stated_by") != nullptr, bounded) << each.id;
  }
  const PointTable none;
  for (const auto& [stated_by, said, label] :
       {std::tuple{"source", "stated", "claimed_high"}, std::tuple{"ours", "ours", "asked_high"}}) {
    const Verdict verdict = judge(
        card({{"test", "softmax-error"}, {"fault", "forget-rescale"}, {"high", "0.001"}, {"stated_by", stated_by}}),
        evidence_of(none));
    EXPECT_EQ(origin(verdict.figures.front()), said);
    EXPECT_EQ(verdict.figures.front().label, label);
  }
}

TEST(Claims, CasesOfTwoGpusAreNotHeldTogether) {
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
    const Verdict verdict = judge(card({{"test", "rate"}, {"points", ""}, {"low", "0"}}), evidence_of(table));
    const auto inside = std::ranges::find(verdict.figures, "cases_inside", &ClaimFigure::label);
    return inside == verdict.figures.end() ? 0 : inside->value;
  };
  const double one = cases("GPU-1");
  ASSERT_GT(one, 1);
  EXPECT_EQ(cases("GPU-2"), 2 * one);
}

TEST(Claims, ATileThatWasMeasuredAloneIsTheBestOfNothing) {
  fixtures::Points points(fixtures::memory_wall());
  const PointTable table = points.table();
  const Evidence evidence = evidence_of(table);
  const PointSpec only = table.spec(table.rows().front());
  const Verdict verdict = judge(card({{"test", "tile-best"},
                                      {"br", fmt::to_string(only.tile.br)},
                                      {"bc", fmt::to_string(only.tile.bc)},
                                      {"points", ""},
                                      {"high", "1.05"}}),
                                evidence);
  EXPECT_EQ(verdict.outcome, Outcome::not_testable);
  EXPECT_EQ(verdict.because, "no_tile");
}

TEST(Claims, OfATileMeasuredTwiceTheFasterIsTheBest) {
  for (const auto& [first, second] : {std::pair{2000.0, 1000.0}, std::pair{1000.0, 2000.0}}) {
    std::vector<PointRecord> records;
    for (const auto& [br, ns] : {std::pair{64, first}, std::pair{64, second}, std::pair{128, 1500.0}}) {
      records.push_back(fixtures::ok_point(fixtures::spec("fa2", 1024, br, 64)));
      records.back().kernels[0].samples_ns = {ns};
    }
    const PointTable table = fixtures::Points(records).table();
    const Verdict verdict =
        judge(card({{"test", "tile-best"}, {"br", "64"}, {"bc", "64"}, {"points", ""}, {"high", "1.05"}}),
              evidence_of(table));
    EXPECT_EQ(verdict.outcome, Outcome::held) << first << ", " << second;
  }
}

// FA2's bytes between SM and L2 follow Br alone.
TEST(Claims, AMetricVariesWithOneSideAtTheOtherFixed) {
  std::vector<PointRecord> records;
  for (const int br : {64, 128}) {
    for (const int bc : {32, 64}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", 4096, br, bc)));
  }
  const PointTable table = fixtures::Points(records).table();
  for (const auto& [of, outcome] : {std::pair{"bc", Outcome::held}, std::pair{"br", Outcome::refuted}}) {
    EXPECT_EQ(
        judge(card({{"test", "varies-with"}, {"of", of}, {"metric", "l2_sm_bytes"}, {"points", ""}, {"high", "1.1"}}),
              evidence_of(table))
            .outcome,
        outcome)
        << of;
  }
}

TEST(Claims, ADatasheetsCeilingWasNotMeasured) {
  const PointTable none;
  Evidence evidence = evidence_of(none);
  evidence.ceilings = {{.name = "dram_read", .value = 4e12, .unit = "byte/s", .source = CeilingSource::datasheet}};
  const Front claim = card({{"test", "ceiling"}, {"ceiling", "dram_read"}, {"states", "4e12"}});
  EXPECT_EQ(judge(claim, evidence).because, "no_ceilings");
  evidence.ceilings[0].source = CeilingSource::measured;
  EXPECT_EQ(judge(claim, evidence).outcome, Outcome::held);
}

// S of one head in two bytes: 2, 8 and 32 MiB.
TEST(Claims, ATableIsRightWhollyInPartOrNot) {
  const PointTable none;
  for (const auto& [stated, outcome] : {std::pair{"2 8 32", Outcome::held}, std::pair{"2 1 1", Outcome::partly},
                                        std::pair{"1 1 1", Outcome::refuted}}) {
    const Front claim =
        card({{"test", "ledger"}, {"matrix", "S"}, {"unit", "MiB"}, {"n", "1024 2048 4096"}, {"states", stated}});
    EXPECT_EQ(judge(claim, evidence_of(none)).outcome, outcome) << stated;
  }
}

TEST(Claims, ACrossoverIsHeldToTheNFromWhichTheFasterOneIsAhead) {
  // Times of naive over those of FA2, by N.
  using Ratios = std::vector<std::pair<std::int64_t, double>>;
  const Ratios crosses{{512, 0.5}, {1024, 0.5}, {2048, 2}};  // at 1024 sqrt(2) = 1448
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
                           Case{ahead, "1024", "4096", Outcome::refuted, 512},  // ahead before what is claimed
                           Case{ahead, "256", "4096", Outcome::not_testable},   // it may be ahead from 256 on
                           Case{ahead, "", "4096", Outcome::held, 512},         // wherever it crosses, not beyond
                           Case{behind, "256", "4096", Outcome::refuted, std::numeric_limits<double>::infinity()},
                           Case{{{1024, 0.5}, {2048, 2}}, "1024", "2048", Outcome::not_testable}}) {
    std::vector<PointRecord> records;
    for (const auto& [n, ratio] : each.ratios) {
      for (const char* algorithm : {"naive", "fa2"}) {
        PointRecord& record = records.emplace_back(fixtures::ok_point(fixtures::spec(algorithm, n)));
        for (KernelRecord& kernel : record.kernels) {
          kernel.samples_ns.assign(3, record.spec.algorithm == "naive" ? 1e6 * ratio : 1e6);
          std::erase_if(kernel.metrics, [](const MetricValue& m) { return m.name == metric_key::time_median_ns; });
        }
      }
    }
    const PointTable table = fixtures::Points(records).table();
    Front claim = card({{"test", "crossover"}, {"from", "naive"}, {"to", "fa2"}, {"points", ""}, {"high", each.high}});
    if (*each.low != 0) claim.entries["low"].value = each.low;
    const Verdict verdict = judge(claim, evidence_of(table));
    EXPECT_EQ(verdict.outcome, each.outcome) << each.low << " to " << each.high << ' ' << verdict.because;
    if (each.outcome == Outcome::not_testable) {
      EXPECT_EQ(verdict.because, "no_pairs");
    } else {
      EXPECT_DOUBLE_EQ(verdict.figures.back().value, each.found);
    }
  }
}

TEST(Claims, WhatOurKernelsLackRefutesNothing) {
  const PointTable none;
  const Evidence evidence = evidence_of(none);
  const auto fits = [&](const char* d, const char* br) {
    return judge(card({{"test", "tile-fits"}, {"algorithm", "fa2"}, {"n", "8192"}, {"d", d}, {"br", br}, {"bc", br}}),
                 evidence);
  };
  EXPECT_EQ(fits("128", "256").outcome, Outcome::held);  // measured so in assets/samples/h200-tiles.attnscope
  EXPECT_EQ(fits("512", "64").outcome, Outcome::not_testable);
  EXPECT_EQ(fits("512", "64").because, "refused");
  EXPECT_EQ(fits("256", "512").outcome, Outcome::refuted);  // 256 KiB of Q alone
  // 192 KiB are 98,304 elements of two bytes: ceil(98304 / (4 * 512)) = 48 rows.
  const Verdict rule =
      judge(card({{"test", "paper-rule"}, {"m_kib", "192"}, {"d", "512"}, {"states", "96"}}), evidence);
  EXPECT_EQ(rule.outcome, Outcome::refuted);
  EXPECT_EQ(rule.figures.at(2).value, 48);
  EXPECT_EQ(judge(card({{"test", "paper-rule"}, {"m_kib", "1e300"}, {"d", "512"}, {"states", "96"}}), evidence).because,
            "broken_card");
}

TEST(Claims, ATileRanWhereItWasMeasuredAsAsked) {
  const auto ran = [](const char* heads, const auto& change, bool simulated = false) {
    PointSpec spec = fixtures::spec("fa2", 8192, 256, 256);
    change(spec.problem);
    const PointTable table = fixtures::Points({fixtures::ok_point(spec, simulated)}).table();
    Front claim =
        card({{"test", "tile-fits"}, {"algorithm", "fa2"}, {"n", "8192"}, {"d", "128"}, {"br", "256"}, {"bc", "256"}});
    if (*heads != 0) claim.entries["heads"].value = heads;
    return judge(claim, evidence_of(table)).points.size();
  };
  const auto as_it_is = [](AttentionProblem&) {};
  EXPECT_EQ(ran("", as_it_is), 1U);
  EXPECT_EQ(ran("", as_it_is, true), 0U);
  EXPECT_EQ(ran("3", as_it_is), 0U);
  EXPECT_EQ(ran("3", [](AttentionProblem& p) { p.heads_q = p.heads_kv = 3; }), 1U);
  EXPECT_EQ(ran("", [](AttentionProblem& p) { p.n_q = p.n_k = 4096; }), 0U);
  EXPECT_EQ(ran("", [](AttentionProblem& p) { p.n_q = 1; }), 0U);
  EXPECT_EQ(ran("", [](AttentionProblem& p) { p.pass = Pass::bwd; }), 0U);
}

TEST(Claims, FiguresAreInTheUnitsThatTheSourceHas) {
  const PointTable none;
  const Evidence evidence = evidence_of(none);
  for (const ClaimCard& each : load_lesson("en").claims) {
    const Verdict verdict = judge(each.document.front, evidence);
    if (each.id == "hierarchy-l2-of-a100") {
      ASSERT_EQ(verdict.figures.size(), 3U);
      EXPECT_EQ(format_figure(verdict.figures[0].value, verdict.figures[0].unit), "6 MiB");
      EXPECT_EQ(origin(verdict.figures[0]), "stated");
      EXPECT_EQ(format_figure(verdict.figures[1].value, verdict.figures[1].unit), "10%");
      EXPECT_EQ(origin(verdict.figures[1]), "ours");
      EXPECT_EQ(format_figure(verdict.figures[2].value, verdict.figures[2].unit), "40 MiB");
      EXPECT_EQ(origin(verdict.figures[2]), "datasheet");
    } else if (each.id == "ledger-score-matrix") {
      EXPECT_EQ(format_figure(verdict.figures[6].value, verdict.figures[6].unit), "134 MB");  // as stated, at N 8192
      EXPECT_EQ(format_figure(verdict.figures[7].value, verdict.figures[7].unit), "134 MB");
      EXPECT_EQ(verdict.figures[6].of, "N 8192");
      EXPECT_EQ(origin(verdict.figures.back()), "ours");
    }
  }
  for (const ClaimCard& each : load_lesson("zh").claims) {
    EXPECT_EQ(each.source.find("section"), std::string::npos) << each.id << ": " << each.source;
  }
}

TEST(Claims, OfTheSeedsThatNeedNoPoints) {
  const PointTable none;
  const Evidence evidence = evidence_of(none);
  std::map<std::string, Outcome> outcomes;
  for (const ClaimCard& each : load_lesson("en").claims) {
    const Verdict verdict = judge(each.document.front, evidence);
    EXPECT_NE(verdict.because, "broken_card") << each.id << ' ' << verdict.detail;
    outcomes[each.id] = verdict.outcome;
  }
  // design notes: the share of an A100 is ten times too high, Q, K and V of a head have 0.75 MiB, M is in elements, and
  // the loop orders are swapped.
  EXPECT_EQ(outcomes["ledger-score-matrix"], Outcome::held);
  EXPECT_EQ(outcomes["ledger-share-of-a100"], Outcome::refuted);
  EXPECT_EQ(outcomes["ledger-qkv-six-megabytes"], Outcome::refuted);
  EXPECT_EQ(outcomes["ledger-half-a-gibibyte"], Outcome::held);
  EXPECT_EQ(outcomes["loop-order-swapped"], Outcome::refuted);
  EXPECT_EQ(outcomes["loop-order-fa2"], Outcome::held);
  EXPECT_EQ(outcomes["forget-rescale"], Outcome::held);
  EXPECT_EQ(outcomes["tile-256"], Outcome::not_testable);
  EXPECT_EQ(outcomes["tile-256-runs"], Outcome::held);
  EXPECT_EQ(outcomes["tile-rule-in-bytes"], Outcome::refuted);
  EXPECT_EQ(outcomes["o-swapped-every-step"], Outcome::held);
  EXPECT_EQ(outcomes["backward-two-and-a-half"], Outcome::held);  // 10 d a pair over 4 d
  EXPECT_EQ(outcomes["hierarchy-l2-of-a100"], Outcome::refuted);
  EXPECT_EQ(outcomes["training-cost"], Outcome::not_testable);
  EXPECT_EQ(outcomes["fa2-twice"], Outcome::not_testable);
}

}  // namespace
}  // namespace attnscope::analysis::lesson

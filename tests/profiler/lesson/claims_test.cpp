// SPDX-License-Identifier: Apache-2.0
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

TEST(Claims, OpenConditionsPreventRefutation) {
  // Time ratios naive / FA2 at two problems: 1.2 and 3.
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

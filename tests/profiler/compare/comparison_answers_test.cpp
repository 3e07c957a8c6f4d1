// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "profiler/stats/verdicts.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Judged {
  const char* algorithm = "fa2";
  double ratio = 1;
  double low = 1;
  double high = 1;
  Verdict verdict = Verdict::same;
  double detectable = 0.02;
  bool paired = true;
  SpreadFloor floor = SpreadFloor::none;
};

/// A table with a point for each, and the result that holds each against itself.
struct Case {
  explicit Case(const std::vector<Judged>& judged) {
    std::vector<PointRecord> records(judged.size());
    for (std::size_t i = 0; i < judged.size(); ++i) {
      records[i].spec = fixtures::spec(judged[i].algorithm, 1024 * (1 + static_cast<std::int64_t>(i)));
    }
    table = fixtures::Points(records).table();
    for (std::size_t i = 0; i < judged.size(); ++i) {
      const Judged& each = judged[i];
      ComparedPair& pair = result.pairs.emplace_back();
      pair.base = {static_cast<Row>(i)};
      pair.other = {static_cast<Row>(i)};
      pair.paired = each.paired;
      pair.verdict.time = {each.ratio, {each.low, each.high}};
      pair.verdict.verdict = each.verdict;
      pair.verdict.detectable = each.detectable;
      pair.verdict.sure = each.ratio < 1 ? 1 - each.high : each.low - 1;
      pair.verdict.floor = each.floor;
    }
  }
  [[nodiscard]] std::vector<ComparisonAnswer> answers() const { return comparison_answers(table, result); }
  PointTable table;
  ComparisonResult result;
};

TEST(ComparisonAnswers, NineOfTenRowsSettleTheNumber) {
  EXPECT_EQ(settling({}).rows, 0U);
  EXPECT_EQ(settling({7}).times, 7U);
  const Settling of_ten = settling({2, 2, 3, 2, 2, 2, 2, 4, 2, 50});
  EXPECT_EQ(of_ten.times, 4U) << "not the fifty that one row would take";
  EXPECT_EQ(of_ten.rows, 9U);
}

/// Recordings of one build, each of which moves each of 60 points by its own half percent.
std::vector<ComparedRow> recorded_rows(std::size_t recordings, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<ComparedRow> rows(60);
  for (ComparedRow& row : rows) {
    for (const bool other : {false, true}) {
      RoundsOfSide& side = other ? row.other : row.base;
      side.place = {.variance = 0.005 * 0.005, .freedom = 100};
      for (std::uint32_t recording = 0; recording < recordings; ++recording) {
        side.ns.push_back(1e5 * std::exp(0.005 * normal(random)));
        side.recordings.push_back(recording + (other ? 1000 : 0));
      }
    }
  }
  return rows;
}

// What is promised of a whole table is what happens: so many recordings decide nine of ten of these rows.
TEST(ComparisonAnswers, WhatSettlesATableDoes) {
  std::mt19937_64 random(17);
  std::vector<std::size_t> needed;
  const VerdictOptions options{.margin = usual_margin_apart};
  for (const RowVerdict& row : judge(recorded_rows(1, random), options)) {
    if (row.verdict == Verdict::ambiguous && row.recordings_needed) needed.push_back(*row.recordings_needed);
  }
  ASSERT_GT(needed.size(), 20U) << "one recording a side leaves rows open";
  const auto [times, settled] = settling(needed);
  EXPECT_LE(times, most_recordings);
  std::size_t decided = 0;
  std::size_t rows = 0;
  for (int trial = 0; trial < 20; ++trial) {
    for (const RowVerdict& row : judge(recorded_rows(times, random), options)) {
      ++rows;
      if (row.verdict == Verdict::same) ++decided;
      EXPECT_TRUE(row.verdict == Verdict::same || row.verdict == Verdict::ambiguous);
    }
  }
  EXPECT_GE(decided, rows * 9 / 10) << times << " recordings, promised of " << settled << " rows";
}

TEST(ComparisonAnswers, EachAlgorithmAndAllOfThem) {
  const Case of(
      {{.algorithm = "fa2", .ratio = 1.1, .low = 1.08, .high = 1.12, .verdict = Verdict::slower},
       {.algorithm = "fa2", .ratio = 0.9, .low = 0.88, .high = 0.93, .verdict = Verdict::faster},
       {.algorithm = "fa1", .ratio = 1.2, .low = 1.15, .high = 1.25, .verdict = Verdict::slower},
       {.algorithm = "fa1", .ratio = 1.01, .low = 0.9, .high = 1.1, .verdict = Verdict::ambiguous, .detectable = 0.2}});
  const std::vector<ComparisonAnswer> answers = of.answers();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].algorithm, "");
  EXPECT_EQ(answers[1].algorithm, "FA1");
  EXPECT_EQ(answers[2].algorithm, "FA2");
  EXPECT_THAT(answers[0].verdicts, ElementsAre(1, 2, 0, 1));
  EXPECT_THAT(answers[1].verdicts, ElementsAre(0, 1, 0, 1));
  EXPECT_NEAR(answers[0].slower_by, 0.15, 1e-12);
  EXPECT_NEAR(answers[2].slower_by, 0.08, 1e-12);
  EXPECT_NEAR(answers[2].faster_by, 0.07, 1e-12);
  EXPECT_EQ(answers[1].faster_by, 0);
  EXPECT_EQ(answers[0].detectable_at_worst, 0.2);
  EXPECT_EQ(answers[2].detectable, 0.02);
  EXPECT_NEAR(answers[2].mean.ratio, std::sqrt(0.99), 1e-12);
}

TEST(ComparisonAnswers, SeparateRecordingsMayMoveAllPointsAlike) {
  const std::vector<Judged> rounds(16, {.ratio = 1, .low = 1 / 1.04, .high = 1.04});
  EXPECT_NEAR(Case(rounds).answers().front().mean.interval.high, 1.009853, 1e-6);
  const std::vector<Judged> apart(16, {.ratio = 1, .low = 1 / 1.04, .high = 1.04, .paired = false});
  EXPECT_NEAR(Case(apart).answers().front().mean.interval.high, 1.04, 1e-12);
  // 5% that stand for a spread nobody knows.
  const std::vector<Judged> few(16, {.low = 1 / 1.05, .high = 1.05, .floor = SpreadFloor::of_percent});
  EXPECT_NEAR(Case(few).answers().front().mean.interval.high, 1.05, 1e-12);
  // Two sides share the baseline's rounds.
  const Case of(rounds);
  const ComparisonResult again = of.result;
  const std::vector<const ComparisonResult*> twice{&of.result, &again};
  EXPECT_NEAR(comparison_answers(of.table, twice).front().mean.interval.high, 1.009853, 1e-6);
}

// 77 points that all are slower by 5%: what is said of the one that lost most holds in 95 of 100 tables.
TEST(ComparisonAnswers, TheLeastChangeHoldsForAllPointsTogether) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.01);
  constexpr int trials = 200;
  int wrong = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<ComparedRow> rows(77);
    for (ComparedRow& row : rows) {
      row.paired = true;
      for (int round = 0; round < 8; ++round) {
        row.base.ns.push_back(1e6 * std::exp(noise(random)));
        row.other.ns.push_back(1.05e6 * std::exp(noise(random)));
      }
    }
    double most = 0;
    for (const RowVerdict& row : judge(rows, {})) most = std::max(most, row.sure);
    wrong += most > 0.05 ? 1 : 0;
  }
  EXPECT_LE(wrong, 0.06 * trials);
}

// Rounds that scatter by 2%, some points slower: the interval of the mean covers it as often as it says.
TEST(ComparisonAnswers, TheMeanLiesWhereItsIntervalSays) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.02);
  constexpr std::size_t points = 12;
  constexpr std::size_t rounds = 12;
  constexpr int trials = 400;
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<ComparedRow> rows(points);
    double truth = 0;
    for (std::size_t i = 0; i < points; ++i) {
      const double shift = 0.01 * static_cast<double>(i % 3);
      truth += shift / points;
      rows[i].paired = true;
      for (std::size_t k = 0; k < rounds; ++k) {
        rows[i].base.ns.push_back(1e6 * std::exp(noise(random)));
        rows[i].other.ns.push_back(1e6 * std::exp(shift + noise(random)));
      }
    }
    const std::vector<RowVerdict> verdicts = judge(rows, {});
    std::vector<Judged> judged;
    for (const RowVerdict& row : verdicts) {
      judged.push_back({.ratio = row.time.ratio, .low = row.time.interval.low, .high = row.time.interval.high});
    }
    const RatioInterval mean = Case(judged).answers().front().mean;
    covered += std::log(mean.interval.low) <= truth && truth <= std::log(mean.interval.high) ? 1 : 0;
  }
  EXPECT_GE(covered, 0.93 * trials);
  EXPECT_LE(covered, 0.99 * trials);
}

TEST(ComparisonAnswers, Sentences) {
  const auto words = [](const std::vector<Judged>& judged) {
    const auto [answer, more] = answer_words(Case(judged).answers().front(), {"after", "before"});
    std::string all = text(answer) + "\n";
    for (const Message& each : more) all += text(each) + "\n";
    return all;
  };
  const std::string slower = words({{.ratio = 1.1, .low = 1.08, .high = 1.21 / 1.08, .verdict = Verdict::slower}});
  EXPECT_THAT(
      slower,
      StartsWith("after is slower than before by 10% on average (ratio 1.1000 [1.0800, 1.1204]), over 1 points; "
                 "not told apart: 0."));
  EXPECT_THAT(slower, HasSubstr("slower by at least 8%"));
  EXPECT_THAT(slower, Not(HasSubstr("faster by")));
  EXPECT_THAT(slower, HasSubstr("shown a change of 2% 9 times of 10 (the median point; 2% the worst)"));
  EXPECT_THAT(words({{.ratio = 0.9, .low = 0.88, .high = 0.92, .verdict = Verdict::faster}}),
              AllOf(StartsWith("after is faster than before by 10% on average"), HasSubstr("faster by at least 8%")));
  EXPECT_THAT(words({{.ratio = 1.1, .low = 1.08, .high = 1.12, .verdict = Verdict::slower},
                     {.ratio = 0.9, .low = 0.88, .high = 0.93, .verdict = Verdict::faster}}),
              StartsWith("Neither after nor before is shown to be faster on average by more than 1% (ratio 0.9950 ["));
  EXPECT_THAT(words({{.ratio = 1.02, .low = 1.015, .high = 1.025, .verdict = Verdict::slower}, {}}),
              StartsWith("Neither after nor before is shown to be faster on average by more than 1% (ratio 1.0100 ["))
      << "the mean's interval is above 1, but not above the margin";
  EXPECT_THAT(words({{.ratio = 2, .low = 1.9, .high = 2.1, .verdict = Verdict::slower}}),
              StartsWith("after takes 2.00 times as long as before on average (ratio 2.0000 ["));
  EXPECT_THAT(words({{.ratio = 0.5, .low = 0.48, .high = 0.52, .verdict = Verdict::faster}}),
              StartsWith("after is 2.00 times as fast as before on average (ratio 0.5000 ["));
  EXPECT_THAT(words({{}, {}}), StartsWith("after is as fast as before: none of 2 points changed"));
  EXPECT_THAT(words({{}, {.verdict = Verdict::ambiguous}}),
              AllOf(StartsWith("after and before are not told apart"), HasSubstr("not told apart: 1.")));
  EXPECT_THAT(words({{.ratio = 1.1, .low = 1.1, .high = 1.1, .verdict = Verdict::slower, .detectable = 0}}),
              Not(HasSubstr("at least")))
      << "computed";
  EXPECT_THAT(words({{.ratio = 1.02, .low = 1.003, .high = 1.04, .verdict = Verdict::slower}}),
              Not(HasSubstr("at least")))
      << "less than the margin, which the verdict says";
  EXPECT_THAT(words({{.detectable = 0}}), Not(HasSubstr("9 times of 10")));
}

TEST(ComparisonAnswers, ATableWithoutWhatNoRowHas) {
  const Case of({{.ratio = 1.1, .low = 1.08, .high = 1.12, .verdict = Verdict::slower}});
  const Table table = answer_table(of.answers());
  EXPECT_EQ(table.rows, 1U);
  ASSERT_NE(table.find("slower_by"), nullptr);
  EXPECT_EQ(table.find("slower_by")->cell(0).text, "8%");
  EXPECT_EQ(table.find("faster_by"), nullptr);
  EXPECT_EQ(table.find("algorithm")->cell(0).text, "FA2 fwd");
}

}  // namespace
}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "messages/compare.h"
#include "messages/difference.h"
#include "profiler/metrics/rounds.h"
#include "profiler/stats/verdicts.h"
#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using test::MatchesMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Lines = ComparisonView::Lines;

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

/// A table with one point per verdict, and a view of several sides that each compare every point with itself.
struct Case {
  explicit Case(const std::vector<Judged>& judged, std::size_t sides = 1) {
    std::vector<PointRecord> records(judged.size());
    for (std::size_t i = 0; i < judged.size(); ++i) {
      records[i].spec = fixtures::spec(judged[i].algorithm, 1024 * (1 + static_cast<std::int64_t>(i)));
    }
    table = fixtures::Points(records).table();
    ComparedSide side{.base = "before", .name = "after", .alignment = {}, .result = {}};
    for (std::size_t i = 0; i < judged.size(); ++i) {
      const Judged& each = judged[i];
      ComparedPair& pair = side.result.pairs.emplace_back();
      pair.base = {static_cast<Row>(i)};
      pair.other = {static_cast<Row>(i)};
      pair.paired = each.paired;
      pair.verdict.time = {each.ratio, {each.low, each.high}};
      pair.verdict.verdict = each.verdict;
      pair.verdict.detectable = each.detectable;
      pair.verdict.certain_change = each.ratio < 1 ? 1 - each.high : each.low - 1;
      pair.verdict.floor = each.floor;
    }
    std::vector<std::shared_ptr<const ComparedSide>> all;
    for (std::size_t i = 0; i < sides; ++i) all.push_back(std::make_shared<const ComparedSide>(side));
    view = view_of(table, std::move(all));
  }
  [[nodiscard]] const RatioInterval& mean() const { return view.answers.front().mean; }
  PointTable table;
  ComparisonView view;
};

TEST(ComparisonView, RequiredSamplesCover90Percent) {
  EXPECT_EQ(required_samples({}).rows, 0U);
  EXPECT_EQ(required_samples({7}).times, 7U);
  const RequiredSamples of_ten = required_samples({2, 2, 3, 2, 2, 2, 2, 4, 2, 50});
  EXPECT_EQ(of_ten.times, 4U) << "not the fifty that one row would take";
  EXPECT_EQ(of_ten.rows, 9U);
}

/// Simulates recordings of one build with an offset of 0.5% per point and recording, for 60 points.
std::vector<ComparedRow> recorded_rows(std::size_t recordings, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<ComparedRow> rows(60);
  for (ComparedRow& row : rows) {
    for (const bool other : {false, true}) {
      SideRounds& side = other ? row.other : row.base;
      side.place = {.variance = 0.005 * 0.005, .dof = 100};
      for (std::uint32_t recording = 0; recording < recordings; ++recording) {
        side.ns.push_back(1e5 * std::exp(0.005 * normal(random)));
        side.recordings.push_back(recording + (other ? 1000 : 0));
      }
    }
  }
  return rows;
}

TEST(ComparisonView, SuggestedRecordingsDecideTable) {
  std::mt19937_64 random(17);
  std::vector<std::size_t> needed;
  const VerdictOptions options{.margin = default_margin_unpaired};
  for (const RowVerdict& row : judge(recorded_rows(1, random), options)) {
    if (row.verdict == Verdict::ambiguous && row.recordings_needed) needed.push_back(*row.recordings_needed);
  }
  ASSERT_GT(needed.size(), 20U) << "one recording a side leaves rows open";
  const auto [times, settled] = required_samples(needed);
  EXPECT_LE(times, max_recordings);
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

TEST(ComparisonView, AnswersPerAlgorithmAndTotal) {
  const Case of(
      {{.algorithm = "fa2", .ratio = 1.1, .low = 1.08, .high = 1.12, .verdict = Verdict::slower},
       {.algorithm = "fa2", .ratio = 0.9, .low = 0.88, .high = 0.93, .verdict = Verdict::faster},
       {.algorithm = "fa1", .ratio = 1.2, .low = 1.15, .high = 1.25, .verdict = Verdict::slower},
       {.algorithm = "fa1", .ratio = 1.01, .low = 0.9, .high = 1.1, .verdict = Verdict::ambiguous, .detectable = 0.2}});
  const std::vector<ComparisonAnswer>& answers = of.view.answers;
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
  EXPECT_NEAR(answers[0].mean.ratio, std::sqrt(std::sqrt(1.1 * 0.9 * 1.2 * 1.01)), 1e-12);
  EXPECT_NEAR(answers[2].mean.ratio, std::sqrt(0.99), 1e-12);
  const Table table = answer_table(of.view);
  ASSERT_NE(table.find("min_slowdown"), nullptr);
  EXPECT_EQ(table.find("min_slowdown")->cell(0).text, "15%");
  EXPECT_EQ(table.find("algorithm")->cell(2).text, "FA2 fwd");
  const Case slower({{.ratio = 1.1, .low = 1.08, .high = 1.12, .verdict = Verdict::slower}});
  EXPECT_EQ(answer_table(slower.view).find("min_speedup"), nullptr) << "no row has it";
}

TEST(ComparisonView, AveragesCorrelatedIntervals) {
  const std::vector<Judged> rounds(16, {.ratio = 1, .low = 1 / 1.04, .high = 1.04});
  EXPECT_NEAR(Case(rounds).mean().interval.high, 1.009853, 1e-6);
  const std::vector<Judged> apart(16, {.ratio = 1, .low = 1 / 1.04, .high = 1.04, .paired = false});
  EXPECT_NEAR(Case(apart).mean().interval.high, 1.04, 1e-12);
  const std::vector<Judged> few(16, {.low = 1 / 1.05, .high = 1.05, .floor = SpreadFloor::assumed_percent});
  EXPECT_NEAR(Case(few).mean().interval.high, 1.05, 1e-12);
  EXPECT_NEAR(Case(rounds, 2).mean().interval.high, 1.009853, 1e-6) << "two sides share the baseline's rounds";
}

// All 77 points are slower by 5%: the reported minimum change holds in 95% of tables.
TEST(ComparisonView, CertainChangeHoldsForAllPoints) {
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
    for (const RowVerdict& row : judge(rows, {})) most = std::max(most, row.certain_change);
    wrong += most > 0.05 ? 1 : 0;
  }
  EXPECT_LE(wrong, 0.06 * trials);
}

// The interval of the mean has its nominal coverage if rounds scatter by 2% and some points are slower.
TEST(ComparisonView, MeanIntervalHasNominalCoverage) {
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
    std::vector<Judged> judged;
    for (const RowVerdict& row : judge(rows, {})) {
      judged.push_back({.ratio = row.time.ratio, .low = row.time.interval.low, .high = row.time.interval.high});
    }
    const RatioInterval mean = Case(judged).mean();
    covered += std::log(mean.interval.low) <= truth && truth <= std::log(mean.interval.high) ? 1 : 0;
  }
  EXPECT_GE(covered, 0.93 * trials);
  EXPECT_LE(covered, 0.99 * trials);
}

constexpr Judged slower{.ratio = 1.1, .low = 1.08, .high = 1.21 / 1.08, .verdict = Verdict::slower};
constexpr Judged faster{.ratio = 0.9, .low = 0.88, .high = 0.93, .verdict = Verdict::faster, .detectable = 0.04};
constexpr Judged open{.verdict = Verdict::ambiguous};

TEST(ComparisonHead, NamesVerdictsAndMean) {
  EXPECT_EQ(text(Case({slower}).view.answer),
            "after against before: 1 of 1 configurations is SLOWER, by 10%. Geometric mean 1.100 [1.080, 1.120].");
  EXPECT_THAT(text(Case({slower, faster, {}, open}).view.answer),
              StartsWith("after against before: 1 of 4 configurations is SLOWER, by 10% (N 1024), and 1 FASTER, by 10% "
                         "(N 2048). 1 SAME, 1 UNDECIDED. Geometric mean "));
  EXPECT_THAT(
      text(Case({{}, {}, open}).view.answer),
      StartsWith("after against before: 2 of 3 SAME, 1 UNDECIDED, none FASTER or SLOWER. Geometric mean 1.000"));
  EXPECT_THAT(text(Case({open}).view.answer), HasSubstr(": 1 of 1 UNDECIDED, none FASTER or SLOWER."));
  EXPECT_EQ(text(Case(std::vector<Judged>()).view.answer), "after against before: nothing compared; 0 not compared.");
  const Case two({slower}, 2);
  EXPECT_THAT(text(two.view.answer), HasSubstr(text(msg::compare::all_candidates{.sides = 2})));
  EXPECT_THAT(text(two.view.answer), HasSubstr("2 of 2 configurations are SLOWER"));
  EXPECT_EQ(text(two.view.select_side(1).answer), text(Case({slower}).view.answer));
  EXPECT_EQ(two.view.select_side(1).count(Verdict::slower), 1U);
  const PointTable none;
  EXPECT_TRUE(view_of(none, ViewRequest()).answer.empty());
}

TEST(ComparisonHead, NamesAnEqualDifferenceOfAllCandidatesOnce) {
  const Case alone({slower});
  const auto differences = [&](const char* second) {
    std::vector<std::shared_ptr<const ComparedSide>> sides;
    for (const char* gpu : {"B", second}) {
      ComparedSide side = *alone.view.sides.front();
      side.result.differences = {
          {.name = msg::difference::gpu{}, .base = {Message::verbatim("A")}, .other = {Message::verbatim(gpu)}}};
      sides.push_back(std::make_shared<const ComparedSide>(std::move(side)));
    }
    return text(view_of(alone.table, std::move(sides)).differences);
  };
  EXPECT_EQ(differences("B"), "Also differs: GPU A → B.");
  EXPECT_EQ(differences("C"), "Also differs: GPU A → B (after), C (after).");
}

TEST(ComparisonHead, NamesChangesAsRange) {
  const auto head = [](double first, double second) {
    Judged one{.ratio = first, .low = first, .high = first, .verdict = first > 1 ? Verdict::slower : Verdict::faster};
    Judged two = one;
    two.ratio = two.low = two.high = second;
    return text(Case({one, two}).view.answer);
  };
  EXPECT_THAT(head(1.026, 1.0344), HasSubstr(", by 2.6 to 3.4%."));
  EXPECT_THAT(head(1.1204, 1.6), HasSubstr(", by 12 to 60%."));
  EXPECT_THAT(head(0.97, 0.97), HasSubstr(", by 3%."));
  EXPECT_THAT(head(2.5, 1.25), HasSubstr(", by a factor of 1.25 to 2.50."));
  EXPECT_THAT(head(0.25, 0.5), HasSubstr(", by a factor of 2 to 4."));
}

TEST(ComparisonHead, SaysWhereOnlyIfExact) {
  // Case has N 1024, 2048, 3072, ...
  const auto named = [](const std::vector<Judged>& judged) {
    const std::string head = text(Case(judged).view.answer);
    return head.substr(head.find(", by 10%") + 8);
  };
  Judged of_fa1 = slower;
  of_fa1.algorithm = "fa1";
  Judged same_fa1;
  same_fa1.algorithm = "fa1";
  EXPECT_THAT(named({of_fa1, {}, of_fa1, {}}), StartsWith(" (fa1). 2 SAME."));
  EXPECT_THAT(named({{}, {}, slower, slower, slower}), StartsWith(" (N ≥ 3072). 2 SAME."));
  EXPECT_THAT(named({{}, slower, slower, slower, {}}), StartsWith(" (N 2048 to 4096). 2 SAME."));
  EXPECT_THAT(named({{}, slower, slower}), StartsWith(" (N ≥ 2048). 1 SAME."));
  EXPECT_THAT(named({same_fa1, slower, of_fa1, of_fa1, of_fa1}), StartsWith(" (N ≥ 2048). 1 SAME."));
  EXPECT_THAT(named({same_fa1, {}, of_fa1, {}, of_fa1, of_fa1}), StartsWith(" (fa1, N ≥ 3072). 3 SAME."));
  EXPECT_THAT(named({slower, {}, slower, {}, slower}), StartsWith(". 2 SAME.")) << "no condition holds for these only";
  EXPECT_THAT(named({slower, slower}), StartsWith(". Geometric mean")) << "all of them";
}

TEST(ComparisonView, EvidenceStartsWithTheDetectableChange) {
  const Case several({slower, faster, {}, open});
  ASSERT_EQ(several.view.evidence.size(), 1U);
  EXPECT_EQ(text(several.view.evidence[0]), text(msg::compare::min_detectable{.median = "2%", .worst = "4%"}));
  EXPECT_TRUE(Case(std::vector<Judged>{{.detectable = 0}}).view.evidence.empty());
  EXPECT_EQ(text(several.view.tally), "FASTER 1, SLOWER 1, SAME 1, UNDECIDED 1, not compared 0.");
}

TEST(RatioText, HasThreeOrFourDigits) {
  const auto shown = [](double ratio) {
    return ratio_text({.ratio = ratio, .interval = {ratio * 0.99, ratio * 1.01}});
  };
  EXPECT_EQ(shown(1), "1.000 [0.990, 1.010]");
  EXPECT_EQ(shown(0.5), "0.500 [0.495, 0.505]");
  EXPECT_EQ(shown(0.016), "0.0160 [0.0158, 0.0162]");
  EXPECT_EQ(shown(62.3), "62.30 [61.68, 62.92]");
  EXPECT_EQ(shown(250), "250.0 [247.5, 252.5]");
}

std::vector<std::string> texts_of(const Table& table, std::string_view key) {
  std::vector<std::string> all;
  const Column* column = table.find(key);
  for (std::size_t row = 0; column != nullptr && row < table.rows; ++row) all.push_back(column->cell(row).text);
  return all;
}

PointRecord timed_at(std::int64_t n, double ns) {
  PointRecord record;
  record.spec = fixtures::spec("fa2", n);
  record.kernels.emplace_back().samples_ns = {ns, ns, ns};
  return record;
}

/// Compares the first run with each other run. The table must outlive the view.
ComparisonView view_of_runs(const PointTable& points) {
  std::vector<std::vector<Row>> runs(points.runs().size());
  for (const Row row : points.rows()) runs[points.run_index(row)].push_back(row);
  ViewRequest request;
  for (std::size_t run = 1; run < runs.size(); ++run) {
    request.sides.push_back({.base_name = points.runs()[0].title,
                             .name = points.runs()[run].title,
                             .base = runs[0],
                             .other = runs[run],
                             .alignment = parse_alignment({}, points, runs[0], runs[run]).value()});
  }
  return view_of(points, request);
}

class ComparisonTables : public ::testing::Test {
 protected:
  static PointTable two_runs(bool third = false) {
    fixtures::Points runs;
    const std::vector<PointRecord> after{timed_at(512, 1300), timed_at(1024, 2000), timed_at(2048, 8010),
                                         timed_at(64, 5)};
    runs.add({timed_at(512, 1000), timed_at(1024, 4000), timed_at(2048, 8000), timed_at(4096, 1e6)},
             fixtures::run(Provenance::measured, "before"));
    runs.add(after, fixtures::run(Provenance::measured, "after"));
    if (third) runs.add(after, fixtures::run(Provenance::measured, "later"));
    return runs.table();
  }

  PointTable points_ = two_runs();
  ComparisonView view_ = view_of_runs(points_);
};

TEST_F(ComparisonTables, DisplayTableListsPairsAndSkippedRows) {
  const auto [table, common] = comparison_table(view_, view_.lines(Lines::all));
  EXPECT_EQ(text(common),
            "All rows: fa2, fwd, d 128, tile 128x64, full, fp16, 1 × 132 heads; assumed intervals; rounds 1.");
  EXPECT_THAT(texts_of(table, "n"), ElementsAre("512", "1024", "2048", "4096", "64"));
  EXPECT_EQ(table.find("d"), nullptr) << "all rows share it";
  EXPECT_THAT(texts_of(table, "verdict"), ElementsAre("SLOWER", "FASTER", "UNDECIDED", "not compared", "not compared"));
  EXPECT_THAT(texts_of(table, "baseline_ns"), ElementsAre("1 µs", "4 µs", "8 µs", "", ""));
  EXPECT_THAT(texts_of(table, "candidate_ns"), ElementsAre("1.300 µs", "2 µs", "8.010 µs", "", ""));
  EXPECT_THAT(texts_of(table, "ratio").front(), StartsWith("1.300 ["));
  EXPECT_EQ(texts_of(table, "note").at(2), "") << "no column of commands";
  EXPECT_THAT(view_.command, StartsWith("attnscope collect --rounds 10 "));
  EXPECT_THAT(texts_of(table, "note").at(3), text(msg::compare::only_in_baseline{}));
  EXPECT_THAT(texts_of(table, "note").at(4), text(msg::compare::not_in_baseline{}));
  EXPECT_EQ(table.find("cycles_ratio"), nullptr) << "nobody counted them";
  EXPECT_EQ(table.find("side"), nullptr) << "there is one";
  EXPECT_EQ(table.columns[0].number(0), table.columns[0].cell(0).number);
  EXPECT_THAT(table.ordered(0, false), ElementsAre(0, 1, 2, 3, 4)) << "regressions first";
  const std::vector<Tone> tones{Tone::worse, Tone::better, Tone::muted};
  for (std::size_t row = 0; row < tones.size(); ++row) EXPECT_EQ(table.tone_of(table.columns[0], row), tones[row]);
  EXPECT_EQ(table.tone_of(*table.find("baseline_ns"), 2), Tone::plain);
  EXPECT_EQ(table.tone_of(*table.find("baseline_ns"), 3), Tone::muted);
  EXPECT_EQ(table.find("baseline_ns")->title, "before");
  EXPECT_EQ(table.find("candidate_ns")->cell(1).row, view_.sides[0]->result.pairs[1].other.front());
  const Table left = skipped_table(view_);
  EXPECT_THAT(texts_of(left, "side"), ElementsAre(text(msg::compare::baseline{}), text(msg::compare::other_side{})));
  EXPECT_THAT(texts_of(left, "points"), ElementsAre("1", "1"));
  EXPECT_EQ(left.find("point")->cell(1).row, view_.sides[0]->result.left_out[1].rows.front());
  EXPECT_THAT(texts_of(skipped_summary(view_), "points"), ElementsAre("1", "1"));
  std::vector<double> worst;
  for (const ComparisonLine& line : view_.worst_first()) worst.push_back(verdict_order(line.pair->verdict));
  EXPECT_TRUE(std::ranges::is_sorted(worst));
}

// Both sides ran at other clocks; the times shown are those of one clock and divide to the ratio.
TEST_F(ComparisonTables, TimesDivideToTheRatio) {
  fixtures::Points two;
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.002);
  for (const double ghz : {1.5, 1.45}) {
    PointRecord record;
    for (int round = 0; round < 8; ++round) {
      const double clock = ghz * (1 + 0.02 * (round % 3));
      PointRecord again = timed_at(4096, 1e6 * (1 + noise(random)) / clock);
      again.clocks = ClockReading{.sm_clock_hz = 1e9 * clock};
      if (round == 0) {
        record = again;
      } else {
        add_round(record, round, again);
      }
    }
    two.add({record}, fixtures::run(Provenance::measured, ghz == 1.5 ? "before" : "after"));
  }
  const PointTable points = two.table();
  const ComparisonView view = view_of_runs(points);
  const ComparedPair& pair = view.sides[0]->result.pairs.at(0);
  ASSERT_TRUE(pair.verdict.one_clock);
  EXPECT_NEAR(pair.compared_ns[1] / pair.compared_ns[0], pair.verdict.time.ratio, 1e-12);
  EXPECT_NEAR(pair.verdict.time.ratio, 1, 0.01) << "at one clock";
  EXPECT_GT(pair.other_ns / pair.base_ns, 1.02) << "as recorded";
  const FactoredTable shown = comparison_table(view, view.worst_first());
  EXPECT_THAT(text(shown.common), HasSubstr("; clock-normalized times"));
  EXPECT_EQ(shown.table.find("baseline_ns")->cell(0).row, std::nullopt) << "no point has this time";
  EXPECT_EQ(shown.table.find("candidate_ns")->number(0), pair.compared_ns[1]);
}

TEST_F(ComparisonTables, OneCommandMeasuresAllOpenRows) {
  const std::vector<PointRecord> before{timed_at(512, 1e5), timed_at(1024, 4e5)};
  const std::vector<PointRecord> after{timed_at(512, 1.01e5), timed_at(1024, 4.01e5)};
  const auto command = [&](const char* preset) {
    fixtures::Points runs;
    for (const auto& [records, title] : {std::pair(before, "before"), {after, "after"}}) {
      analysis::Run run = fixtures::run(Provenance::measured, title);
      run.preset = preset;
      runs.add(records, run);
    }
    const PointTable points = runs.table();
    const ComparisonView view = view_of_runs(points);
    EXPECT_THAT(text(view.decide), HasSubstr(view.command));
    return view.command;
  };
  EXPECT_EQ(command("quick"), "attnscope collect --preset quick --rounds 10 -o rounds.attnscope");
  EXPECT_THAT(command("custom"), ::testing::AllOf(StartsWith("attnscope collect -a 'N=[512,1024]' "),
                                                  HasSubstr(" -a tile=128x64 --rounds 10 ")));
  fixtures::Points one;
  for (const double ns : {1e5, 1.01e5}) one.add({timed_at(512, ns)}, fixtures::run(Provenance::measured));
  const PointTable points = one.table();
  const ComparisonView view = view_of_runs(points);
  EXPECT_EQ(view.command, suggested_command(points, view.sides[0]->result.pairs.at(0), view.margin));
  EXPECT_THAT(view.command, StartsWith("attnscope collect --rounds 10 -a algorithm=fa2 "));
}

TEST_F(ComparisonTables, TimesNoteSimulationAndThrottling) {
  fixtures::Points two;
  PointRecord throttled = timed_at(512, 1000);
  throttled.clocks = ClockReading{.sm_clock_hz = 1e9, .throttled = true};
  two.add({throttled}, fixtures::run(Provenance::measured, "before"));
  PointRecord simulated = timed_at(512, 1150);
  simulated.provenance = Provenance::simulated;
  two.add({simulated}, fixtures::run(Provenance::simulated, "after"));
  const PointTable points = two.table();
  const ComparisonView view = view_of_runs(points);
  const Table table = comparison_table(view, view.lines(Lines::pairs)).table;
  EXPECT_THAT(texts_of(table, "verdict"), ElementsAre("UNDECIDED (simulated)"));
  EXPECT_THAT(texts_of(table, "baseline_ns"), ElementsAre("1 µs (throttled)"));
  EXPECT_THAT(texts_of(table, "candidate_ns"), ElementsAre("1.150 µs (simulated)"));
  EXPECT_EQ(table.find("candidate_ns")->number(0), 1150) << "sorted by the time";
}

TEST_F(ComparisonTables, NamesSeveralCandidates) {
  const PointTable points = two_runs(true);
  const ComparisonView view = view_of_runs(points);
  EXPECT_THAT(texts_of(comparison_table(view, view.lines(Lines::pairs)).table, "side"),
              ElementsAre("after", "after", "after", "later", "later", "later"));
}

TEST_F(ComparisonTables, CandidatesAreColumns) {
  fixtures::Points runs;
  runs.add({timed_at(512, 1000), timed_at(1024, 4000)}, fixtures::run(Provenance::measured, "before"));
  runs.add({timed_at(512, 1010), timed_at(1024, 4010)}, fixtures::run(Provenance::measured, "same"));
  runs.add({timed_at(1024, 8000)}, fixtures::run(Provenance::measured, "slow"));
  const PointTable points = runs.table();
  const ComparisonView view = view_of_runs(points);
  const auto [table, common] = candidates_table(view);
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  EXPECT_THAT(titles, ElementsAre("N", "before", "same", "slow"));
  EXPECT_THAT(texts_of(table, "n"), ElementsAre("1024", "512")) << "worst first";
  EXPECT_THAT(texts_of(table, "baseline_ns"), ElementsAre("4 µs", "1 µs"));
  EXPECT_THAT(texts_of(table, "ratio_2"), ElementsAre("2.000 [1.905, 2.100] SLOWER", "–"));
  EXPECT_EQ(table.tone_of(*table.find("ratio_2"), 0), Tone::worse);
  EXPECT_EQ(table.tone_of(*table.find("ratio_1"), 0), Tone::muted) << "UNDECIDED";
  EXPECT_THAT(text(common), HasSubstr("; assumed intervals"));
  const Table data = candidates_data(view);
  EXPECT_THAT(texts_of(data, "verdict_1"), ElementsAre("UNDECIDED", "UNDECIDED"));
  EXPECT_THAT(texts_of(data, "verdict_2"), ElementsAre("SLOWER", ""));
  EXPECT_THAT(texts_of(data, "ratio_2"), ElementsAre("2", ""));
}

TEST_F(ComparisonTables, ExportTableListsEachRow) {
  const std::vector<std::string> files{"a.attnscope", "b.attnscope"};
  const Table table = comparison_data(view_, files);
  std::vector<std::string> keys;
  for (const Column& column : table.columns) keys.push_back(column.key);
  EXPECT_THAT(
      keys,
      ElementsAre("baseline_file", "candidate_file", "baseline_run", "candidate_run", "baseline_device",
                  "candidate_device", "baseline_point", "candidate_point", "baseline_provenance",
                  "candidate_provenance", "baseline_ns", "candidate_ns", "baseline_compared_ns",
                  "candidate_compared_ns", "ratio", "ratio_low", "ratio_high", "baseline_cycles", "candidate_cycles",
                  "cycles_ratio", "cycles_low", "cycles_high", "rounds", "recordings", "interleaved", "spread_source",
                  "clock_normalized", "clock_shift", "spread", "p_change", "p_same", "verdict", "undecided",
                  "rounds_needed", "differs", "differences", "baseline_tiles", "candidate_tiles", "to_decide",
                  "skipped", "reason", "baseline_dram_bytes", "candidate_dram_bytes", "ratio_dram_bytes",
                  "baseline_dram_settled_bytes", "candidate_dram_settled_bytes", "ratio_dram_settled_bytes",
                  "baseline_l2_sm_bytes", "candidate_l2_sm_bytes", "ratio_l2_sm_bytes"));
  EXPECT_THAT(texts_of(table, "baseline_ns"), ElementsAre("1000", "4000", "8000", "", ""));
  EXPECT_THAT(texts_of(table, "baseline_file"),
              ElementsAre("a.attnscope", "a.attnscope", "a.attnscope", "a.attnscope", ""));
  EXPECT_THAT(texts_of(table, "candidate_run"), ElementsAre("after", "after", "after", "", "after"));
  EXPECT_THAT(texts_of(table, "skipped"), ElementsAre("", "", "", "unmatched", "unmatched"));
  EXPECT_THAT(texts_of(table, "reason").back(), text(msg::compare::not_in_baseline{}));
  EXPECT_THAT(texts_of(table, "verdict"), ElementsAre("SLOWER", "FASTER", "UNDECIDED", "", ""));
}

/// Compares fa2 in `base` with fa1 in `other` at times within the assumed spread.
struct Advice {
  Advice(const analysis::Run& base, const analysis::Run& other, std::size_t rounds = 1) {
    fixtures::Points points;
    for (const auto& [run, algorithm] : {std::pair(base, "fa2"), std::pair(other, "fa1")}) {
      PointRecord record = timed_at(512, 1e5);
      record.spec = fixtures::spec(algorithm, 512);
      record.provenance = run.provenance;
      const PointRecord first = record;
      for (std::size_t k = 1; k < rounds; ++k) {
        PointRecord again = first;
        again.kernels[0].samples_ns[1] = 1e5 * (1 + 0.005 * static_cast<double>(k));
        again.kernels[0].samples_ns[2] = again.kernels[0].samples_ns[1];
        add_round(record, static_cast<int>(k), again);
      }
      points.add({record}, run);
    }
    const PointTable table = points.table();
    const std::vector<std::string> by_problem{"problem"};
    const std::vector<Row> first{0};
    const std::vector<Row> second{1};
    const ComparisonView view =
        view_of(table, {.sides = {{.base_name = "a",
                                   .name = "b",
                                   .base = first,
                                   .other = second,
                                   .alignment = parse_alignment(by_problem, table, first, second).value()}}});
    const ComparedPair& pair = view.sides.at(0)->result.pairs.at(0);
    command = suggested_command(table, pair, 0.01);
    note = text(undecided_note(table, pair, 0.01));
    ratio = ratio_text(view.answers.front().mean);
    answer = view.answers.front();
  }
  std::string command;
  std::string note;
  std::string ratio;
  ComparisonAnswer answer;
};

TEST(Advice, FewRoundsAdviseRoundsAndNoNumber) {
  const analysis::Run measured = fixtures::run(Provenance::measured, "a");
  const Advice few(measured, measured);
  EXPECT_THAT(few.command, StartsWith("attnscope ab "));
  EXPECT_THAT(few.note, HasSubstr(few.command));
  EXPECT_EQ(few.answer.by_rounds.rows + few.answer.by_recordings.rows, 0U) << "nobody knows the spread";
}

TEST(Advice, InterleavesOneGpuOnly) {
  const analysis::Run here = fixtures::run(Provenance::measured, "a");
  analysis::Run there = here;
  there.device_id = "GPU-of-the-same-name";
  for (const std::size_t rounds : {1U, 5U}) {
    const Advice two(here, there, rounds);
    EXPECT_THAT(two.command, StartsWith("attnscope collect")) << rounds;
    EXPECT_THAT(two.note, Not(HasSubstr("attnscope ab"))) << rounds;
    EXPECT_EQ(two.answer.by_rounds.rows, 0U) << rounds;
    EXPECT_EQ(two.answer.by_recordings.rows, rounds == 1 ? 0U : 1U) << rounds;
  }
}

TEST(Advice, ImportsAndUnknownErrorsHaveNoCommand) {
  const analysis::Run measured = fixtures::run(Provenance::measured, "a");
  const analysis::Run imported = fixtures::run(Provenance::imported, "b");
  EXPECT_EQ(Advice(measured, imported).command, "");
  analysis::Run l40s = fixtures::run(Provenance::simulated, "c");
  l40s.limits = *find_gpu("L40S");
  const Advice unknown(measured, l40s);
  EXPECT_EQ(unknown.command, "");
  EXPECT_EQ(unknown.ratio, text(msg::compare::unknown_ratio{}));
  EXPECT_THAT(unknown.note, HasSubstr(text(msg::compare::not_validated{})));
}

TEST(VerdictOrder, SortsByVerdictAndChange) {
  std::vector<double> order;
  for (const auto& [verdict, ratio] :
       {std::pair(Verdict::slower, 2.0), std::pair(Verdict::slower, 1.1), std::pair(Verdict::faster, 0.5),
        std::pair(Verdict::faster, 0.9), std::pair(Verdict::ambiguous, 1.2), std::pair(Verdict::ambiguous, 0.8),
        std::pair(Verdict::same, 1.009), std::pair(Verdict::same, 1.0)}) {
    RowVerdict row;
    row.verdict = verdict;
    row.time.ratio = ratio;
    order.push_back(verdict_order(row));
  }
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

}  // namespace
}  // namespace attnscope::analysis

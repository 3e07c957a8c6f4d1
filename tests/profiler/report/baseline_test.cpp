// SPDX-License-Identifier: Apache-2.0
// Reports with a baseline, and checks of the numbers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "kernels/model/ceilings.h"
#include "messages/compare.h"
#include "messages/curve_plot.h"
#include "messages/difference.h"
#include "messages/report.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/published_errors.h"
#include "profiler/report/document.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"
#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"
#include "tests/profiler/report/documents.h"

namespace attnscope::report {
namespace {

using test::matches;
using test::MatchesMessage;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Multiplies the sample times of one algorithm by `by`.
std::vector<PointRecord> slowed(std::vector<PointRecord> records, const std::string& algorithm, double by) {
  for (PointRecord& record : records) {
    if (record.spec.algorithm != algorithm) continue;
    for (KernelRecord& kernel : record.kernels) {
      for (double& ns : kernel.samples_ns) ns *= by;
    }
  }
  return records;
}

fixtures::Points two_runs_of(const std::vector<PointRecord>& before, const std::vector<PointRecord>& after) {
  fixtures::Points points;
  points.add(before, fixtures::run(Provenance::measured, "before"));
  points.add(after, fixtures::run(Provenance::measured, "after", "2026-02-01T00:00:00Z"));
  return points;
}

Document compared_document(const fixtures::Points& points) {
  const Request request{.baseline = {0}};
  const Result<Document, Message> document = make_report(documents::input_of(points), request);
  EXPECT_TRUE(document.ok());
  return document.ok() ? *document : Document{};
}

Table verdicts_of(const Document& document) {
  return documents::table(document, "verdicts");
}

std::size_t count_of(const std::vector<std::string>& sentences, const Message& message) {
  return static_cast<std::size_t>(
      std::ranges::count_if(sentences, [&](const std::string& sentence) { return matches(sentence, message); }));
}

std::size_t count_of(const Table& verdicts, const char* verdict) {
  return static_cast<std::size_t>(std::ranges::count(documents::column(verdicts, "verdict"), verdict));
}

TEST(ReportBaseline, FirstPageHasAnswerRatiosAndWorstRows) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(two_runs_of(before, slowed(before, "fa2", 1.25)));
  EXPECT_EQ(document.title,
            text(msg::report::title_compared{.base = "before", .devices = "NVIDIA H200", .other = "after"}));
  EXPECT_THAT(document.warnings, IsEmpty());
  EXPECT_THAT(
      document.answer.text(),
      ::testing::StartsWith("after against before: 7 of 20 configurations are SLOWER, by 25% (fa2). 13 UNDECIDED."));
  ASSERT_TRUE(document.figure && document.table);
  const auto& strips = std::get<StripChart>(document.figure->panels.at(0).picture);
  ASSERT_EQ(strips.rows.size(), 3U);
  EXPECT_EQ(strips.rows.back().label, "FA2 d 128");
  EXPECT_EQ(strips.rows.back().marks.size(), 7U);
  for (const StripRow& row : strips.rows) {
    for (const StripMark& mark : row.marks) EXPECT_EQ(mark.low < mark.high, row.label == "FA2 d 128") << "decided";
  }
  EXPECT_EQ(strips.margin, 0.015);
  const Table& table = *document.table;
  EXPECT_THAT(table.caption, ::testing::StartsWith(text(msg::report::worst_caption{.all = 7, .rows = 7})));
  EXPECT_THAT(table.caption, HasSubstr("All rows: fa2, fwd, d 128, "));
  EXPECT_THAT(documents::column(table, "verdict"), ::testing::Each("SLOWER"));
  EXPECT_THAT(documents::column(table, "ratio"), ::testing::Each(HasSubstr("1.250 [")));
  EXPECT_EQ(table.rows.front().front().tone, analysis::Tone::worse);
  EXPECT_THAT(document.measured.at(1), HasSubstr("Min. detectable change: median "));
  EXPECT_LE(document.sections.size(), 6U);
  const Table verdicts = verdicts_of(document);
  EXPECT_EQ(verdicts.rows.size(), 20U) << "every point that both have";
  EXPECT_EQ(documents::column(verdicts, "verdict").front(), "SLOWER");
  // Naive is out of memory at the longest N on both sides.
  EXPECT_THAT(documents::column(documents::table(document, "not-compared"), "why"),
              Contains(HasSubstr("out-of-memory")));
}

TEST(ReportBaseline, PageAndFileHaveTheSameRatios) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(two_runs_of(before, slowed(before, "fa2", 1.25)));
  const MarkdownFiles files = to_markdown(document, "x");
  EXPECT_THAT(files.text, AllOf(HasSubstr("| SLOWER |"), HasSubstr("(<x/verdicts.csv>)")));
  const auto attached = std::ranges::find(files.attachments, "verdicts.csv", &MarkdownFiles::File::name);
  ASSERT_NE(attached, files.attachments.end());
  EXPECT_THAT(attached->content, ::testing::StartsWith("baseline_file,candidate_file,"));
  EXPECT_THAT(attached->content, AllOf(HasSubstr(",1.25"), HasSubstr(",SLOWER,")));
  EXPECT_EQ(std::ranges::count(attached->content, '\n'), 1 + 20 + 2)
      << "header, pairs, and one point without a time per side";
  EXPECT_THAT(to_html(document), HasSubstr(R"(<span class="worse">SLOWER</span>)"));
}

TEST(ReportBaseline, SidesAreNamedByGpuOrFile) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  Input input = documents::input_of(two_runs_of(records, records));
  const auto names = [&] { return make_report(input, {.baseline = {0}}).value().answer.text(); };
  EXPECT_THAT(names(), ::testing::StartsWith("after against before: ")) << "runs of one file";
  input.runs[0].file = "old.attnscope";
  input.runs[1].file = "folder/new.attnscope";
  EXPECT_THAT(names(), ::testing::StartsWith("folder/new against old: "));
  fixtures::Points gpus;
  gpus.add(records, fixtures::run(Provenance::measured, "before"));
  analysis::Run h100 = fixtures::run(Provenance::measured, "after");
  h100.device_name = "NVIDIA H100 PCIe";
  h100.device_id = "another";
  gpus.add(records, h100);
  const Document document = compared_document(gpus);
  EXPECT_EQ(document.title, text(msg::report::title_devices{.base = "H200", .other = "H100 PCIe"}));
  const Figure time = documents::figure(document, "time").value();
  ASSERT_EQ(time.panels.size(), 1U) << "equal times are one panel";
  EXPECT_THAT(time.title, HasSubstr("H200 = H100 PCIe"));
}

TEST(ReportBaseline, GpusArePanelsWithEqualAxes) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  fixtures::Points gpus;
  analysis::Run h100 = fixtures::run(Provenance::measured, "after");
  h100.device_name = "NVIDIA H100 PCIe";
  h100.device_id = "another";
  gpus.add(slowed(records, "fa2", 3), h100);
  gpus.add(records, fixtures::run(Provenance::measured, "before"));
  const Figure time =
      documents::figure(make_report(documents::input_of(gpus), {.baseline = {1}}).value(), "time").value();
  ASSERT_EQ(time.panels.size(), 2U);
  EXPECT_EQ(time.panels[0].panel, "H200") << "the baseline";
  EXPECT_EQ(time.panels[1].panel, "H100 PCIe");
  const auto& one = std::get<LineChart>(time.panels[0].picture);
  const auto& other = std::get<LineChart>(time.panels[1].picture);
  EXPECT_LT(one.y.low, one.y.high);
  EXPECT_EQ(std::pair(one.y.low, one.y.high), std::pair(other.y.low, other.y.high));
  EXPECT_THAT(to_svg(time, Placement::embedded), AllOf(HasSubstr(">H200<"), HasSubstr(">H100 PCIe<")));
  ASSERT_TRUE(time.ratios);
  EXPECT_THAT(
      time.caption,
      HasSubstr(text(msg::report::panel_ratio_key{
          .columns = text(msg::curve_plot::slope{}), .device = "H200", .percent = "3", .sides = "H100 / H200"})));
  EXPECT_EQ(time.ratios->band, analysis::ratio_margin);
  for (const Line& line : time.ratios->lines) {
    for (const Mark& mark : line.marks) EXPECT_NEAR(mark.y, line.label == "FA2" ? 3 : 1, 1e-9) << line.label;
  }
  const Legend& legend = time.legend;
  EXPECT_EQ(legend.columns, (std::vector<std::string>{"H200", "H100", text(msg::curve_plot::slope{})}));
  const auto fa2 = std::ranges::find(legend.rows, "FA2", [](const LegendRow& row) { return row.look.label; });
  ASSERT_NE(fa2, legend.rows.end());
  const Line& line = documents::lines_of(time).at(static_cast<std::size_t>(fa2 - legend.rows.begin()));
  EXPECT_EQ(legend.corner, "N 8k") << "Naive has no longer N";
  const Mark& mark = *std::ranges::find(line.marks, 8192, &Mark::x);
  EXPECT_EQ(fa2->cells.at(0), text(Nanoseconds(mark.y)));
  EXPECT_EQ(fa2->cells.at(1), text(Nanoseconds(3 * mark.y)));
}

TEST(ReportBaseline, VerdictsFollowData) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const auto verdicts = [&](const std::vector<PointRecord>& after) {
    return verdicts_of(compared_document(two_runs_of(before, after)));
  };
  EXPECT_EQ(count_of(verdicts(before), "FASTER") + count_of(verdicts(before), "SLOWER"), 0U);
  const Table faster = verdicts(slowed(before, "fa1", 0.5));
  EXPECT_EQ(count_of(faster, "FASTER"), 7U);
  EXPECT_EQ(count_of(faster, "SLOWER"), 0U);
  // A single point.
  std::vector<PointRecord> one = before;
  const auto changed = std::ranges::find_if(
      one, [](const PointRecord& record) { return record.spec.algorithm == "fa2" && record.spec.problem.n_k == 1024; });
  for (double& ns : changed->kernels.front().samples_ns) ns *= 1.5;
  const Table verdict = verdicts(one);
  EXPECT_EQ(count_of(verdict, "SLOWER"), 1U);
  EXPECT_EQ(documents::column(verdict, "algorithm").front() + documents::column(verdict, "n").front(), "fa21024");
  EXPECT_THAT(documents::column(verdict, "ratio").front(), HasSubstr("1.500"));
}

TEST(ReportBaseline, TimesLeadToRowsWithTheSameTime) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  fixtures::Points points;
  std::size_t run = 0;
  for (const double by : {1.0, 1.01, 0.97, 1.02, 0.99}) {
    std::vector<PointRecord> repeated = records;
    for (const char* algorithm : {"naive", "fa1", "fa2"}) repeated = slowed(std::move(repeated), algorithm, by);
    points.add(repeated, fixtures::run(Provenance::measured, fmt::format("run {}", run++)));
  }
  const Input input = documents::input_of(points);
  const analysis::ValueColumn& times = input.table.values(metric_key::time_median_ns);
  const auto links_of = [&](const std::vector<analysis::RunIndex>& baseline) {
    const Document document = make_report(input, {.baseline = baseline}).value();
    const Table verdicts = verdicts_of(document);
    std::map<std::string, std::size_t> links;
    for (std::size_t k = 0; k < verdicts.columns.size(); ++k) {
      for (const std::vector<TableCell>& row : verdicts.rows) {
        if (!row[k].row) continue;
        ++links[verdicts.columns[k].key];
        EXPECT_EQ(row[k].number, times.at(*row[k].row)) << row[k].text;
      }
    }
    return links;
  };
  using Links = std::map<std::string, std::size_t>;
  EXPECT_EQ(links_of({0}), (Links{{"baseline_ns", 20}})) << "the candidate's time is the baseline's times the ratio";
  EXPECT_EQ(links_of({0, 1}), Links()) << "the median of two recordings is the time of none";
}

TEST(ReportBaseline, ListsAPointThatFailsOnBothSidesOnce) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(two_runs_of(before, before));
  EXPECT_THAT(documents::column(documents::table(document, "not-compared"), "side"),
              ElementsAre(text(msg::compare::both_sides{})));
  EXPECT_THAT(document.measured.at(1), HasSubstr("not compared 1."));
}

TEST(ReportBaseline, CountsLinesThatAreNotDrawn) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  records.push_back(fixtures::ok_point(fixtures::spec("fa3", 1024)));
  const auto ratios = [](const std::vector<PointRecord>& both) {
    return documents::figure(compared_document(two_runs_of(both, both)), "comparison");
  };
  EXPECT_THAT(ratios(records).value().caption, HasSubstr(text(msg::report::ratio_one_length{.lines = 1})));
  // Eight lines of two points.
  records.clear();
  for (const std::int64_t d : {32, 48, 64, 80, 96, 112, 128, 144}) {
    for (const std::int64_t n : {1024, 2048})
      records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, d)));
  }
  const Figure many = ratios(records).value();
  EXPECT_THAT(many.caption, HasSubstr(text(msg::report::ratio_excess{.lines = 2, .most = 6})));
  EXPECT_THAT(documents::lines_of(many).front().label, ::testing::StartsWith("FA2 d "));
  EXPECT_FALSE(ratios(fixtures::tile_sweep())) << "tiles at one N";
}

TEST(ReportBaseline, OneCommandDecidesUndecidedRows) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(two_runs_of(before, before));
  const Table verdicts = verdicts_of(document);
  EXPECT_GT(count_of(verdicts, "UNDECIDED"), 3U);
  EXPECT_EQ(std::ranges::find(verdicts.columns, "note", &analysis::Column::key), verdicts.columns.end());
  const std::vector<std::string> sentences = documents::sentences(document);
  EXPECT_EQ(
      std::ranges::count_if(
          sentences, [](const std::string& each) { return each.find("attnscope collect ") != std::string::npos; }),
      1);
}

TEST(ReportBaseline, RowsShowThrottledSide) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  std::vector<PointRecord> after = slowed(before, "fa2", 2);
  for (PointRecord& record : after) record.clocks = ClockReading{.sm_clock_hz = 1e9, .throttled = true};
  const Table verdicts = verdicts_of(compared_document(two_runs_of(before, after)));
  EXPECT_THAT(documents::column(verdicts, "baseline_ns"), ::testing::Each(Not(HasSubstr("throttled"))));
  EXPECT_THAT(documents::column(verdicts, "candidate_ns"), ::testing::Each(HasSubstr("(throttled)")));
}

TEST(ReportBaseline, OlderRunsAreDashed) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(two_runs_of(before, slowed(before, "fa2", 2)));
  for (const char* section : {"io", "time", "roofline"}) {
    std::map<std::string, std::array<const Line*, 2>> lines;  // baseline and candidate, by algorithm
    const Figure figure = documents::figure(document, section).value();
    for (const Line& line : documents::lines_of(figure)) {
      if (line.provenance == Provenance::modeled) continue;
      const std::size_t dot = line.label.find(" · ");
      const bool of_before = line.label.find("before") != std::string::npos;
      ASSERT_TRUE(of_before || line.label.find("after") != std::string::npos) << line.label;
      lines[line.label.substr(0, dot)].at(of_before ? 0 : 1) = &line;
    }
    ASSERT_EQ(lines.size(), 3U) << section;
    std::set<PlotSlot> slots;
    for (const auto& [algorithm, of] : lines) {
      EXPECT_EQ(of[0]->identity, of[1]->identity) << section << ' ' << algorithm;
      EXPECT_TRUE(of[0]->dashed && !of[1]->dashed) << section << ": the older run of " << algorithm << " is dashed";
      slots.insert(of[0]->identity->slot);
    }
    EXPECT_EQ(slots.size(), 3U) << section;
    const std::string svg = to_svg(figure, Placement::alone);
    EXPECT_THAT(svg, AllOf(HasSubstr("class=\"f c00\""), HasSubstr("class=\"l s q c00\"")));
  }
}

TEST(ReportBaseline, ComparesNothingWithoutBaseline) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = documents::document_of(two_runs_of(before, slowed(before, "fa2", 2)));
  EXPECT_FALSE(documents::figure(document, "comparison"));
  EXPECT_THAT(verdicts_of(document).rows, IsEmpty());
  EXPECT_THAT(document.answer.text(), Not(HasSubstr("SLOWER")));
}

TEST(ReportBaseline, ReportsMissingMatchesInOneLine) {
  fixtures::Points points = two_runs_of({fixtures::ok_point(fixtures::spec("fa2", 512))}, fixtures::tile_sweep());
  for (const char* title : {"later", "latest", "last"}) {
    points.add(fixtures::tile_sweep(), fixtures::run(Provenance::measured, title));
  }
  const Document document = compared_document(points);
  ASSERT_EQ(document.warnings.size(), 1U);
  EXPECT_THAT(document.warnings.front(),
              MatchesMessage(msg::report::no_partners{
                  .alignment = "*",
                  .base = "before",
                  .other = msg::compare::pooled{.name = msg::report::runs_named{.first = "after", .more = 3},
                                                .recordings = 4}}));
  EXPECT_THAT(document.answer.text(), ::testing::StartsWith(document.warnings.front()));
}

TEST(ReportBaseline, ReportsMatchesWithoutValues) {
  const std::vector<PointRecord> before{fixtures::ok_point(fixtures::spec("fa2", 512))};
  std::vector<PointRecord> after = before;
  after.front().disposition = Disposition::crashed;
  const Document document = compared_document(two_runs_of(before, after));
  ASSERT_EQ(document.warnings.size(), 1U);
  EXPECT_THAT(document.warnings.front(), MatchesMessage(msg::report::no_pairs{.base = "before", .other = "after"}));
}

TEST(ReportBaseline, ListsUnmatchedPointsAndDifferences) {
  std::vector<PointRecord> before = fixtures::memory_wall();
  const std::vector<PointRecord> after = before;
  std::erase_if(before, [](const PointRecord& record) { return record.spec.problem.n_k == 512; });
  Input input = documents::input_of(two_runs_of(before, after));
  const Message driver = msg::difference::driver{};
  input.runs[0].conditions = {{driver, Message::verbatim("570.1")}};
  input.runs[1].conditions = {{driver, Message::verbatim("580.2")}};
  Request request;
  request.baseline = {0};
  const Result<Document, Message> document = make_report(input, request);
  ASSERT_TRUE(document.ok());
  const Table differences = documents::table(*document, "differences");
  ASSERT_EQ(differences.rows.size(), 1U) << "what is alike is not listed";
  EXPECT_EQ(documents::column(differences, "baseline").front(), "570.1");
  EXPECT_EQ(documents::column(differences, "candidate").front(), "580.2");
  EXPECT_THAT(documents::sentences(*document), Contains("Also differs: driver 570.1 → 580.2."));
  EXPECT_EQ(
      count_of(documents::column(documents::table(*document, "not-compared"), "why"), msg::compare::not_in_baseline{}),
      3U);
}

TEST(ReportBaseline, ComparesBestTilesOfTwoGpus) {
  const auto tile_of = [](int br, double by) {
    PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024, br));
    for (double& ns : record.kernels.front().samples_ns) ns = 1000 * by * (1 + 1e-6 * ns / 1e9);
    return record;
  };
  analysis::Run h100 = fixtures::run(Provenance::measured, "after", "2026-02-01T00:00:00Z");
  h100.device_name = "NVIDIA H100 80GB HBM3";
  fixtures::Points points;
  points.add({tile_of(64, 1), tile_of(128, 0.9)}, fixtures::run(Provenance::measured, "before"));
  points.add({tile_of(64, 1.8)}, h100);
  Request request{.baseline = {0}};
  const auto verdicts = [&] { return verdicts_of(make_report(documents::input_of(points), request).value()); };
  EXPECT_THAT(documents::column(verdicts(), "ratio"), ElementsAre(HasSubstr("2.000")));
  EXPECT_THAT(verdicts().caption,
              AllOf(HasSubstr("128x64 → 64x64"), HasSubstr(text(msg::compare::best_of{.base = 2, .other = 1}))));
  request.tiles = analysis::ComparedTiles::equal;
  EXPECT_THAT(documents::column(verdicts(), "ratio"), ElementsAre(HasSubstr("1.800")));
}

TEST(ReportBaseline, NamesUpToThreeRuns) {
  fixtures::Points points;
  for (const char* name : {"a", "b", "c"})
    points.add({fixtures::ok_point(fixtures::spec("fa2", 512))}, fixtures::run(Provenance::measured, name));
  const auto names = [&] {
    const analysis::PointTable table = points.table();
    return run_names(table, table.rows());
  };
  EXPECT_EQ(names(), "a, b, c");
  points.add({fixtures::ok_point(fixtures::spec("fa2", 512))}, fixtures::run(Provenance::measured, "d"));
  EXPECT_EQ(names(), text(msg::report::runs_named{.first = "a", .more = 3}));
}

TEST(ReportBaseline, NamesChangedKernels) {
  const auto sentences = [](const std::string& digest) {
    fixtures::Points points;
    for (const auto& [title, each] : {std::pair<std::string, std::string>{"before", "abc"}, {"after", digest}}) {
      analysis::Run run = fixtures::run(Provenance::measured, title);
      run.nvrtc = "13.0";
      PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
      record.kernels.front().launch.emplace().digest = each;
      points.add({record}, run);
    }
    return documents::sentences(compared_document(points));
  };
  const Message changed = msg::compare::changed_kernels{.algorithms = "FA2"};
  EXPECT_EQ(count_of(sentences("abd"), changed), 1U);
  EXPECT_EQ(count_of(sentences("abc"), changed), 0U);
}

TEST(ReportBaseline, SimulatedPointsAreSeparateCandidate) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  fixtures::Points points = two_runs_of(before, slowed(before, "fa2", 1.2));
  points.add(fixtures::memory_wall(true), fixtures::run(Provenance::simulated, "simulated"));
  const Document document = compared_document(points);
  EXPECT_THAT(document.answer.text(), AllOf(HasSubstr("after against before: 7 of 20 configurations are SLOWER"),
                                            HasSubstr("simulated against before: ")));
  EXPECT_THAT(document.title, HasSubstr(text(msg::compare::all_candidates{.sides = 2})));
  EXPECT_THAT(documents::column(*document.table, "ratio_1").front(), HasSubstr(" SLOWER")) << "worst first";
  EXPECT_EQ(document.table->columns.back().title, "simulated");
  EXPECT_LE(document.table->rows.size(), 8U);
  const auto& strips = std::get<StripChart>(document.figure->panels.at(0).picture);
  EXPECT_EQ(strips.rows.size(), 6U);
  EXPECT_EQ(strips.margin, 0.015) << "the wider of both";
  for (const StripRow& row : strips.rows) {
    EXPECT_EQ(row.marks.front().hollow, row.label.find("simulated") != std::string::npos) << row.label;
  }
  const Figure ratios = documents::figure(document, "comparison").value();
  ASSERT_EQ(ratios.panels.size(), 2U);
  for (const Chart& chart : ratios.panels) {
    const auto& lines = std::get<LineChart>(chart.picture).lines;
    EXPECT_EQ(lines.front().provenance, chart.panel == "simulated" ? Provenance::simulated : Provenance::measured);
    EXPECT_EQ(lines.front().marks.size(), 7U);
  }
}

TEST(ReportChecks, ShowsPublishedErrors) {
  const auto lines = [](const fixtures::Points& points) {
    return documents::sentences(documents::document_of(points));
  };
  const Message of_errors = msg::report::errors{.gpu = "*", .list = "*"};
  EXPECT_EQ(count_of(lines(fixtures::Points(fixtures::memory_wall())), of_errors), 0U);
  const std::vector<std::string> sentences = lines(fixtures::Points(fixtures::memory_wall(true)));
  EXPECT_EQ(count_of(sentences, msg::report::errors_none{.what = "*"}), 0U);
  const analysis::PublishedErrors& errors = *analysis::validated_errors(*find_gpu("H200"));
  for (const char* algorithm : {"naive", "fa1", "fa2"}) {
    const analysis::ErrorRow* row = errors.find(algorithm, Pass::fwd, "time");
    ASSERT_NE(row, nullptr) << algorithm;
    const Message error = msg::report::error_of{.algorithm = algorithm,
                                                .half = row->half,
                                                .median = text(Share(row->median)),
                                                .p95 = text(Share(row->p95)),
                                                .pass = "fwd",
                                                .quantity = msg::report::median_time{}};
    EXPECT_EQ(count_of(sentences, msg::report::errors{.gpu = "*", .list = make_message("*{}*", error)}), 1U)
        << algorithm;
  }
  // Failed points have no errors.
  fixtures::Points failed;
  failed.add({fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::infeasible, "too much")},
             fixtures::run(Provenance::simulated, "simulated"));
  EXPECT_EQ(count_of(lines(failed), of_errors), 0U);
}

TEST(ReportChecks, WarnsAboutUnvalidatedGpu) {
  const auto warnings = [](const std::string& device) {
    fixtures::Points points;
    analysis::Run run = fixtures::run(Provenance::simulated, "simulated");
    run.device_name = device;
    run.limits = *find_gpu(device);
    points.add(fixtures::memory_wall(true), run);
    const std::vector<std::string> lines = documents::sentences(documents::document_of(points));
    const std::size_t warned = count_of(lines, msg::report::errors_none{.what = "*"});
    EXPECT_EQ(count_of(lines, msg::report::errors_none{.what = "*(" + device + ")*"}), warned);
    return warned;
  };
  for (const char* known : {"NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM"}) EXPECT_EQ(warnings(known), 0U);
  EXPECT_EQ(warnings("NVIDIA A100 80GB"), 1U);
}

TEST(ReportChecks, UsesMeasuredCeilings) {
  Input input = documents::input_of(fixtures::Points(fixtures::memory_wall()));
  const auto roofs = [&] { return documents::figure(make_report(input, {}).value(), "roofline").value(); };
  EXPECT_THAT(roofs().caption, HasSubstr(text(msg::report::roof_datasheet{})));
  CeilingFacts set;
  set.device_id = input.table.runs().front().device_id;
  set.device_name = input.table.runs().front().device_name;
  set.measured_at = "2026-01-02T03:04:05Z";
  set.ceilings = {{.name = std::string(ceiling_key::dram_read), .value = 3.3e12, .unit = "byte/s"}};
  const std::string here = text(msg::report::roof_measured{.time = set.measured_at});
  CeilingFacts older = set;
  older.measured_at = "2025-01-02T03:04:05Z";
  for (const auto& sets : {std::vector{older, set}, std::vector{set, older}, std::vector{set}}) {
    input.ceilings = sets;
    EXPECT_THAT(roofs().caption, HasSubstr(here));
  }
  const Figure measured = roofs();
  const std::vector<Line>& lines = documents::lines_of(measured);
  EXPECT_TRUE(std::ranges::any_of(lines, [&](const Line& line) {
    return !line.marks.empty() && line.marks.front().read_out_text.find("3.30 TB/s, " + here) != std::string::npos;
  }));
  input.ceilings.front().device_id = "another";
  const std::string elsewhere = text(msg::report::roof_same_model{.device = set.device_name, .time = set.measured_at});
  EXPECT_THAT(roofs().caption, HasSubstr(elsewhere));
  input.ceilings.front().device_name = "NVIDIA Else";
  EXPECT_THAT(roofs().caption, Not(HasSubstr(set.measured_at)));
}

TEST(ReportChecks, ListsCaveats) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  records[0].clocks = ClockReading{.sm_clock_hz = 1e9, .throttled = true};
  records[1].clocks = ClockReading{.sm_clock_hz = 1.9e9};
  Input input = documents::input_of(fixtures::Points(records));
  const auto line = [&] { return make_report(input, {}).value().measured.at(1); };
  const std::string throttled = text(msg::report::is_throttled{.all = 20, .points = 1});
  EXPECT_EQ(line(), fmt::format("{} {} {}",
                                text(msg::report::clocks{.range = msg::report::range{.high = "1980", .low = "1000"}}),
                                throttled, text(msg::report::rounds{.range = "1"})));
  input.damaged_rows = 2;
  input.first_damage = Message::verbatim("a.attnscope, point 12: wall_seconds inf");
  input.unverified_runs = 3;
  input.filter = "d:128";
  input.unfiltered_count = 99;
  EXPECT_THAT(line(), AllOf(HasSubstr(throttled),
                            HasSubstr(text(msg::report::is_filtered{.all = 99, .filter = "d:128", .points = 21})),
                            HasSubstr(text(msg::report::is_damaged{.damage = input.first_damage, .rows = 2})),
                            HasSubstr(text(msg::report::is_unverified{.runs = 3}))));
}

TEST(ReportChecks, MarksThrottledTimes) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (PointRecord& record : records) {
    if (record.spec.algorithm == "fa2") record.clocks = ClockReading{.sm_clock_hz = 1e9, .throttled = true};
  }
  const Document document = documents::document_of(records);
  const std::vector<std::string> algorithms = documents::column(*document.table, "algorithm");
  const std::vector<std::string> times = documents::column(*document.table, "time");
  const std::string mark = text(msg::report::throttled_time{.time = ""});
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_EQ(times[i].ends_with(mark), algorithms[i] == "fa2") << algorithms[i];
}

}  // namespace
}  // namespace attnscope::report

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
#include "messages/difference.h"
#include "messages/report.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/published_errors.h"
#include "profiler/report/report_parts.h"
#include "profiler/report/writers.h"
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
  return documents::table(document, "verdicts-1");
}

std::size_t count_of(const std::vector<std::string>& sentences, const Message& message) {
  return static_cast<std::size_t>(
      std::ranges::count_if(sentences, [&](const std::string& sentence) { return matches(sentence, message); }));
}

std::size_t count_of(const Table& verdicts, const char* verdict) {
  return static_cast<std::size_t>(std::ranges::count(documents::column(verdicts, "verdict"), verdict));
}

Message answer(const std::string& other, const MessageValue& faster = "*", const MessageValue& slower = "*") {
  return make_message("{}*", text(msg::compare::answer{.base = "before",
                                                       .faster = faster,
                                                       .left = "*",
                                                       .mean = "*",
                                                       .other = other,
                                                       .problems = "*",
                                                       .same = "*",
                                                       .slower = slower,
                                                       .undecided = "*"}));
}

TEST(ReportBaseline, ShowsAnswerAndWorstRows) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(two_runs_of(before, slowed(before, "fa2", 1.25)));
  EXPECT_THAT(document.title, MatchesMessage(msg::report::title_compared{.base = "before", .devices = "*"}));
  EXPECT_THAT(document.warnings, IsEmpty());
  const std::vector<std::string> sentences = documents::sentences(document);
  EXPECT_THAT(sentences.at(0), MatchesMessage(answer("*", 0, 7)));
  EXPECT_EQ(count_of(sentences, msg::compare::min_detectable{.median = "*", .worst = "*"}), 1U);
  const std::size_t of_rounds =
      count_of(sentences, msg::compare::decide_by_rounds{.open = "*", .rounds = "*", .rows = "*"});
  const std::size_t of_recordings =
      count_of(sentences, msg::compare::decide_by_recordings{.open = "*", .rows = "*", .times = "*"});
  EXPECT_EQ(of_rounds + of_recordings, 0U) << "the spread between rounds is unknown";
  const auto worst =
      std::ranges::find_if(document.answer, [](const Block& block) { return std::holds_alternative<Table>(block); });
  ASSERT_NE(worst, document.answer.end());
  const auto& table = std::get<Table>(*worst);
  EXPECT_THAT(table.caption, MatchesMessage(msg::report::worst_caption{.all = 7, .rows = 7}));
  EXPECT_THAT(documents::column(table, "verdict"), ::testing::Each("SLOWER"));
  EXPECT_THAT(documents::column(table, "point"), ::testing::Each(HasSubstr("fa2")));
  EXPECT_THAT(documents::column(table, "ratio"), ::testing::Each(HasSubstr("1.250 [")));
  const Table verdicts = verdicts_of(document);
  EXPECT_EQ(verdicts.rows.size(), 20U) << "every point that both have";
  EXPECT_EQ(documents::column(verdicts, "verdict").front(), "SLOWER");
  // Naive is out of memory at the longest N on both sides.
  EXPECT_THAT(documents::column(documents::table(document, "not-compared-1"), "why"),
              Contains(HasSubstr("out-of-memory")));
  const MarkdownFiles files = to_markdown(document, "x");
  EXPECT_THAT(files.text, AllOf(HasSubstr("| SLOWER |"), HasSubstr("(<x/verdicts-1.csv>)")));
  const auto attached = std::ranges::find(files.attachments, "verdicts-1.csv", &MarkdownFiles::File::name);
  ASSERT_NE(attached, files.attachments.end());
  EXPECT_THAT(attached->content, HasSubstr("\"1.250 ["));
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
  EXPECT_EQ(documents::column(verdict, "point").front(), describe(changed->spec));
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
      for (const std::vector<analysis::Cell>& row : verdicts.rows) {
        if (!row[k].row) continue;
        ++links[verdicts.columns[k].key];
        EXPECT_EQ(row[k].number, times.at(*row[k].row)) << row[k].text;
      }
    }
    return links;
  };
  using Links = std::map<std::string, std::size_t>;
  EXPECT_EQ(links_of({0}), (Links{{"baseline_ns", 20}})) << "the median of four recordings is the time of none";
  EXPECT_EQ(links_of({0, 1}), (Links{{"candidate_ns", 20}}));
}

TEST(ReportBaseline, ListsAPointThatFailsOnBothSidesOnce) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(two_runs_of(before, before));
  EXPECT_THAT(documents::column(documents::table(document, "not-compared-1"), "side"),
              ElementsAre(text(msg::compare::both_sides{})));
  EXPECT_THAT(documents::sentences(document).at(0),
              MatchesMessage(make_message("{}*", text(msg::compare::answer{.base = "before",
                                                                           .faster = "*",
                                                                           .left = 1,
                                                                           .mean = "*",
                                                                           .other = "after",
                                                                           .problems = "*",
                                                                           .same = "*",
                                                                           .slower = "*",
                                                                           .undecided = "*"}))));
}

TEST(ReportBaseline, NamesLinesThatAreNotDrawn) {
  const auto key = [](const Message& message) {
    const std::string words = text(message);
    return words.substr(0, words.find('*'));
  };
  std::vector<PointRecord> records = fixtures::memory_wall();
  records.push_back(fixtures::ok_point(fixtures::spec("fa3", 1024)));
  const std::vector<Figure> with_single =
      documents::figures(compared_document(two_runs_of(records, records)), "comparison");
  ASSERT_EQ(with_single.size(), 1U);
  EXPECT_THAT(with_single.front().caption, HasSubstr(text(msg::report::ratio_one_length{.lines = "FA3"})));
  // Eight lines of two points.
  records.clear();
  for (const std::int64_t d : {32, 48, 64, 80, 96, 112, 128, 144}) {
    for (const std::int64_t n : {1024, 2048})
      records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, d)));
  }
  const std::vector<Figure> many = documents::figures(compared_document(two_runs_of(records, records)), "comparison");
  ASSERT_EQ(many.size(), 1U);
  EXPECT_THAT(many.front().caption, HasSubstr(key(msg::report::ratio_excess{.lines = "*", .most = 6})));
  for (const std::int64_t d : {32, 48, 64, 80, 96, 112, 128, 144}) {
    EXPECT_THAT(many.front().chart.alt + many.front().caption, HasSubstr(fmt::format("d={}", d)));
  }
  // Tiles at one N have no figure; the text names them.
  const Document tiles = compared_document(two_runs_of(fixtures::tile_sweep(), fixtures::tile_sweep()));
  EXPECT_THAT(documents::figures(tiles, "comparison"), IsEmpty());
  EXPECT_THAT(documents::sentences(tiles),
              Contains(MatchesMessage(Message(msg::report::no_ratio_figure{.reasons = "*FA1*FA2*"}))));
}

TEST(ReportBaseline, UndecidedRowsHaveNotes) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Table verdicts = verdicts_of(compared_document(two_runs_of(before, before)));
  const std::vector<std::string> notes = documents::column(verdicts, "note");
  for (std::size_t k = 0; k < notes.size(); ++k) {
    const bool undecided = documents::column(verdicts, "verdict")[k] == "UNDECIDED";
    EXPECT_EQ(notes[k].find("attnscope ") != std::string::npos, undecided) << notes[k];
  }
  EXPECT_GT(count_of(verdicts, "UNDECIDED"), 3U);
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
    const Figure figure = documents::figures(document, section).at(0);
    for (const Line& line : std::get<LineChart>(figure.chart.picture).lines) {
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
    const std::string svg = to_svg(figure.chart, "x", Placement::alone);
    EXPECT_THAT(svg, AllOf(HasSubstr("class=\"f c00\""), HasSubstr("class=\"l s q c00\"")));
  }
}

TEST(ReportBaseline, NamesCommonRunOnce) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const std::vector<std::string> sentences = documents::sentences(compared_document(two_runs_of(before, before)));
  const auto times = [&](const char* device) {
    return count_of(sentences, msg::report::times_at{.device = device, .n = "*", .problem = "*"});
  };
  EXPECT_EQ(times("H200 · after"), times("H200*"));
  EXPECT_GT(times("H200*"), 0U);
  EXPECT_GT(count_of(sentences, documents::faster()), 0U);
  for (const std::string& sentence : sentences) {
    if (!matches(sentence, documents::faster())) continue;
    EXPECT_THAT(sentence, Not(HasSubstr("after")));
  }
}

TEST(ReportBaseline, ComparesNothingWithoutBaseline) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = documents::document_of(two_runs_of(before, slowed(before, "fa2", 2)));
  EXPECT_THAT(documents::figures(document, "comparison"), IsEmpty());
  EXPECT_THAT(verdicts_of(document).rows, IsEmpty());
  EXPECT_EQ(count_of(documents::sentences(document), answer("*")), 0U);
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
  EXPECT_THAT(documents::sentences(document), Contains(document.warnings.front()));
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
  const Table differences = documents::table(*document, "differences-1");
  ASSERT_EQ(differences.rows.size(), 1U) << "what is alike is not listed";
  EXPECT_EQ(documents::column(differences, "baseline").front(), "570.1");
  EXPECT_EQ(documents::column(differences, "candidate").front(), "580.2");
  EXPECT_EQ(count_of(documents::sentences(*document), msg::report::differs{.base = "*", .other = "*", .what = driver}),
            1U);
  EXPECT_EQ(count_of(documents::column(documents::table(*document, "not-compared-1"), "why"),
                     msg::compare::not_in_baseline{}),
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
  EXPECT_THAT(documents::column(verdicts(), "differs"), ElementsAre(HasSubstr("128x64 → 64x64")));
  EXPECT_THAT(documents::column(verdicts(), "tiles"), ElementsAre(text(msg::compare::best_of{.base = 2, .other = 1})));
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
  const std::vector<std::string> sentences = documents::sentences(document);
  EXPECT_EQ(count_of(sentences, answer("after", 0, 7)), 1U);
  EXPECT_EQ(count_of(sentences, msg::report::differs{.base = "before", .other = "*", .what = "*"}), 1U);
  const auto with_margin = [&](const char* margin) {
    const Message method = msg::compare::method{.level = "*", .margin = margin, .rows = "*"};
    return std::ranges::count_if(
        sentences, [&](const std::string& line) { return matches(line, make_message("*{}*", text(method))); });
  };
  EXPECT_EQ(with_margin("1.5"), 2);
  EXPECT_EQ(with_margin("1"), 0) << "the default of simulated points alone";
  std::size_t figures = 0;
  for (const Figure& figure : documents::figures(document, "comparison")) {
    const auto& lines = std::get<LineChart>(figure.chart.picture).lines;
    const bool of_simulated = figure.chart.title.find("simulated") != std::string::npos;
    EXPECT_EQ(lines.front().provenance, of_simulated ? Provenance::simulated : Provenance::measured);
    EXPECT_EQ(lines.front().marks.size(), 7U);
    ++figures;
  }
  EXPECT_EQ(figures, 2U);
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
  const auto roofs = [&] {
    const Result<Document, Message> document = make_report(input, {});
    EXPECT_TRUE(document.ok());
    const std::vector<Figure> figures = documents::figures(*document, "roofline");
    EXPECT_FALSE(figures.empty());
    return figures.front();
  };
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
  const auto& lines = std::get<LineChart>(measured.chart.picture).lines;
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
  // Sentences up to the first heading.
  const auto lines = [&] {
    std::vector<std::string> all = documents::sentences(make_report(input, {}).value());
    const Message heading = msg::report::bytes_at{.device = "*", .n = "*", .problem = "*"};
    all.erase(std::ranges::find_if(all, [&](const std::string& line) { return matches(line, heading); }), all.end());
    return all;
  };
  const std::string throttled = text(msg::report::is_throttled{.all = 20, .points = 1});
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("NVIDIA H200"), throttled));
  input.damaged_rows = 2;
  input.first_damage = Message::verbatim("a.attnscope, point 12: wall_seconds inf");
  input.unverified_runs = 3;
  input.filter = "d:128";
  input.unfiltered_count = 99;
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("NVIDIA H200"),
                                   text(msg::report::is_filtered{.all = 99, .filter = "d:128", .points = 21}),
                                   text(msg::report::is_damaged{.damage = input.first_damage, .rows = 2}), throttled,
                                   text(msg::report::is_unverified{.runs = 3})));
}

TEST(ReportChecks, NotesThrottlingForTimesOnly) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (PointRecord& record : records) {
    if (record.spec.algorithm == "fa2") record.clocks = ClockReading{.sm_clock_hz = 1e9, .throttled = true};
  }
  std::size_t of_times = 0;
  for (const std::string& sentence : documents::sentences(documents::document_of(records))) {
    const std::string note = text(msg::report::origin_throttled{.origin = ""});
    const bool throttled = sentence.find(note) != std::string::npos;
    if (matches(sentence, documents::faster())) {
      EXPECT_EQ(throttled, sentence.find("FA2") != std::string::npos) << sentence;
      of_times += throttled ? 1 : 0;
    }
    EXPECT_FALSE(throttled && matches(sentence, documents::fewer_bytes())) << sentence;
  }
  EXPECT_GT(of_times, 0U);
}

}  // namespace
}  // namespace attnscope::report

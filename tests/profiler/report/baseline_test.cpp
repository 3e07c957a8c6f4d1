// SPDX-License-Identifier: Apache-2.0
// Reports with a baseline, and what numbers are held against.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "kernels/model/ceilings.h"
#include "messages/difference.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/published_errors.h"
#include "profiler/report/writers.h"
#include "profiler/units/spelling.h"
#include "tests/profiler/points/fixtures.h"
#include "tests/profiler/report/documents.h"

namespace attnscope::report {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The same points, but each sample of those of an algorithm takes `by` times as long.
std::vector<PointRecord> slowed(std::vector<PointRecord> records, const std::string& algorithm, double by) {
  for (PointRecord& record : records) {
    if (record.spec.algorithm != algorithm) continue;
    for (KernelRecord& kernel : record.kernels) {
      for (double& ns : kernel.samples_ns) ns *= by;
    }
  }
  return records;
}

fixtures::Points before_and_after(const std::vector<PointRecord>& before, const std::vector<PointRecord>& after) {
  fixtures::Points points;
  points.add(before, fixtures::run(Provenance::measured, "before"));
  points.add(after, fixtures::run(Provenance::measured, "after", "2026-02-01T00:00:00Z"));
  return points;
}

Document compared_document(const fixtures::Points& points, const Request& asked = {}) {
  Request request = asked;
  request.baseline = {0};
  const Result<Document, Message> document = make_report(documents::input_of(points), request);
  EXPECT_TRUE(document.ok());
  return document.ok() ? *document : Document{};
}

/// The table of pairs.
Table pairs_of(const Document& document) {
  const std::vector<Table> tables = documents::tables(document, "comparison");
  const auto pairs = std::ranges::find_if(tables, [](const Table& table) { return !table.places.empty(); });
  EXPECT_NE(pairs, tables.end());
  return pairs == tables.end() ? Table{} : *pairs;
}

std::size_t count_of(const std::vector<std::string>& sentences, const std::string& words) {
  return static_cast<std::size_t>(std::ranges::count_if(
      sentences, [&](const std::string& sentence) { return sentence.find(words) != std::string::npos; }));
}

TEST(ReportBaseline, TellsSignificantVerdictsFirstAndLeadsToTheirRows) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(before_and_after(before, slowed(before, "fa2", 1.25)));
  EXPECT_THAT(document.title, HasSubstr("against before"));
  EXPECT_THAT(document.warnings, IsEmpty());
  const std::vector<std::string> told = documents::sentences(document);
  EXPECT_EQ(told.front(), "Against the baseline");
  EXPECT_THAT(told.at(1), HasSubstr("before"));
  EXPECT_THAT(told.at(2), HasSubstr("0 FASTER, 7 SLOWER"));
  EXPECT_EQ(count_of(told, "SLOWER than in the baseline"), 7U);
  EXPECT_EQ(count_of(told, "FASTER than in the baseline"), 0U);
  const Section* summary = documents::find(document, "summary");
  EXPECT_EQ(count_of(told, "before by"), 1U);
  EXPECT_EQ(count_of(told, "slower by at least"), 1U);
  EXPECT_EQ(count_of(told, "by itself would have shown a change"), 1U);
  EXPECT_EQ(count_of(told, "13 would be settled"), 1U);
  const auto& verdict = std::get<Paragraph>(summary->blocks[6]);
  EXPECT_THAT(documents::words_of(verdict), AllOf(HasSubstr("fa2"), HasSubstr("takes 1.2500 [")));
  ASSERT_EQ(verdict.words.front().place, "v1");
  const Table pairs = pairs_of(document);
  EXPECT_EQ(pairs.places.front(), "v1");
  EXPECT_EQ(pairs.rows.front()[1].text, "SLOWER");
  // Naive at the longest N is out of memory on both sides.
  EXPECT_THAT(documents::words_of(*documents::find(document, "comparison")), HasSubstr("out-of-memory"));
  const std::string page = to_html(document);
  EXPECT_THAT(page, AllOf(HasSubstr("<tr id=\"v1\">"), HasSubstr("href=\"#v1\" data-row=\"v1\">SLOWER</a>")));
  EXPECT_THAT(to_markdown(document, "x").text, AllOf(HasSubstr("<a id=\"v1\"></a>"), HasSubstr("[SLOWER](#v1)")));
}

TEST(ReportBaseline, AVerdictGoesWithItsDataAndTurnsWithThem) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const std::vector<std::string> same = documents::sentences(compared_document(before_and_after(before, before)));
  EXPECT_EQ(count_of(same, "than in the baseline"), 0U);
  EXPECT_THAT(same.at(2), HasSubstr("0 FASTER, 0 SLOWER"));
  const std::vector<std::string> faster =
      documents::sentences(compared_document(before_and_after(before, slowed(before, "fa1", 0.5))));
  EXPECT_EQ(count_of(faster, "FASTER than in the baseline"), 7U);
  EXPECT_EQ(count_of(faster, "SLOWER than in the baseline"), 0U);
  // One point alone.
  std::vector<PointRecord> one = before;
  const auto changed = std::ranges::find_if(
      one, [](const PointRecord& record) { return record.spec.algorithm == "fa2" && record.spec.problem.n_k == 1024; });
  for (double& ns : changed->kernels.front().samples_ns) ns *= 1.5;
  const std::vector<std::string> told = documents::sentences(compared_document(before_and_after(before, one)));
  EXPECT_EQ(count_of(told, "SLOWER than in the baseline"), 1U);
  EXPECT_THAT(told, Contains(AllOf(HasSubstr(describe(changed->spec)), HasSubstr("1.5000"))));
}

TEST(ReportBaseline, EachAmbiguousFindsWhatWouldSettleIt) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(before_and_after(before, before));
  const Table pairs = pairs_of(document);
  const std::vector<Table> tables = documents::tables(document, "comparison");
  const auto settle =
      std::ranges::find_if(tables, [](const Table& table) { return table.caption.starts_with("What would settle"); });
  ASSERT_NE(settle, tables.end());
  std::string entries = " ";
  for (const std::vector<Cell>& row : settle->rows) {
    entries += row[0].text + " ";
    // Others of the same words stand in brackets behind them.
    if (const std::size_t more = row[1].text.rfind(" (v"); more != std::string::npos) {
      for (const char c : row[1].text.substr(more)) entries += c == 'v' || (c >= '0' && c <= '9') ? c : ' ';
    }
    EXPECT_THAT(row[1].text, HasSubstr("attnscope "));
  }
  std::size_t ambiguous = 0;
  for (std::size_t k = 0; k < pairs.rows.size(); ++k) {
    const bool undecided = pairs.rows[k][1].text == "UNDECIDED";
    EXPECT_EQ(entries.find(" " + pairs.places[k] + " ") != std::string::npos, undecided) << pairs.places[k];
    if (undecided) ++ambiguous;
  }
  EXPECT_GT(ambiguous, 3U);
}

TEST(ReportBaseline, RowsSayNAndDAndWhichSideWasThrottled) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  std::vector<PointRecord> after = slowed(before, "fa2", 2);
  for (PointRecord& record : after) record.clocks = ClockReading{.sm_clock_hz = 1e9, .throttled = true};
  const Document document = compared_document(before_and_after(before, after));
  const Table pairs = pairs_of(document);
  const auto column = [&](const char* title) {
    const auto found = std::ranges::find(pairs.columns, title, &Column::title);
    EXPECT_NE(found, pairs.columns.end()) << title;
    return static_cast<std::size_t>(found - pairs.columns.begin());
  };
  std::set<std::string> lengths;
  for (const std::vector<Cell>& row : pairs.rows) {
    lengths.insert(row[column("N")].text);
    EXPECT_EQ(std::to_string(static_cast<int>(*row[column("N")].number)), row[column("N")].text);
    EXPECT_EQ(row[column("d")].text, "128");
    EXPECT_THAT(row[column("Baseline")].text, Not(HasSubstr("throttled")));
    EXPECT_THAT(row[column("Other")].text, HasSubstr("(throttled)"));
  }
  EXPECT_EQ(lengths, (std::set<std::string>{"256", "512", "1024", "2048", "4096", "8192", "16384"}));
  for (const std::string& sentence : documents::sentences(document)) {
    if (sentence.find("SLOWER than in the baseline") == std::string::npos) continue;
    EXPECT_THAT(sentence, HasSubstr("(measured at throttled clocks, measured)"));
  }
}

TEST(ReportBaseline, BeforeAndAfterHaveColoursAndMarksOfTheirOwn) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = compared_document(before_and_after(before, slowed(before, "fa2", 2)));
  for (const char* section : {"io", "time", "roofline"}) {
    std::map<std::string, std::array<int, 2>> colours;  // by algorithm: before, after
    const Figure figure = documents::figures(document, section).at(0);
    for (const Line& line : std::get<LineChart>(figure.chart.picture).lines) {
      if (line.provenance == Provenance::modelled) continue;
      const std::size_t dot = line.label.find(" · ");
      const bool of_before = line.label.find("before") != std::string::npos;
      ASSERT_TRUE(of_before || line.label.find("after") != std::string::npos) << line.label;
      colours[line.label.substr(0, dot)].at(of_before ? 0 : 1) = line.color;
    }
    ASSERT_EQ(colours.size(), 3U) << section;
    std::set<int> all;
    for (const auto& [algorithm, of] : colours) {
      EXPECT_EQ(of[0], of[1] + palette_hues) << section << ": the older run's is the other shade of " << algorithm;
      all.insert(of.begin(), of.end());
    }
    EXPECT_EQ(all.size(), 6U) << section;
    const std::string svg = to_svg(figure.chart, "x", Placed::alone);
    EXPECT_THAT(svg, AllOf(HasSubstr("class=\"f0\""), HasSubstr("class=\"f6\"")));
  }
}

TEST(ReportBaseline, ARunThatAllAreOfIsNamedOnce) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const std::vector<std::string> told = documents::sentences(compared_document(before_and_after(before, before)));
  EXPECT_EQ(count_of(told, "Times on H200 · after at N"), count_of(told, "Times on H200"));
  EXPECT_GT(count_of(told, "Times on H200"), 0U);
  EXPECT_GT(count_of(told, "times faster than"), 0U);
  for (const std::string& sentence : told) {
    if (sentence.find("times faster than") == std::string::npos) continue;
    EXPECT_THAT(sentence, Not(HasSubstr("after")));
  }
}

TEST(ReportBaseline, WithoutItNothingIsCompared) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  const Document document = documents::document_of(before_and_after(before, slowed(before, "fa2", 2)));
  EXPECT_EQ(documents::find(document, "comparison"), nullptr);
  EXPECT_EQ(count_of(documents::sentences(document), "baseline"), 0U);
}

TEST(ReportBaseline, WithoutPartnersItIsOneClearLine) {
  fixtures::Points points = before_and_after({fixtures::ok_point(fixtures::spec("fa2", 512))}, fixtures::tile_sweep());
  for (const char* title : {"later", "latest", "last"}) {
    points.add(fixtures::tile_sweep(), fixtures::run(Provenance::measured, title));
  }
  const Document document = compared_document(points);
  ASSERT_EQ(document.warnings.size(), 1U);
  EXPECT_THAT(document.warnings.front(),
              HasSubstr("Nothing is compared: no point of after and 3 more has a partner in the baseline, before"));
  EXPECT_THAT(documents::sentences(document), Contains(document.warnings.front()));
}

TEST(ReportBaseline, ListsWhatHasNoPartnerAndWhatElseDiffers) {
  std::vector<PointRecord> before = fixtures::memory_wall();
  const std::vector<PointRecord> after = before;
  std::erase_if(before, [](const PointRecord& record) { return record.spec.problem.n_k == 512; });
  Input input = documents::input_of(before_and_after(before, after));
  const Message driver = say::difference::driver{};
  input.runs[0].conditions = {{driver, Message::verbatim("570.1")}};
  input.runs[1].conditions = {{driver, Message::verbatim("580.2")}};
  Request request;
  request.baseline = {0};
  const Result<Document, Message> document = make_report(input, request);
  ASSERT_TRUE(document.ok());
  const std::vector<Table> tables = documents::tables(*document, "comparison");
  const std::vector<std::vector<Cell>>& differences = tables.front().rows;
  ASSERT_EQ(differences.size(), 1U) << "what is alike is not listed";
  EXPECT_EQ(differences[0][1].text, "570.1");
  EXPECT_EQ(differences[0][2].text, "580.2");
  EXPECT_EQ(
      std::ranges::count_if(tables.back().rows,
                            [](const auto& row) { return row[3].text.find("no such point") != std::string::npos; }),
      3);
}

TEST(ReportBaseline, WhatIsSimulatedIsASideOfItsOwn) {
  const std::vector<PointRecord> before = fixtures::memory_wall();
  fixtures::Points points = before_and_after(before, slowed(before, "fa2", 1.2));
  points.add(fixtures::memory_wall(true), fixtures::run(Provenance::simulated, "played"));
  const Document document = compared_document(points);
  const std::vector<std::string> told = documents::sentences(document);
  EXPECT_EQ(count_of(told, "after is slower than before"), 1U);
  EXPECT_EQ(count_of(told, "played"), 1U);
  const std::string compared = documents::words_of(*documents::find(document, "comparison"));
  const std::string margin = "Verdicts hold at a margin of ";
  EXPECT_THAT(compared, HasSubstr(margin + "1.5%"));
  EXPECT_THAT(compared, Not(HasSubstr(margin + "1%"))) << "what was simulated would have it by itself";
  std::size_t figures = 0;
  for (const Figure& figure : documents::figures(document, "comparison")) {
    const auto& lines = std::get<LineChart>(figure.chart.picture).lines;
    const bool of_played = figure.chart.title.find("played") != std::string::npos;
    EXPECT_EQ(lines.front().provenance, of_played ? Provenance::simulated : Provenance::measured);
    EXPECT_EQ(lines.front().marks.size(), 7U);
    ++figures;
  }
  EXPECT_EQ(figures, 2U);
}

TEST(ReportTrust, SimulatedPointsComeWithThePublishedErrors) {
  const auto captions = [](const Document& document) {
    std::vector<std::string> all;
    for (const Table& table : documents::tables(document, "environment")) all.push_back(table.caption);
    return all;
  };
  EXPECT_THAT(captions(documents::document_of(fixtures::memory_wall())), Not(Contains(HasSubstr("Held out"))));
  const Document document = documents::document_of(fixtures::memory_wall(true));
  EXPECT_THAT(captions(document), Contains(AllOf(HasSubstr("Held out"), HasSubstr("model --against"))));
  const std::vector<Table> tables = documents::tables(document, "environment");
  const auto errors = std::ranges::find_if(
      tables, [](const Table& table) { return table.caption.find("Held out") != std::string::npos; });
  ASSERT_NE(errors, tables.end());
  std::size_t published = 0;
  for (const analysis::ErrorRow& error : analysis::published_errors("NVIDIA H200").rows) {
    if (error.pass != "fwd" || (error.algorithm != "fa1" && error.algorithm != "fa2" && error.algorithm != "naive"))
      continue;
    ++published;
    EXPECT_TRUE(std::ranges::any_of(errors->rows, [&](const std::vector<Cell>& row) {
      return row[0].text == error.algorithm && row[2].text == error.half && row[4].text == std::to_string(error.points);
    })) << error.algorithm;
  }
  EXPECT_EQ(errors->rows.size(), published);
  EXPECT_GT(published, 6U);
}

TEST(ReportTrust, WhatDidNotRunHasNoErrors) {
  fixtures::Points points;
  points.add({fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::infeasible, "too much")},
             fixtures::run(Provenance::simulated, "played"));
  for (const Table& table : documents::tables(documents::document_of(points), "environment"))
    EXPECT_THAT(table.caption, Not(HasSubstr("Held out")));
}

TEST(ReportTrust, AGpuWithoutErrorsIsNotValidated) {
  const auto warnings = [](const std::string& device) {
    fixtures::Points points;
    analysis::Run run = fixtures::run(Provenance::simulated, "played");
    run.device_name = device;
    points.add(fixtures::memory_wall(true), run);
    std::vector<std::string> all;
    const Document document = documents::document_of(points);
    for (const Block& block : documents::find(document, "environment")->blocks) {
      const auto* paragraph = std::get_if<Paragraph>(&block);
      if (paragraph != nullptr && paragraph->notice) all.push_back(documents::words_of(*paragraph));
    }
    return all;
  };
  EXPECT_THAT(warnings("NVIDIA H200"), IsEmpty());
  EXPECT_THAT(warnings("NVIDIA H100 80GB HBM3"), IsEmpty());
  EXPECT_THAT(warnings("NVIDIA H100 SXM"), IsEmpty());
  EXPECT_THAT(warnings("NVIDIA A100 80GB"),
              Contains(AllOf(HasSubstr("not validated on their GPU"), HasSubstr("(NVIDIA A100 80GB)"))));
}

TEST(ReportTrust, ImportedCountsStandBesideOurs) {
  const std::vector<PointRecord> own = {fixtures::ok_point(fixtures::spec("fa2", 1024))};
  PointRecord theirs = fixtures::imported_point("fa2", own.front().spec.problem, 1000);
  const double read = *own.front().kernels.front().metric(metric_key::l2_to_sm_bytes);
  theirs.kernels.front().metrics.push_back(
      {std::string(metric_key::l2_to_sm_bytes), read * 1.02, "byte", Provenance::imported});
  fixtures::Points points(own);
  points.add({theirs}, fixtures::run(Provenance::imported, "ncu"));
  const std::vector<Table> tables = documents::tables(documents::document_of(points), "environment");
  const auto beside =
      std::ranges::find_if(tables, [](const Table& table) { return table.caption.find("(ncu)") != std::string::npos; });
  ASSERT_NE(beside, tables.end());
  const auto row = std::ranges::find_if(
      beside->rows, [](const std::vector<Cell>& cells) { return cells[1].text.find("byte") != std::string::npos; });
  ASSERT_NE(row, beside->rows.end());
  EXPECT_EQ((*row)[2].text, exact_text(read));
  EXPECT_EQ((*row)[3].text, exact_text(read * 1.02));
  EXPECT_EQ((*row)[4].text, "1.0200");
  // Nobody knows which is meant of two points of the same problem; of other lengths neither is.
  PointSpec more_keys = own.front().spec;
  more_keys.problem.n_k *= 2;
  PointSpec more_queries = own.front().spec;
  more_queries.problem.n_q *= 2;
  for (const PointSpec& spec : {more_keys, more_queries}) {
    fixtures::Points elsewhere({fixtures::ok_point(spec)});
    elsewhere.add({theirs}, fixtures::run(Provenance::imported, "ncu"));
    for (const Table& table : documents::tables(documents::document_of(elsewhere), "environment"))
      EXPECT_THAT(table.caption, Not(HasSubstr("(ncu)")));
  }
  fixtures::Points two({own.front(), fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 64))});
  two.add({theirs}, fixtures::run(Provenance::imported, "ncu"));
  for (const Table& table : documents::tables(documents::document_of(two), "environment"))
    EXPECT_THAT(table.caption, Not(HasSubstr("(ncu)")));
}

TEST(ReportTrust, MeasuredCeilingsAreTheRoofsAndSaySo) {
  Input input = documents::input_of(fixtures::Points(fixtures::memory_wall()));
  const auto roofs = [&] {
    const Result<Document, Message> document = make_report(input, {});
    EXPECT_TRUE(document.ok());
    const std::vector<Figure> figures = documents::figures(*document, "roofline");
    EXPECT_FALSE(figures.empty());
    return figures.front();
  };
  EXPECT_THAT(roofs().caption, HasSubstr("by the datasheet"));
  CeilingFacts set;
  set.device_id = input.table.runs().front().device_id;
  set.device_name = input.table.runs().front().device_name;
  set.measured_at = "2026-01-02T03:04:05Z";
  set.ceilings = {{.name = std::string(ceiling_key::dram_read), .value = 3.3e12, .unit = "byte/s"}};
  CeilingFacts older = set;
  older.measured_at = "2025-01-02T03:04:05Z";
  for (const auto& sets : {std::vector{older, set}, std::vector{set, older}, std::vector{set}}) {
    input.ceilings = sets;
    EXPECT_THAT(roofs().caption, HasSubstr("measured on this GPU, 2026-01-02T03:04:05Z"));
  }
  const Figure measured = roofs();
  const auto& lines = std::get<LineChart>(measured.chart.picture).lines;
  EXPECT_TRUE(std::ranges::any_of(lines, [](const Line& line) {
    return !line.marks.empty() && line.marks.front().said.find("3.30 TB/s, measured on this GPU") != std::string::npos;
  }));
  input.ceilings.front().device_id = "another";
  EXPECT_THAT(roofs().caption, HasSubstr("measured on another"));
  input.ceilings.front().device_name = "NVIDIA Else";
  EXPECT_THAT(roofs().caption, Not(AnyOf(HasSubstr("measured on this"), HasSubstr("measured on another"))));
}

TEST(ReportTrust, ThePapersTableStandsBesideOurs) {
  PointSpec spec = fixtures::spec("fa1", 1024, 64, 128, 64);
  spec.problem.batch = 64;
  spec.problem.heads_q = spec.problem.heads_kv = 16;
  const PointRecord point = fixtures::ok_point(spec);
  const Document document = documents::document_of(fixtures::Points({point}));
  const std::vector<Table> tables = documents::tables(document, "paper");
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_THAT(tables.front().caption, AllOf(HasSubstr("2205.14135"), HasSubstr("imported")));
  const auto row = std::ranges::find_if(tables.front().rows,
                                        [](const std::vector<Cell>& cells) { return cells[4].text == "SM<->L2"; });
  ASSERT_NE(row, tables.front().rows.end());
  EXPECT_EQ((*row)[8].text, "3.36") << "Fig. 2 middle at Bc 128";
  EXPECT_EQ(documents::find(documents::document_of(fixtures::memory_wall()), "paper"), nullptr);
}

TEST(ReportTrust, ItsFirstPageSaysWhatNobodyMayReadPast) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  records[0].clocks = ClockReading{.sm_clock_hz = 1e9, .throttled = true};
  records[1].clocks = ClockReading{.sm_clock_hz = 1.9e9};
  Input input = documents::input_of(fixtures::Points(records));
  const auto notices = [&] {
    std::vector<std::string> words;
    const Result<Document, Message> document = make_report(input, {});
    for (const Paragraph& notice : document->notices) words.push_back(documents::words_of(notice));
    return words;
  };
  const std::string throttled = "Clocks were throttled: 1 of 20 points";
  EXPECT_THAT(notices(), ElementsAre(HasSubstr(throttled)));
  input.damaged_rows = 2;
  input.first_damage = Message::verbatim("a.attnscope, point 12: wall_seconds inf");
  input.unverified_runs = 3;
  input.filter = "d:128";
  input.filtered_from = 99;
  EXPECT_THAT(notices(),
              ElementsAre(AllOf(HasSubstr("d:128"), HasSubstr("21 of 99")),
                          AllOf(HasSubstr("Damage"), HasSubstr(": 2 rows"), HasSubstr("a.attnscope, point 12")),
                          HasSubstr(throttled), AllOf(HasSubstr("without a checksum"), HasSubstr(": 3."))));
}

TEST(ReportTrust, ThrottledClocksAreSaidOfTimesAndNotOfBytes) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (PointRecord& record : records) {
    if (record.spec.algorithm == "fa2") record.clocks = ClockReading{.sm_clock_hz = 1e9, .throttled = true};
  }
  std::size_t of_times = 0;
  for (const std::string& sentence : documents::sentences(documents::document_of(records))) {
    const bool said = sentence.find("at throttled clocks") != std::string::npos;
    if (sentence.find("times faster than") != std::string::npos) {
      EXPECT_EQ(said, sentence.find("FA2") != std::string::npos) << sentence;
      of_times += said ? 1 : 0;
    }
    if (sentence.find("fewer DRAM bytes") != std::string::npos) {
      EXPECT_FALSE(said) << sentence;
    }
  }
  EXPECT_GT(of_times, 0U);
}

}  // namespace
}  // namespace attnscope::report

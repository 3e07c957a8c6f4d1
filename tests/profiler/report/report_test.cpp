// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "profiler/metrics/metrics.h"
#include "profiler/report/escape.h"
#include "profiler/report/numbers.h"
#include "profiler/report/writers.h"
#include "tests/profiler/analysis/fixtures.h"

namespace attnscope::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Input input_of(const fixtures::Points& points) {
  Input input;
  input.table = points.table();
  input.points.resize(input.table.size());
  for (std::size_t run = 0; run < input.table.runs().size(); ++run) {
    RunFacts facts;
    facts.file = "test.attnscope";
    facts.id = static_cast<std::int64_t>(run) + 1;
    facts.preset = "wall";
    facts.started_at = "2026-01-01T00:00:00Z";
    facts.argv = {"/opt/bin/attnscope", "collect", "-a", "N=[256,512]"};
    input.runs.push_back(facts);
  }
  input.version = "0";
  return input;
}

Document document_of(const std::vector<PointRecord>& records, const Request& request = {}) {
  const Result<Document, Message> document = make_report(input_of(fixtures::Points(records)), request);
  EXPECT_TRUE(document.ok());
  return document.ok() ? *document : Document{};
}

const Section* find(const Document& document, std::string_view key) {
  const auto found = std::ranges::find(document.sections, key, &Section::key);
  return found == document.sections.end() ? nullptr : &*found;
}

std::string words_of(const Paragraph& paragraph) {
  std::string all;
  for (const Words& words : paragraph.words) all += words.text;
  return all;
}

std::vector<std::string> sentences(const Document& document) {
  std::vector<std::string> all;
  const Section* summary = find(document, "summary");
  if (summary == nullptr) return all;
  for (const Block& block : summary->blocks) {
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) all.push_back(words_of(*paragraph));
  }
  return all;
}

std::vector<Figure> figures(const Document& document, std::string_view key) {
  std::vector<Figure> all;
  if (const Section* section = find(document, key)) {
    for (const Block& block : section->blocks) {
      if (const auto* figure = std::get_if<Figure>(&block)) all.push_back(*figure);
    }
  }
  return all;
}

double dram_of(const PointRecord& record) {
  return dram_traffic(record)->value;
}

TEST(Report, SummaryTellsRatiosOfPointsAndLeadsToThem) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  const Document document = document_of(records);
  // The longest N that naive has as well is 8192: at 16384 it is out of memory, where the others still compare.
  const Section* summary = find(document, "summary");
  ASSERT_NE(summary, nullptr);
  const auto& first = std::get<Paragraph>(summary->blocks.front());
  std::vector<analysis::Row> rows;
  for (const Words& words : first.words) {
    if (words.row) rows.push_back(*words.row);
  }
  ASSERT_EQ(rows.size(), 2U) << words_of(first);
  EXPECT_THAT(words_of(first), HasSubstr(three_digits(dram_of(records[rows[1]]) / dram_of(records[rows[0]])) +
                                         " times fewer DRAM bytes"));
  EXPECT_THAT(sentences(document), Contains(HasSubstr("ended out-of-memory")));
}

TEST(Report, ASentenceChangesWithItsDataAndGoesWithIt) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  const std::vector<std::string> before = sentences(document_of(records));
  ASSERT_THAT(before, Contains(HasSubstr("closed form")));
  // One counter of one point, 1% up: the residual is its own now, and says so.
  PointRecord& changed =
      *std::ranges::find_if(records, [](const PointRecord& record) { return record.disposition == Disposition::ok; });
  for (MetricValue& metric : changed.kernels.front().metrics) {
    if (metric.name == metric_key::l2_to_sm_bytes || metric.name == metric_key::sm_to_l2_bytes) metric.value *= 1.01;
  }
  const std::vector<std::string> after = sentences(document_of(records));
  EXPECT_THAT(after, Contains(AllOf(HasSubstr("1.101%"), HasSubstr(describe(changed.spec)))));
  EXPECT_NE(before, after);
  // Without counters there is nothing to say of bytes; times are still compared.
  for (PointRecord& record : records) {
    for (KernelRecord& kernel : record.kernels) {
      std::erase_if(kernel.metrics, [](const MetricValue& metric) { return metric.unit == "byte"; });
    }
  }
  const std::vector<std::string> without = sentences(document_of(records));
  EXPECT_THAT(without, Not(Contains(HasSubstr("DRAM bytes"))));
  EXPECT_THAT(without, Not(Contains(HasSubstr("closed form"))));
  EXPECT_THAT(without, Contains(HasSubstr("times faster")));
}

TEST(Report, SimulatedDataAreSaidOnTheFirstPageAndDrawnHollow) {
  EXPECT_TRUE(document_of(fixtures::memory_wall()).notices.empty());
  const Document document = document_of(fixtures::memory_wall(true));
  ASSERT_EQ(document.notices.size(), 1U);
  EXPECT_THAT(words_of(document.notices.front()), HasSubstr("Simulated data"));
  const std::vector<Figure> io = figures(document, "io");
  ASSERT_FALSE(io.empty());
  const std::string svg = to_svg(io.front().chart, "x", Placed::alone);
  EXPECT_THAT(svg, AllOf(HasSubstr("class=\"d l0\""), HasSubstr("class=\"e0\"")));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"f0\"")));
}

TEST(Report, AMarksReadOutHasTheVeryValue) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  const Document document = document_of(records);
  const std::vector<Figure> io = figures(document, "io");
  const auto& lines = std::get<LineChart>(io.front().chart.picture).lines;
  std::size_t measured = 0;
  for (const Line& line : lines) {
    for (const Mark& mark : line.marks) {
      if (line.provenance == Provenance::modelled) continue;
      ++measured;
      EXPECT_THAT(mark.said, AllOf(HasSubstr(": " + exact(mark.y) + " byte ("), HasSubstr("N " + exact(mark.x))));
      EXPECT_TRUE(std::ranges::any_of(records, [&](const PointRecord& record) {
        const auto bytes = dram_traffic(record);
        return bytes && bytes->value == mark.y && static_cast<double>(record.spec.problem.n_k) == mark.x;
      }));
    }
  }
  EXPECT_GT(measured, 10U);
}

TEST(Report, MapsPrintValuesAndWhyThereIsNone) {
  const Document document = document_of(fixtures::tile_sweep());
  const std::vector<Figure> maps = figures(document, "tiles");
  ASSERT_FALSE(maps.empty());
  bool refused = false;
  for (const auto& row : std::get<HeatMap>(maps.front().chart.picture).cells) {
    for (const MapCell& cell : row) {
      if (!cell.value && !cell.said.empty()) {
        refused = true;
        EXPECT_THAT(cell.said, HasSubstr(": ")) << "the reason";
      }
    }
  }
  EXPECT_TRUE(refused);
  EXPECT_NE(find(document, "failures"), nullptr);
}

TEST(Report, OneThatHasOnlyFailuresOrOnePointIsStillAReport) {
  const Document failures =
      document_of({fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::crashed, "it fell")});
  EXPECT_THAT(sentences(failures), Contains(HasSubstr("it fell")));
  EXPECT_NE(find(failures, "appendix"), nullptr);
  EXPECT_EQ(find(failures, "roofline"), nullptr);
  const Document one = document_of({fixtures::ok_point(fixtures::spec("fa2", 1024))});
  EXPECT_NE(find(one, "appendix"), nullptr);
  EXPECT_THAT(to_html(one), HasSubstr("id=\"row-1\""));
}

TEST(Report, RefusesInOneSentence) {
  const Result<Document, Message> none = make_report(input_of(fixtures::Points()), {});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(text(none.error()), HasSubstr("no point"));
  Request request;
  request.sections = {"oi"};
  const Result<Document, Message> unknown = make_report(input_of(fixtures::Points(fixtures::memory_wall())), request);
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(text(unknown.error()), AllOf(HasSubstr("'oi'"), HasSubstr("summary")));
}

TEST(Report, SectionsAreThoseAskedForInTheirOrder) {
  Request request;
  request.sections = {"appendix", "io"};
  const Document document = document_of(fixtures::memory_wall(), request);
  ASSERT_EQ(document.sections.size(), 2U);
  EXPECT_EQ(document.sections[0].key, "io");
  EXPECT_EQ(document.sections[1].key, "appendix");
}

TEST(Report, TheSameInputGivesTheSameBytes) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  EXPECT_EQ(to_html(document_of(records)), to_html(document_of(records)));
}

TEST(Report, EveryLinkOfAPageHasItsPlace) {
  const std::string page = to_html(document_of(fixtures::memory_wall()));
  const std::regex link("href=\"#([a-z0-9-]+)\"");
  std::size_t links = 0;
  for (auto at = std::sregex_iterator(page.begin(), page.end(), link); at != std::sregex_iterator(); ++at, ++links) {
    EXPECT_THAT(page, HasSubstr("id=\"" + (*at)[1].str() + "\""));
    if (links > 60) break;
  }
  EXPECT_GT(links, 10U);
  EXPECT_THAT(page, Not(::testing::AnyOf(HasSubstr("src="), HasSubstr("url("), HasSubstr("@import"))));
}

TEST(Report, TextsOfAFileStayText) {
  const std::string hostile = "<script>alert(1)</script>]]>\"'&|`x`[a](javascript:alert(1))\n# b \x1b[2J";
  std::vector<PointRecord> records = fixtures::memory_wall();
  records.push_back(fixtures::failed_point(fixtures::spec("fa2", 32), Disposition::crashed, hostile));
  Request request;
  request.title = hostile;
  Input input = input_of(fixtures::Points(records));
  input.runs.front().file = hostile;
  input.runs.front().argv.push_back("</code></pre>```" + hostile);
  const Result<Document, Message> document = make_report(input, request);
  ASSERT_TRUE(document.ok());
  const std::string page = to_html(*document);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("</code></pre>```"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert"));
  const MarkdownFiles files = to_markdown(*document, "figures");
  const std::size_t commands = files.text.find("````");
  EXPECT_NE(commands, std::string::npos) << "a fence longer than the text's own";
  const std::string before_commands = files.text.substr(0, commands);
  EXPECT_EQ(before_commands.find("<script>"), std::string::npos);
  EXPECT_EQ(before_commands.find("](javascript"), std::string::npos);
  for (const MarkdownFiles::Picture& picture : files.pictures)
    EXPECT_EQ(picture.svg.find("<script"), std::string::npos);
}

TEST(ReportText, MarkdownEscapesWhatMeansSomething) {
  EXPECT_EQ(markdown("a|b"), "a\\|b");
  EXPECT_EQ(markdown("<b>"), "&lt;b\\>");
  EXPECT_EQ(markdown("`x` [y](z)"), "\\`x\\` \\[y\\]\\(z\\)");
  EXPECT_EQ(markdown_block("a```b"), "````sh\na```b\n````\n");
  EXPECT_EQ(markup("a\"<&>'"), "a&quot;&lt;&amp;&gt;&#39;");
}

TEST(ReportNumbers, ArePrintedAlikeEverywhere) {
  EXPECT_EQ(three_digits(0), "0");
  EXPECT_EQ(three_digits(0.012345), "0.0123");
  EXPECT_EQ(three_digits(4.306), "4.31");
  EXPECT_EQ(three_digits(9.996), "10.0");
  EXPECT_EQ(three_digits(99.96), "100");
  EXPECT_EQ(three_digits(12345), "12345");
  EXPECT_EQ(three_digits(-85.27), "-85.3");
  EXPECT_EQ(exact(123456789), "123456789");
  EXPECT_EQ(exact(0.1), "0.1");
  EXPECT_EQ(with_unit(2.15e9, "byte"), "2.15 GB");
  EXPECT_EQ(with_unit(999.6, "ns"), "1.00 µs");
  EXPECT_EQ(length_text(4096), "4k");
  EXPECT_EQ(length_text(1000), "1000");
  EXPECT_EQ(coordinate(-0.001), "0");
}

}  // namespace
}  // namespace attnscope::report

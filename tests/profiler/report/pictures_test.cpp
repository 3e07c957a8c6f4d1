// SPDX-License-Identifier: Apache-2.0
// Pictures, and the HTML and Markdown of a report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "messages/report.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "profiler/report/document.h"
#include "profiler/report/report.h"
#include "profiler/report/svg.h"
#include "profiler/units/number_format.h"
#include "tests/profiler/points/fixtures.h"
#include "tests/profiler/report/documents.h"

namespace attnscope::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using documents::document_of;
using documents::figure;
using documents::input_of;
using documents::lines_of;

TEST(Report, ReadOutsHaveExactValues) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  const Document document = document_of(records);
  const Figure io = figure(document, "io").value();
  std::size_t measured = 0;
  for (const Line& line : lines_of(io)) {
    for (const Mark& mark : line.marks) {
      if (line.provenance == Provenance::modeled) continue;
      ++measured;
      EXPECT_THAT(mark.read_out_text,
                  AllOf(HasSubstr(exact_text(mark.y) + " byte"), HasSubstr("N " + exact_text(mark.x))));
      EXPECT_TRUE(std::ranges::any_of(records, [&](const PointRecord& record) {
        const auto bytes = dram_traffic(record);
        return bytes && bytes->value == mark.y && static_cast<double>(record.spec.problem.n_k) == mark.x;
      }));
    }
  }
  EXPECT_GT(measured, 10U);
}

TEST(Report, ScaleTicksStayInRange) {
  for (const bool from_zero : {true, false}) {
    const Scale scale({"", Quantity::number, false, from_zero}, 0, 10, 0, 100);
    EXPECT_EQ(scale.at(0) == 0, from_zero);
  }
  for (const bool log : {true, false}) {
    for (const double most : {1.1e6, 8e6, 3e7, 9e8}) {
      const Scale scale({"", Quantity::bytes, log, false}, 1e6, most, 0, 100);
      for (const Scale::Tick& tick : scale.ticks()) {
        EXPECT_GE(scale.at(tick.at), 0) << tick.label;
        EXPECT_LE(scale.at(tick.at), 100) << tick.label;
      }
    }
  }
}

TEST(Report, MapsHaveSufficientDigits) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  double more = 0;
  for (PointRecord& record : records) {
    for (KernelRecord& kernel : record.kernels) {
      for (double& ns : kernel.samples_ns) ns = 138'600'000 + more;
    }
    more += 1000;
  }
  const Figure times = figure(document_of(records), "tiles").value();
  const auto& map = std::get<HeatMap>(times.panels.front().picture);
  EXPECT_GT(map.digits, 3);
  EXPECT_NE(number_text(map.low, map.digits), number_text(map.high, map.digits));
  const std::string uniform = text(msg::report::map_uniform{.percent = "*"});
  EXPECT_THAT(times.caption, HasSubstr(uniform.substr(0, uniform.find('*')) + "0."));
  EXPECT_THAT(to_svg(times, Placement::alone), HasSubstr(">0% = " + number_text(map.low, map.digits) + " ms<"));
}

TEST(Report, OutputIsDeterministic) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  EXPECT_EQ(to_html(document_of(records)), to_html(document_of(records)));
}

TEST(Report, LinksHaveTargets) {
  const std::string page = to_html(document_of(fixtures::memory_wall()));
  const auto all = [&](const char* attribute) {
    const std::regex place(std::string(attribute) + "=\"#?(row-[0-9]+)\"");
    std::set<std::string> places;
    for (auto at = std::sregex_iterator(page.begin(), page.end(), place); at != std::sregex_iterator(); ++at)
      places.insert((*at)[1].str());
    return places;
  };
  const std::set<std::string> links = all("href");
  const std::set<std::string> rows = all("id");
  EXPECT_TRUE(std::ranges::includes(rows, links));
  EXPECT_GT(links.size(), 5U);
  EXPECT_EQ(rows.size(), fixtures::memory_wall().size());
  EXPECT_THAT(page, Not(::testing::AnyOf(HasSubstr("src="), HasSubstr("url("), HasSubstr("@import"))));
}

TEST(Report, EscapesFileTexts) {
  const std::string hostile = "<script>alert(1)</script>]]>\"'&|`x`[a](javascript:alert(1))\n# b \x1b[2J";
  std::vector<PointRecord> records = fixtures::memory_wall();
  records.push_back(
      fixtures::failed_point(fixtures::spec("fa2", 32), Disposition::crashed, Message::verbatim(hostile)));
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
  EXPECT_EQ(files.text.find("<script>"), std::string::npos);
  EXPECT_EQ(files.text.find("](javascript"), std::string::npos);
  for (const MarkdownFiles::File& file : files.attachments) {
    EXPECT_TRUE(file.name.ends_with(".csv") || file.content.find("<script") == std::string::npos) << file.name;
  }
}

TEST(ReportText, EscapesMarkdown) {
  EXPECT_EQ(markdown("a|b"), "a\\|b");
  EXPECT_EQ(markdown("2026-11-23T02:59:56Z"), "2026-11-23T02:59:56Z");
  EXPECT_EQ(markdown("http://x a:b: c"), "http&#58;//x a&#58;b: c");
  EXPECT_EQ(markdown("- a -- b"), "\\- a -\\- b");
  EXPECT_EQ(markdown("www.x.y"), "www&#46;x.y");
  EXPECT_EQ(markdown("<b>"), "&lt;b\\>");
  EXPECT_EQ(markdown("`x` [y](z)"), "\\`x\\` \\[y\\]\\(z\\)");
  EXPECT_EQ(markup("a\"<&>'"), "a&quot;&lt;&amp;&gt;&#39;");
}

TEST(Report, PointsAreExactInFiles) {
  const std::vector<PointRecord> records = fixtures::memory_wall();
  const MarkdownFiles files = to_markdown(document_of(records), "x");
  const auto points = std::ranges::find(files.attachments, "points.csv", &MarkdownFiles::File::name);
  ASSERT_NE(points, files.attachments.end());
  const double ns = evaluate(metric_key::time_median_ns, records.front())->value;
  EXPECT_THAT(points->content, HasSubstr("," + analysis::raw_text(ns) + ","));
  EXPECT_THAT(to_html(document_of(records)), HasSubstr(text(Nanoseconds(ns)))) << "rounded on the page";
}

TEST(ReportPictures, StripsShowAllMarksWithoutOverlap) {
  StripChart chart{.x_title = "ratio", .margin = 0.01, .margin_label = "margin"};
  chart.rows.push_back({.label = "FA2 d 64", .identity = style::PlotIdentity{PlotSlot::circle, 0}});
  for (int k = 0; k < 5; ++k) chart.rows[0].marks.push_back({.x = 1, .read_out_text = "one"});
  chart.rows[0].marks.push_back({.x = 1.05, .low = 1.04, .high = 1.06, .read_out_text = "slower"});
  const Figure figure{.id = "x", .title = "Ratios", .panels = {{.alt = "alt", .picture = chart}}};
  const std::string svg = to_svg(figure, Placement::embedded);
  const std::regex dot("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
  std::set<std::pair<std::string, std::string>> places;
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), dot); at != std::sregex_iterator(); ++at)
    places.emplace((*at)[1].str(), (*at)[2].str());
  EXPECT_EQ(places.size(), 6U);
  EXPECT_THAT(svg,
              AllOf(HasSubstr("class=\"band\""), HasSubstr("class=\"l b c00\""), HasSubstr("<title>slower</title>")));
}

TEST(ReportPictures, CoincidingMarksAreShiftedApart) {
  LineChart chart{.x = {"N", Quantity::length, true}, .y = {"time", Quantity::nanoseconds, true}};
  for (const char* name : {"one", "other"}) {
    Line& line = chart.lines.emplace_back(Line{.label = name, .identity = style::PlotIdentity{PlotSlot::circle, 0}});
    line.marks = {{.x = 1024, .y = 5, .read_out_text = name}, {.x = 2048, .y = 9, .read_out_text = name}};
  }
  const std::string svg =
      to_svg({.id = "x", .title = "Times", .panels = {{.alt = "alt", .picture = chart}}}, Placement::embedded);
  const std::regex dot("<title>(one|other)</title><circle cx=\"([0-9.]+)\"");
  std::set<std::string> places;
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), dot); at != std::sregex_iterator(); ++at)
    places.insert((*at)[2].str());
  EXPECT_EQ(places.size(), 4U);
}

TEST(ReportPictures, RatioTicksAreRoundAndInRange) {
  for (const double end : {1.003, 1.02, 1.07, 1.5, 3.0, 70.0, 4000.0}) {
    const std::vector<double> ticks = ratio_ticks(end);
    EXPECT_GE(ticks.size(), 3U) << end;
    EXPECT_LE(ticks.size(), 13U) << end;
    for (const double tick : ticks) {
      EXPECT_LE(tick, end);
      EXPECT_GE(tick, 1 / end);
    }
  }
}

TEST(ReportPictures, HaveNoNegativeZero) {
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(12.345), "12.35");
}

}  // namespace
}  // namespace attnscope::report

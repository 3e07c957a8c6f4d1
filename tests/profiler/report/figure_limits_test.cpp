// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "messages/report.h"
#include "profiler/report/report_parts.h"
#include "tests/message_matchers.h"
#include "tests/profiler/report/documents.h"

namespace attnscope::report {
namespace {

using documents::lines_of;

constexpr std::size_t most_marks = 2000;

Figure figure_of(std::vector<Line> lines) {
  Figure figure{.id = "io", .title = "title", .caption = "caption"};
  figure.panels.push_back(
      {.alt = "alt", .picture = LineChart{.x = {"N", Quantity::length, true}, .y = {}, .lines = std::move(lines)}});
  return figure;
}

std::size_t count_marks(const Figure& figure) {
  std::size_t marks = 0;
  for (const Line& line : lines_of(figure)) marks += line.marks.size();
  return marks;
}

Line line_of(std::size_t marks, double y = 1) {
  Line line{.label = "fa2", .marks = {}};
  for (std::size_t i = 0; i < marks; ++i)
    line.marks.push_back({.x = static_cast<double>(i + 1), .y = y, .read_out_text = {}});
  return line;
}

TEST(FigureLimits, KeepEndsOfManyMarks) {
  const std::vector<Line> lines{line_of(100'000), line_of(300), line_of(10)};
  Figure figure = figure_of(lines);
  limit_marks(figure);
  ASSERT_EQ(lines_of(figure).size(), 3U);
  EXPECT_LE(count_marks(figure), most_marks);
  const std::vector<Mark>& kept = lines_of(figure)[0].marks;
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &Mark::x));
  EXPECT_EQ(kept.front().x, 1);
  EXPECT_EQ(kept.back().x, 100'000);
  EXPECT_EQ(lines_of(figure)[2].marks.size(), 10U) << "a short line keeps all";
  EXPECT_THAT(figure.caption, ::testing::HasSubstr(text(msg::report::marks_limited{
                                  .all = 100'310, .shown = static_cast<std::int64_t>(count_marks(figure))})));
}

TEST(FigureLimits, DrawFortyOfManyLines) {
  Figure figure = figure_of(std::vector<Line>(20'000, line_of(5)));
  limit_marks(figure);
  EXPECT_EQ(lines_of(figure).size(), 40U);
  EXPECT_THAT(figure.caption, ::testing::HasSubstr(text(msg::report::lines_limited{.all = 20'000, .shown = 40})));
}

TEST(FigureLimits, MarksAtOnePlaceAreLimited) {
  Figure figure = figure_of({line_of(5'000)});
  for (Mark& mark : std::get<LineChart>(figure.panels.front().picture).lines[0].marks) mark.x = 0;
  limit_marks(figure);
  EXPECT_LE(count_marks(figure), most_marks);
}

TEST(FigureLimits, StripsKeepBothEnds) {
  StripChart chart{.x_title = "ratio"};
  for (int row = 0; row < 4; ++row) {
    StripRow& strip = chart.rows.emplace_back(StripRow{.label = "fa2"});
    for (int k = 0; k < 5000; ++k) strip.marks.push_back({.x = 1 + 1e-5 * ((k * 7919) % 5000), .read_out_text = {}});
  }
  Figure figure{.id = "x", .title = "title"};
  figure.panels.push_back({.alt = "alt", .picture = std::move(chart)});
  limit_marks(figure);
  for (const StripRow& row : std::get<StripChart>(figure.panels.front().picture).rows) {
    EXPECT_EQ(row.marks.size(), most_marks / 4);
    EXPECT_EQ(row.marks.front().x, 1);
    EXPECT_EQ(row.marks.back().x, 1 + 1e-5 * 4999);
  }
  EXPECT_THAT(figure.caption, ::testing::HasSubstr(text(msg::report::marks_limited{.all = 20'000, .shown = 2000})));
}

TEST(FigureLimits, LeaveOrdinaryFiguresUnchanged) {
  Figure figure = figure_of(std::vector<Line>(40, line_of(50)));
  limit_marks(figure);
  EXPECT_EQ(count_marks(figure), 2'000U);
  EXPECT_EQ(figure.caption, "caption");
}

}  // namespace
}  // namespace attnscope::report

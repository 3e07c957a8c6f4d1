// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/report/documents.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "messages/report.h"

namespace attnscope::report::documents {
Input input_of(const fixtures::Points& points) {
  Input input;
  input.table = points.table();
  input.points.resize(input.table.size());
  for (std::size_t run = 0; run < input.table.runs().size(); ++run) {
    RunFacts facts;
    facts.file = "test.attnscope";
    facts.started_at = "2026-01-01T00:00:00Z";
    facts.argv = {"/opt/bin/attnscope", "collect", "-a", "N=[256,512]"};
    input.runs.push_back(facts);
  }
  input.version = "0";
  return input;
}

Document document_of(const fixtures::Points& points, const Request& request) {
  const Result<Document, Message> document = make_report(input_of(points), request);
  EXPECT_TRUE(document.ok());
  return document.ok() ? *document : Document{};
}

Document document_of(const std::vector<PointRecord>& records, const Request& request) {
  return document_of(fixtures::Points(records), request);
}

std::vector<std::string> sentences(const Document& document) {
  std::vector<std::string> all{document.answer.text()};
  all.insert(all.end(), document.measured.begin(), document.measured.end());
  for (const Section& section : document.sections) {
    for (const Paragraph& paragraph : section.text) all.push_back(paragraph.text());
  }
  all.insert(all.end(), document.notes.begin(), document.notes.end());
  return all;
}

std::optional<Figure> figure(const Document& document, std::string_view id) {
  if (document.figure && document.figure->id == id) return document.figure;
  const auto found = std::ranges::find_if(
      document.sections, [&](const Section& section) { return section.figure && section.figure->id == id; });
  return found == document.sections.end() ? std::nullopt : found->figure;
}

const std::vector<Line>& lines_of(const Figure& figure, std::size_t panel) {
  return std::get<LineChart>(figure.panels.at(panel).picture).lines;
}

Table table(const Document& document, std::string_view key) {
  const auto found = std::ranges::find(document.appendix, key, &Table::key);
  return found == document.appendix.end() ? Table{} : *found;
}

std::vector<std::string> column(const Table& table, std::string_view key) {
  const auto place = std::ranges::find(table.columns, key, &analysis::Column::key) - table.columns.begin();
  std::vector<std::string> cells;
  for (const std::vector<TableCell>& row : table.rows) cells.push_back(row.at(static_cast<std::size_t>(place)).text);
  return cells;
}

Message fastest(const std::string& series, const std::string& slowest, const std::string& ratio) {
  return msg::report::fastest{.device = "*",
                              .place = "*",
                              .ratio = ratio,
                              .series = series,
                              .slowest = slowest,
                              .slowest_time = "*",
                              .time = "*"};
}

Message most_bytes(const std::string& ratio) {
  return msg::report::most_bytes{
      .device = "*", .least = "*", .least_bytes = "*", .most = "*", .most_bytes = "*", .place = "*", .ratio = ratio};
}

}  // namespace attnscope::report::documents

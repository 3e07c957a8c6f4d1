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

std::string words_of(const Paragraph& paragraph) {
  std::string all;
  for (const LinkedText& words : paragraph.words) all += words.text;
  return all;
}

std::vector<std::string> sentences(const Document& document) {
  std::vector<std::string> all;
  for (const Block& block : document.answer) {
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) all.push_back(words_of(*paragraph));
  }
  return all;
}

std::vector<Figure> figures(const Document& document, std::string_view id) {
  std::vector<Figure> all = document.figures;
  std::erase_if(all, [&](const Figure& figure) { return !figure.id.starts_with(id); });
  return all;
}

Table table(const Document& document, std::string_view key) {
  const auto found = std::ranges::find(document.appendix, key, &Table::key);
  return found == document.appendix.end() ? Table{} : *found;
}

std::vector<std::string> column(const Table& table, std::string_view key) {
  const auto place = std::ranges::find(table.columns, key, &analysis::Column::key) - table.columns.begin();
  std::vector<std::string> cells;
  for (const std::vector<analysis::Cell>& row : table.rows)
    cells.push_back(row.at(static_cast<std::size_t>(place)).text);
  return cells;
}

Message faster(const std::string& ratio, const std::string& series, const std::string& origin) {
  return msg::report::faster{
      .origin = origin, .other = "*", .other_time = "*", .own_time = "*", .ratio = ratio, .series = series};
}

Message fewer_bytes(const std::string& ratio) {
  return msg::report::fewer_bytes{
      .origin = "*", .other = "*", .other_bytes = "*", .own_bytes = "*", .ratio = ratio, .series = "*"};
}

}  // namespace attnscope::report::documents

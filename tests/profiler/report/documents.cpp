// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/report/documents.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attnscope::report::documents {
namespace {

template <class Kind>
std::vector<Kind> blocks_of(const Document& document, std::string_view key) {
  std::vector<Kind> all;
  if (const Section* section = find(document, key)) {
    for (const Block& block : section->blocks) {
      if (const auto* each = std::get_if<Kind>(&block)) all.push_back(*each);
    }
  }
  return all;
}

}  // namespace

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

Document document_of(const fixtures::Points& points, const Request& request) {
  const Result<Document, Message> document = make_report(input_of(points), request);
  EXPECT_TRUE(document.ok());
  return document.ok() ? *document : Document{};
}

Document document_of(const std::vector<PointRecord>& records, const Request& request) {
  return document_of(fixtures::Points(records), request);
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

std::string words_of(const Section& section) {
  std::string all;
  for (const Block& block : section.blocks) {
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) all += words_of(*paragraph) + "\n";
    if (const auto* table = std::get_if<Table>(&block)) {
      for (const std::vector<Cell>& row : table->rows) {
        for (const Cell& cell : row) all += cell.text + "\t";
        all += "\n";
      }
    }
  }
  return all;
}

std::vector<std::string> sentences(const Document& document) {
  std::vector<std::string> all;
  for (const Paragraph& paragraph : blocks_of<Paragraph>(document, "summary")) all.push_back(words_of(paragraph));
  return all;
}

std::vector<Figure> figures(const Document& document, std::string_view key) {
  return blocks_of<Figure>(document, key);
}

std::vector<Table> tables(const Document& document, std::string_view key) {
  return blocks_of<Table>(document, key);
}

}  // namespace attnscope::report::documents

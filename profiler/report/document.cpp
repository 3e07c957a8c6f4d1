// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/document.h"

#include <algorithm>
#include <utility>

namespace attnscope::report {

void Paragraph::append(const Paragraph& more) {
  if (!words.empty() && !more.words.empty()) words.push_back({" "});
  words.insert(words.end(), more.words.begin(), more.words.end());
}

std::string Paragraph::text() const {
  std::string all;
  for (const LinkedText& each : words) all += each.text;
  return all;
}

std::vector<const Figure*> Document::figures() const {
  std::vector<const Figure*> all;
  if (figure) all.push_back(&*figure);
  for (const Section& section : sections) {
    if (section.figure) all.push_back(&*section.figure);
  }
  return all;
}

Table fill_table(const analysis::Table& result, std::string key, std::string caption) {
  Table table{.key = std::move(key), .caption = std::move(caption), .columns = {}, .rows = {}};
  for (const analysis::Column& column : result.columns) {
    table.columns.push_back({.key = column.key, .title = column.title, .kind = column.kind});
  }
  for (std::size_t row = 0; row < result.rows; ++row) {
    std::vector<TableCell>& cells = table.rows.emplace_back();
    for (const analysis::Column& column : result.columns)
      cells.push_back({column.cell(row), result.tone_of(column, row)});
  }
  return table;
}

Paragraph sentence(const std::string& text, const std::vector<LinkedText>& links) {
  Paragraph paragraph;
  std::size_t end = text.size();
  for (auto at_link = links.rbegin(); at_link != links.rend(); ++at_link) {
    const LinkedText& link = *at_link;
    const std::size_t size = link.text.size();
    const std::size_t at = size == 0 || size > end ? std::string::npos : text.rfind(link.text, end - size);
    if (at == std::string::npos) continue;
    if (at + size < end) paragraph.words.push_back({text.substr(at + size, end - at - size)});
    paragraph.words.push_back(link);
    end = at;
  }
  if (end > 0) paragraph.words.push_back({text.substr(0, end)});
  std::ranges::reverse(paragraph.words);
  return paragraph;
}

}  // namespace attnscope::report

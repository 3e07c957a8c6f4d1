// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/document.h"

#include <utility>

namespace attnscope::report {

Table fill_table(const analysis::Table& result, std::string key, std::string caption) {
  Table table{.key = std::move(key), .caption = std::move(caption), .columns = {}, .rows = {}};
  for (const analysis::Column& column : result.columns) {
    table.columns.push_back({.key = column.key, .title = column.title, .kind = column.kind});
  }
  for (std::size_t row = 0; row < result.rows; ++row) {
    std::vector<analysis::Cell>& cells = table.rows.emplace_back();
    for (const analysis::Column& column : result.columns) cells.push_back(column.cell(row));
  }
  return table;
}

Paragraph sentence(const std::string& text, const std::vector<LinkedText>& links) {
  Paragraph paragraph;
  std::size_t done = 0;
  for (const LinkedText& link : links) {
    const std::size_t at = link.text.empty() ? std::string::npos : text.find(link.text, done);
    if (at == std::string::npos) continue;
    if (at > done) paragraph.words.push_back({text.substr(done, at - done)});
    paragraph.words.push_back(link);
    done = at + link.text.size();
  }
  if (done < text.size()) paragraph.words.push_back({text.substr(done)});
  return paragraph;
}

}  // namespace attnscope::report

// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/document.h"

#include <algorithm>
#include <utility>

#include "messages/report.h"

namespace attnscope::report {

std::string Table::place_of(std::size_t row) const {
  if (row < anchors.size()) return "row-" + row_name(anchors[row]);
  return row < places.size() ? places[row] : std::string();
}

void Table::drop_empty_columns() {
  for (std::size_t column = columns.size(); column-- > 0;) {
    const bool empty = std::ranges::all_of(
        rows, [&](const std::vector<Cell>& row) { return column >= row.size() || row[column].text.empty(); });
    if (!empty) continue;
    const auto place = static_cast<std::ptrdiff_t>(column);
    columns.erase(columns.begin() + place);
    for (std::vector<Cell>& row : rows) row.erase(row.begin() + place);
  }
}

Table written_out(const analysis::Table& result, std::string caption) {
  Table table{.caption = std::move(caption), .columns = {}, .rows = {}};
  for (const analysis::Column& column : result.columns) {
    table.columns.push_back({.title = column.title,
                             .number = column.kind == analysis::ColumnKind::number,
                             .words = column.kind == analysis::ColumnKind::sentence});
  }
  for (std::size_t row = 0; row < result.rows; ++row) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const analysis::Column& column : result.columns) {
      analysis::Cell cell = column.cell(row);
      cells.push_back({.text = std::move(cell.text), .row = cell.row, .number = cell.number});
    }
  }
  return table;
}

Table with_rows(Table table) {
  table.columns.push_back({.title = text(say::report::column_row{}), .number = true});
  for (std::vector<Cell>& cells : table.rows) {
    const auto of_point = std::ranges::find_if(cells, [](const Cell& cell) { return cell.row.has_value(); });
    const std::optional<analysis::Row> row = of_point == cells.end() ? std::nullopt : of_point->row;
    cells.push_back({.text = row ? row_name(*row) : std::string(), .row = row});
  }
  return table;
}

std::string target_of(const Words& words) {
  if (words.row) return "row-" + row_name(*words.row);
  return words.place;
}

Paragraph sentence(const std::string& text, const std::vector<Words>& links) {
  Paragraph paragraph;
  std::size_t done = 0;
  for (const Words& link : links) {
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

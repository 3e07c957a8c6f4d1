// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "storage/exchange/foreign_tables.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// Removes spaces and emphasis: "**1.5**", "`flash`".
std::string trimmed(std::string_view cell) {
  constexpr std::string_view ends = " \t\r*`";
  const std::size_t first = cell.find_first_not_of(ends);
  if (first == std::string_view::npos) return {};
  return std::string(cell.substr(first, cell.find_last_not_of(ends) - first + 1));
}

/// Returns the cells of "| a | b |"; empty if the line is not of a table.
std::vector<std::string> cells(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] != '|') return {};
  line.remove_prefix(first + 1);
  std::vector<std::string> all;
  std::string cell;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|') {
      all.push_back(trimmed(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  if (std::string last = trimmed(cell); !last.empty()) all.push_back(std::move(last));
  return all;
}

bool is_rule(const std::vector<std::string>& row) {
  return !row.empty() && std::ranges::all_of(row, [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of(":-") == std::string::npos;
  });
}

}  // namespace

ForeignTable read_markdown(std::string_view text, const ImportRequest& /*request*/) {
  ForeignTable table;
  bool ended = false;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::vector<std::string> row = cells(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (row.empty()) {
      ended = ended || !table.header.fields.empty();
      continue;
    }
    if (ended) fail(line_place(number), "a second table follows the first (import each table separately)");
    if (is_rule(row)) continue;
    if (table.header.fields.empty()) {
      table.header = {.number = number, .fields = std::move(row)};
    } else {
      table.rows.push_back({.number = number, .fields = std::move(row)});
      table.rows.back().fields.resize(std::max(table.rows.back().fields.size(), table.header.fields.size()));
    }
  }
  if (table.header.fields.empty()) fail("no table found: no line begins with '|'");
  return table;
}

}  // namespace attnscope::exchange

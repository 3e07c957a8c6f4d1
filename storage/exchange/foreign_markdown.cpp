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

/// Returns the cells of "| a | b |" or "a | b"; empty if the line has no '|'.
std::vector<std::string> cells(std::string_view line) {
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
  if (all.empty()) return {};
  if (all.front().empty() && line[line.find_first_not_of(" \t")] == '|') all.erase(all.begin());
  if (std::string last = trimmed(cell); !last.empty()) all.push_back(std::move(last));
  return all;
}

bool is_rule(const std::vector<std::string>& row) {
  return !row.empty() && std::ranges::all_of(row, [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of(":-") == std::string::npos;
  });
}

/// Removes the "x" of NVBench's counts: "499x".
void trim_counts(ForeignTable& table) {
  const auto samples = std::ranges::find(table.header.fields, "Samples") - table.header.fields.begin();
  for (CsvLine& row : table.rows) {
    const auto at = static_cast<std::size_t>(samples);
    if (at < row.fields.size() && row.fields[at].ends_with('x')) row.fields[at].pop_back();
  }
}

/// Renames columns that NVBench names twice: "Noise" after "GPU Time" is "GPU Time Noise", and the second "Samples" is
/// that of the batch.
void rename_repeated(std::vector<std::string>& names) {
  const std::vector<std::string> before = names;
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (std::ranges::count(before, before[i]) < 2) continue;
    if (before[i] == "Noise") names[i] = before[i - 1] + " Noise";
    const bool again = std::ranges::find(before, before[i]) - before.begin() < static_cast<std::ptrdiff_t>(i);
    if (before[i] == "Samples" && again) names[i] = "Batch Samples";
  }
}

}  // namespace

bool has_markdown_rule(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (is_rule(cells(text.substr(at, end - at)))) return true;
    at = end + 1;
  }
  return false;
}

ForeignTable read_markdown(std::string_view text, const ImportRequest& /*request*/) {
  ForeignTable table;
  CsvLine before;
  bool inside = false;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    CsvLine line{.number = ++number, .fields = cells(text.substr(at, end - at))};
    at = end + 1;
    if (is_rule(line.fields)) {
      if (!table.header.fields.empty()) {
        fail(line_place(number), "a second table follows the first (import each table separately)");
      }
      if (before.fields.empty()) fail(line_place(number), "a table without a heading");
      table.header = std::move(before);
      inside = true;
    } else if (inside && !line.fields.empty()) {
      line.fields.resize(std::max(line.fields.size(), table.header.fields.size()));
      table.rows.push_back(line);
    } else {
      const bool more = !table.header.fields.empty() && line.fields.size() > 1;
      if (more && !inside) fail(line_place(number), "rows follow below the table (remove the blank line above them)");
      inside = false;
    }
    before = std::move(line);
  }
  if (table.header.fields.empty()) fail("no table found: no line of '---' between '|'");
  rename_repeated(table.header.fields);
  trim_counts(table);
  return table;
}

}  // namespace attnscope::exchange

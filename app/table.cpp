// SPDX-License-Identifier: Apache-2.0
#include "app/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "profiler/plan/text.h"
#include "storage/exchange/export.h"

namespace attnscope {
namespace {

/// Columns of a terminal rather than bytes, so that what has "×" or "µ" stands straight: Chinese characters and their
/// punctuation, U+3000 and above, take two.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) != 0x80U) width += byte >= 0xE3U ? 2 : 1;
  }
  return width;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return right ? blanks + text : text + blanks;
}

/// Without anything that steers what shows it.
Table for_terminal(Table table) {
  for (auto& row : table.rows) {
    for (std::string& field : row) field = printable(field);
  }
  return table;
}

const char* class_of(const analysis::Column& column, analysis::Tone tone) {
  if (column.kind == analysis::ColumnKind::number) return " class=\"n\"";
  if (tone == analysis::Tone::better) return " class=\"better\"";
  if (tone == analysis::Tone::worse) return " class=\"worse\"";
  return tone == analysis::Tone::muted ? " class=\"muted\"" : "";
}

/// `titles`: of the columns; `cells` prints those of a row.
template <class Cells>
void print_html_table(const std::vector<std::string>& titles, std::size_t rows, std::ostream& out, Cells cells) {
  out << "<table>\n<thead><tr>";
  for (const std::string& title : titles) out << "<th scope=\"col\">" << html_text(title) << "</th>";
  out << "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < rows; ++row) {
    out << "<tr>";
    cells(row, [&](const char* attributes, const std::string& words) {
      out << "<td" << attributes << '>' << html_text(words) << "</td>";
    });
    out << "</tr>\n";
  }
  out << "</tbody></table>\n";
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  constexpr std::string_view marks = "\\|*_[`#";
  std::string escaped;
  for (const char c : text) {
    if (c == '<' || c == '&') {
      escaped += c == '<' ? "&lt;" : "&amp;";
      continue;
    }
    if (marks.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

Table table_of(const analysis::Table& table, bool people) {
  Table written;
  for (const analysis::Column& column : table.columns) {
    written.columns.push_back(
        {.name = people ? column.title : column.key, .number = column.kind == analysis::ColumnKind::number});
  }
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::vector<std::string>& fields = written.rows.emplace_back();
    for (const analysis::Column& column : table.columns) fields.push_back(column.cell(row).text);
  }
  return written;
}

void print_aligned(const Table& given, bool markdown, std::ostream& out) {
  const Table table = for_terminal(given);
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = std::max<std::size_t>(width_of(table.columns[i].name), 3);
    for (const auto& row : table.rows) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
  }
  const auto print_row = [&](const auto& field) {
    std::string line = markdown ? "|" : "";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string text = padded(field(i), widths[i], table.columns[i].number);
      line += markdown ? fmt::format(" {} |", text) : fmt::format("{}{}", i == 0 ? "" : "  ", text);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out << line << '\n';
  };
  print_row([&](std::size_t i) { return table.columns[i].name; });
  print_row([&](std::size_t i) {
    std::string rule(widths[i], '-');
    if (markdown && table.columns[i].number) rule.back() = ':';
    return rule;
  });
  for (const auto& row : table.rows) {
    print_row([&](std::size_t i) { return markdown ? escape_markdown(row[i]) : row[i]; });
  }
}

void print_csv(const Table& table, std::ostream& out) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) out << (i == 0 ? "" : ",") << csv_text(table.columns[i].name);
  out << '\n';
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << (i == 0 ? "" : ",") << (table.columns[i].number ? row[i] : csv_text(row[i]));
    }
    out << '\n';
  }
}

std::string html_text(const std::string& words) {
  std::string escaped;
  for (const char c : printable(words)) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void print_html(const Table& table, std::ostream& out) {
  std::vector<std::string> titles;
  for (const TableColumn& column : table.columns) titles.push_back(column.name);
  print_html_table(titles, table.rows.size(), out, [&](std::size_t row, const auto& cell) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      cell(table.columns[i].number ? " class=\"n\"" : "", table.rows[row][i]);
    }
  });
}

void print_html(const analysis::Table& table, std::ostream& out) {
  std::vector<std::string> titles;
  for (const analysis::Column& column : table.columns) titles.push_back(column.title);
  print_html_table(titles, table.rows, out, [&](std::size_t row, const auto& cell) {
    for (const analysis::Column& column : table.columns) {
      cell(class_of(column, table.tone_of(column, row)), column.cell(row).text);
    }
  });
}

nlohmann::ordered_json rows_of(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json& object = rows.emplace_back(nlohmann::ordered_json::object());
    for (std::size_t i = 0; i < row.size(); ++i) {
      nlohmann::ordered_json& value = object[table.columns[i].name];
      if (row[i].empty()) continue;  // null
      if (table.columns[i].number) {
        value = nlohmann::ordered_json::parse(row[i]);
      } else {
        value = row[i];
      }
    }
  }
  return rows;
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "app/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "profiler/plan/text.h"

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

/// Characters that would be markup in Markdown, or HTML within it.
std::string escape_markdown(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
      continue;
    }
    if (c == '|' || c == '[' || c == '`') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void print_aligned(const Table& table, bool markdown, std::ostream& out) {
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

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

void print_csv(const Table& table, std::ostream& out) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) out << (i == 0 ? "" : ",") << csv_field(table.columns[i].name);
  out << '\n';
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << (i == 0 ? "" : ",") << csv_field(table.columns[i].number ? row[i] : guarded(row[i]));
    }
    out << '\n';
  }
}

void print_json(const Table& table, std::ostream& out) {
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json& object = document.emplace_back(nlohmann::ordered_json::object());
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
  out << document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

void add_format_options(CLI::App& command, TableFormat& format) {
  CLI::Option* csv = command.add_flag_callback(
      "--csv", [&format] { format = TableFormat::csv; }, "Result as CSV, base units");
  CLI::Option* json = command.add_flag_callback(
      "--json", [&format] { format = TableFormat::json; }, "Result as JSON, base units");
  CLI::Option* markdown = command.add_flag_callback(
      "--md", [&format] { format = TableFormat::markdown; }, "Result as a Markdown table");
  csv->excludes(json, markdown);
  json->excludes(markdown);
}

void print(const Table& table, TableFormat format, std::ostream& out) {
  switch (format) {
    case TableFormat::text:
      return print_aligned(for_terminal(table), false, out);
    case TableFormat::markdown:
      return print_aligned(for_terminal(table), true, out);
    case TableFormat::csv:
      return print_csv(table, out);
    case TableFormat::json:
      return print_json(table, out);
  }
}

void print(const analysis::Table& table, TableFormat format, std::ostream& out) {
  Table written;
  for (const analysis::Column& column : table.columns) {
    written.columns.push_back({.name = for_people(format) ? column.title : column.key,
                               .number = column.kind == analysis::ColumnKind::number});
  }
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::vector<std::string>& fields = written.rows.emplace_back();
    for (const analysis::Column& column : table.columns) fields.push_back(column.cell(row).text);
  }
  print(written, format, out);
}

void print_help(const analysis::Table& table, std::ostream& out) {
  for (const analysis::Column& column : table.columns) {
    if (!column.help.empty()) out << fmt::format("{}: {}\n", column.title, column.help);
  }
}

}  // namespace attnscope

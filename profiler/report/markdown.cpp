// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "profiler/plan/text.h"
#include "profiler/report/writers.h"
#include "profiler/units/csv.h"

namespace attnscope::report {

namespace {

/// GitHub turns text after "www." into a link.
bool ends_with_www(std::string_view text) {
  if (text.size() < 3) return false;
  return std::ranges::all_of(text.substr(text.size() - 3), [](char c) { return c == 'w' || c == 'W'; });
}

/// Returns whether a colon cannot start a link: before a space or digit, or at the end.
bool is_plain_colon(std::string_view text, std::size_t colon) {
  if (colon + 1 >= text.size()) return true;
  const char next = text[colon + 1];
  return next == ' ' || (next >= '0' && next <= '9');
}

}  // namespace

std::string markdown(std::string_view text) {
  const std::string all = printable(text);
  std::string safe;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const char c = all[k];
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == ':' && !is_plain_colon(all, k)) {
      safe += "&#58;";  // prevents links from https://...
    } else if (c == '@') {
      safe += "&#64;";  // prevents links from user@host
    } else if (c == '.' && ends_with_www(safe)) {
      safe += "&#46;";
    } else {
      // '-' and '+' are markup only at the start of a line or repeated.
      const bool in_words = (c == '-' || c == '+') && k > 0 && all[k - 1] != c;
      if (!in_words && std::string_view("\\`*_{}[]()#+-!|>~$").find(c) != std::string_view::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

namespace {

std::string line_of(const Paragraph& paragraph) {
  std::string line = paragraph.heading ? "### " : "";
  for (const LinkedText& words : paragraph.words) line += markdown(words.text);
  return line + "\n\n";
}

std::string lines_of(const Table& table) {
  std::string lines = markdown(table.caption) + "\n\n|";
  for (const analysis::Column& column : table.columns) lines += fmt::format(" {} |", markdown(column.title));
  lines += "\n|";
  for (const analysis::Column& column : table.columns)
    lines += column.kind == analysis::ColumnKind::number ? " ---: |" : " --- |";
  for (const std::vector<analysis::Cell>& row : table.rows) {
    lines += "\n|";
    for (const analysis::Cell& cell : row) lines += fmt::format(" {} |", markdown(cell.text));
  }
  return lines + "\n\n";
}

std::string csv_of(const Table& table) {
  std::string lines;
  const auto add = [&](std::size_t column, const std::string& field) {
    lines += (column > 0 ? "," : "") + field + (column + 1 == table.columns.size() ? "\n" : "");
  };
  for (std::size_t k = 0; k < table.columns.size(); ++k) add(k, table.columns[k].key);
  for (const std::vector<analysis::Cell>& row : table.rows) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool number = table.columns[k].kind == analysis::ColumnKind::number;
      const std::string& field = row[k].text;
      add(k, number && field.find(',') == std::string::npos ? field : quote_csv_field(field));
    }
  }
  return lines;
}

}  // namespace

MarkdownFiles to_markdown(const Document& document, std::string_view folder) {
  MarkdownFiles files;
  std::string& out = files.text;
  out = fmt::format("# {}\n\n{}\n\n", markdown(document.title), markdown(document.subtitle));
  for (const Block& block : document.answer) {
    const auto* table = std::get_if<Table>(&block);
    out += table != nullptr ? lines_of(*table) : line_of(std::get<Paragraph>(block));
  }
  for (const Figure& figure : document.figures) {
    const std::string name = figure.id + ".svg";
    files.attachments.push_back({name, to_svg(figure.chart, figure.id, Placement::alone) + "\n"});
    out += fmt::format("![{}](<{}/{}>)\n\n{}\n\n", markdown(figure.chart.alt), folder, name,
                       markdown(figure.chart.title + ". " + figure.caption));
  }
  for (const Table& table : document.appendix) {
    const std::string name = table.key + ".csv";
    files.attachments.push_back({name, csv_of(table)});
    out += fmt::format("[{0}](<{1}/{0}>): {2}\n\n", name, folder, markdown(table.caption));
  }
  out += markdown(document.version) + "\n";
  return files;
}

}  // namespace attnscope::report

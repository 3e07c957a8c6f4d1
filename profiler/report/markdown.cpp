// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/report.h"
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

std::string line_of(const Paragraph& paragraph) {
  return paragraph.words.empty() ? std::string() : markdown(paragraph.text()) + "\n\n";
}

std::string lines_of(const Table& table) {
  std::string lines = markdown(table.caption) + "\n\n|";
  for (const analysis::Column& column : table.columns) lines += fmt::format(" {} |", markdown(column.title));
  lines += "\n|";
  for (const analysis::Column& column : table.columns)
    lines += column.kind == analysis::ColumnKind::number ? " ---: |" : " --- |";
  for (const std::vector<TableCell>& row : table.rows) {
    lines += "\n|";
    for (const TableCell& cell : row) lines += fmt::format(" {} |", markdown(cell.text));
  }
  return lines + "\n\n";
}

/// Returns the values in base units; rounded texts of pages are replaced by their numbers.
std::string csv_of(const Table& table) {
  std::string lines;
  const auto add = [&](std::size_t column, const std::string& field) {
    lines += (column > 0 ? "," : "") + field + (column + 1 == table.columns.size() ? "\n" : "");
  };
  for (std::size_t k = 0; k < table.columns.size(); ++k) add(k, table.columns[k].key);
  for (const std::vector<TableCell>& row : table.rows) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool number = table.columns[k].kind == analysis::ColumnKind::number;
      add(k, number && row[k].number ? analysis::raw_text(row[k].number) : quote_csv_field(row[k].text));
    }
  }
  return lines;
}

class MarkdownWriter {
 public:
  MarkdownWriter(const Document& document, std::string_view folder) : document_(document), folder_(folder) {}

  MarkdownFiles write() && {
    std::string& out = files_.text;
    out = fmt::format("# {}\n\n{}\n\n", markdown(document_.title), markdown(document_.date));
    out += line_of(document_.answer);
    if (document_.figure) add(*document_.figure);
    if (document_.table) out += lines_of(*document_.table);
    for (const std::string& line : document_.measured) out += markdown(line) + "\n\n";
    for (const Section& section : document_.sections) {
      out += fmt::format("## {}\n\n", markdown(section.title));
      if (section.figure) add(*section.figure);
      for (const Paragraph& paragraph : section.text) out += line_of(paragraph);
    }
    add_data();
    out += fmt::format("## {}\n\n", markdown(text(msg::report::page_notes{})));
    for (const std::string& note : document_.notes) out += fmt::format("- {}\n", markdown(note));
    out += fmt::format("\n{}\n", markdown(document_.version));
    return std::move(files_);
  }

 private:
  void add(const Figure& figure) {
    const std::string name = figure.id + ".svg";
    files_.attachments.push_back({name, to_svg(figure, Placement::alone) + "\n"});
    std::string alt;
    for (const Chart& chart : figure.panels) alt += fmt::format("{}{}", alt.empty() ? "" : " ", chart.alt);
    files_.text += fmt::format("![{}](<{}/{}>)\n\n", markdown(alt), folder_, name);
    files_.text += markdown(fmt::format("{}. {}", figure.title, figure.caption)) + "\n\n";
  }

  /// Tables for export replace those of the page with the same key.
  void add_data() {
    const auto attach = [&](const Table& table) {
      const std::string name = table.key + ".csv";
      files_.attachments.push_back({name, csv_of(table)});
      files_.text += fmt::format("[{0}](<{1}/{0}>): {2}\n\n", name, folder_, markdown(table.caption));
    };
    for (const Table& table : document_.data) attach(table);
    for (const Table& table : document_.appendix) {
      if (std::ranges::count(document_.data, table.key, &Table::key) == 0) attach(table);
    }
  }

  const Document& document_;
  std::string_view folder_;
  MarkdownFiles files_;
};

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

MarkdownFiles to_markdown(const Document& document, std::string_view folder) {
  return MarkdownWriter(document, folder).write();
}

}  // namespace attnscope::report

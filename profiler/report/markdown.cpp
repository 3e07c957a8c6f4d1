// SPDX-License-Identifier: Apache-2.0
// Markdown with pictures and tables, and the files of a report.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "messages/report.h"
#include "profiler/files/file_error.h"
#include "profiler/plan/text.h"
#include "profiler/report/document.h"
#include "profiler/report/report.h"
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

namespace fs = std::filesystem;

void write_page(const Document& document, const fs::path& output, OutputFile::ExistingFile existing) {
  OutputFile page(output, file_kind::for_file_name(output), existing);
  page.write(to_html(document));
  page.commit();
}

/// Writes pictures and tables to a separate folder. All files are written before any is renamed to its final name, the
/// text last.
void write_markdown(const Document& document, const fs::path& output, OutputFile::ExistingFile existing) {
  const std::string name = output.stem().string() + "-figures";
  const MarkdownFiles files = to_markdown(document, name);
  OutputFile page(output, file_kind::for_file_name(output), existing);
  page.write(files.text);
  const fs::path folder = output.parent_path() / name;
  const bool made = fs::create_directory(folder);
  try {
    std::vector<OutputFile> written;
    written.reserve(files.attachments.size());
    for (const MarkdownFiles::File& file : files.attachments) {
      const fs::path place = folder / file.name;
      written.emplace_back(place, file.name.ends_with(".svg") ? file_kind::svg : FileKind{"a report table"}, existing)
          .write(file.content);
    }
    for (OutputFile& file : written) file.commit();
    page.commit();
  } catch (...) {
    std::error_code ignored;
    if (made) fs::remove_all(folder, ignored);
    throw;
  }
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

MarkdownFiles to_markdown(const Document& document, std::string_view folder) {
  MarkdownFiles files;
  std::string& out = files.text;
  const auto add_figure = [&](const Figure& figure) {
    const std::string name = figure.id + ".svg";
    files.attachments.push_back({name, to_svg(figure, Placement::alone) + "\n"});
    std::string alt;
    for (const Chart& chart : figure.panels) alt += fmt::format("{}{}", alt.empty() ? "" : " ", chart.alt);
    out += fmt::format("![{}](<{}/{}>)\n\n", markdown(alt), folder, name);
    out += markdown(fmt::format("{}. {}", figure.title, figure.caption)) + "\n\n";
  };
  const auto attach = [&](const Table& table) {
    const std::string name = table.key + ".csv";
    files.attachments.push_back({name, csv_of(table)});
    out += fmt::format("[{0}](<{1}/{0}>): {2}\n\n", name, folder, markdown(table.caption));
  };
  out = fmt::format("# {}\n\n{}\n\n", markdown(document.title), markdown(document.date));
  out += line_of(document.answer);
  if (document.figure) add_figure(*document.figure);
  if (document.table) out += lines_of(*document.table);
  for (const std::string& line : document.measured) out += markdown(line) + "\n\n";
  for (const Section& section : document.sections) {
    out += fmt::format("## {}\n\n", markdown(section.title));
    if (section.figure) add_figure(*section.figure);
    for (const Paragraph& paragraph : section.text) out += line_of(paragraph);
  }
  std::ranges::for_each(document.data, attach);
  // Tables for export replace those of the page with the same key.
  for (const Table& table : document.appendix) {
    if (std::ranges::count(document.data, table.key, &Table::key) == 0) attach(table);
  }
  out += fmt::format("## {}\n\n", markdown(text(msg::report::page_notes{})));
  for (const std::string& note : document.notes) out += fmt::format("- {}\n", markdown(note));
  out += fmt::format("\n{}\n", markdown(document.version));
  return files;
}

bool is_report_name(const fs::path& output) {
  return output.extension() == ".html" || output.extension() == ".md";
}

void write_report(const Document& document, const fs::path& output, OutputFile::ExistingFile existing) {
  try {
    output.extension() == ".md" ? write_markdown(document, output, existing) : write_page(document, output, existing);
  } catch (const fs::filesystem_error& error) {
    throw FileError(FileError::Kind::not_writable, "cannot write {}: {}", output.string(), error.code().message());
  }
}

}  // namespace attnscope::report

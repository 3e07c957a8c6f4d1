// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "messages/report.h"
#include "profiler/plan/text.h"
#include "profiler/points/markup.h"
#include "profiler/report/writers.h"

namespace attnscope::report {

namespace {

/// Of "www." GitHub makes a link by itself.
bool ends_in_www(std::string_view text) {
  if (text.size() < 3) return false;
  return std::ranges::all_of(text.substr(text.size() - 3), [](char c) { return c == 'w' || c == 'W'; });
}

/// A colon that begins no address and no name: before a space or a digit, or at the end.
bool is_time_or_end(std::string_view text, std::size_t colon) {
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
    } else if (c == ':' && !is_time_or_end(all, k)) {
      safe += "&#58;";  // else GitHub makes a link of https://...
    } else if (c == '@') {
      safe += "&#64;";  // else GitHub makes a link of somebody@somewhere
    } else if (c == '.' && ends_in_www(safe)) {
      safe += "&#46;";
    } else {
      // These two are marks of lists and of rules only where a line begins, or in a row.
      const bool in_words = (c == '-' || c == '+') && k > 0 && all[k - 1] != c;
      if (!in_words && std::string_view("\\`*_{}[]()#+-!|>~$").find(c) != std::string_view::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string markdown_block(std::string_view text) {
  std::size_t longest = 2;
  std::size_t row = 0;
  for (const char c : text) {
    row = c == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(longest + 1, '`');
  return fence + "sh\n" + std::string(text) + "\n" + fence + "\n";
}

namespace {

using analysis::markup;

class MarkdownWriter {
 public:
  explicit MarkdownWriter(std::string_view folder) : folder_(folder) {}

  void operator()(const Paragraph& paragraph) {
    if (paragraph.heading) out_ += "### ";
    if (paragraph.notice) out_ += "> ";
    for (const Words& words : paragraph.words) out_ += linked(words);
    out_ += "\n\n";
  }

  void operator()(const Table& table) {
    if (!table.caption.empty()) out_ += markdown(table.caption) + "\n\n";
    out_ += "|";
    for (const Column& column : table.columns) out_ += fmt::format(" {} |", markdown(column.title));
    out_ += "\n|";
    for (const Column& column : table.columns) out_ += column.number ? " ---: |" : " --- |";
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      out_ += "\n|";
      for (std::size_t k = 0; k < table.rows[row].size(); ++k) {
        out_ += " ";
        if (k == 0 && !table.place_of(row).empty()) out_ += fmt::format("<a id=\"{}\"></a>", table.place_of(row));
        out_ += linked({table.rows[row][k].text, table.rows[row][k].row}) + " |";
      }
    }
    out_ += "\n\n";
  }

  void operator()(const Figure& figure) {
    const std::string name = figure.id + ".svg";
    files_.pictures.push_back({name, to_svg(figure.chart, figure.id, Placed::alone) + "\n"});
    out_ += fmt::format("![{}](<{}/{}>)\n\n", markdown(figure.chart.alt), folder_, name);
    out_ += markdown(figure.chart.title + ". " + figure.caption) + "\n\n";
    out_ += "<details><summary>" + markup(text(say::report::behind{})) + "</summary>\n\n";
    (*this)(figure.behind);
    out_ += "</details>\n\n";
  }

  void operator()(const Commands& commands) {
    std::string lines;
    for (const std::string& line : commands.lines) {
      if (!lines.empty()) lines += '\n';
      lines += printable(line);
    }
    out_ += markdown_block(lines) + "\n";
  }

  void heading(int level, const std::string& words) {
    out_ += std::string(static_cast<std::size_t>(level), '#') + " " + markdown(words) + "\n\n";
  }
  void anchor(const std::string& key) { out_ += fmt::format("<a id=\"{}\"></a>\n\n", key); }

  [[nodiscard]] MarkdownFiles finish() && {
    while (out_.ends_with("\n\n")) out_.pop_back();
    files_.text = std::move(out_);
    return std::move(files_);
  }

 private:
  static std::string linked(const Words& words) {
    const std::string target = target_of(words);
    return target.empty() ? markdown(words.text) : fmt::format("[{}](#{})", markdown(words.text), target);
  }

  std::string folder_;
  std::string out_;
  MarkdownFiles files_;
};

}  // namespace

MarkdownFiles to_markdown(const Document& document, std::string_view folder) {
  MarkdownWriter writer(folder);
  writer.heading(1, document.title);
  writer(Paragraph{{{document.subtitle}}});
  for (const Paragraph& notice : document.notices) writer(notice);
  for (const Section& section : document.sections) {
    writer.anchor(section.key);
    writer.heading(2, section.title);
    for (const Block& block : section.blocks) std::visit([&](const auto& each) { writer(each); }, block);
  }
  writer(Paragraph{{{document.version}}});
  return std::move(writer).finish();
}

}  // namespace attnscope::report

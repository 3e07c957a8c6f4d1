// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "messages/report.h"
#include "profiler/plan/text.h"
#include "profiler/report/escape.h"
#include "profiler/report/writers.h"

namespace attnscope::report {
namespace {

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

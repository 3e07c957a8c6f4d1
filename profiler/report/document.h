// SPDX-License-Identifier: Apache-2.0
// Format-independent report, and its writers. All texts are unescaped; writers escape them. Equal documents yield equal
// bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/points/point_table.h"
#include "profiler/points/table.h"
#include "profiler/report/chart.h"

namespace attnscope::report {

/// Text, with an optional link to a point's row in the appendix.
struct LinkedText {
  std::string text;
  std::optional<analysis::Row> row = {};
};

struct Paragraph {
  std::vector<LinkedText> words;

  void append(const Paragraph&);  ///< adds a space between both
  [[nodiscard]] std::string text() const;
};

struct TableCell : analysis::Cell {
  analysis::Tone tone = analysis::Tone::plain;
};

struct Table {
  std::string key;  ///< letters and hyphens, unique in the document: "points"
  std::string caption;
  std::vector<analysis::Column> columns;
  std::vector<std::vector<TableCell>> rows;
  bool of_points = false;  ///< row k is the link target of point k
};
[[nodiscard]] Table fill_table(const analysis::Table&, std::string key, std::string caption);

/// A heading with a figure and sentences about it.
struct Section {
  std::string title;
  std::optional<Figure> figure = {};
  std::vector<Paragraph> text = {};
};

struct Document {
  std::string title;
  std::string date;  ///< of the last recording: "2026-11-30"
  Paragraph answer;  ///< the result in one paragraph
  std::optional<Figure> figure = {};
  std::optional<Table> table = {};    ///< at most eight rows
  std::vector<std::string> measured;  ///< two lines: machine, build and dates; clocks, samples and what is unusual
  std::vector<Section> sections;      ///< at most six
  std::vector<Table> appendix;        ///< all rows
  std::vector<Table> data;            ///< files of the Markdown report that have no table in the appendix
  std::vector<std::string> notes;     ///< method and sources, shown in the appendix
  std::string version;
  std::vector<std::string> warnings;  ///< requested parts that are missing; one line each on stderr
};

/// Returns a sentence in which each of `links` is linked at its last occurrence before the next link, because a name in
/// front may contain the same number. Texts that do not occur are ignored.
[[nodiscard]] Paragraph sentence(const std::string& text, const std::vector<LinkedText>& links);

/// Returns one self-contained page. It is readable without its script.
[[nodiscard]] std::string to_html(const Document&);

struct MarkdownFiles {
  std::string text;
  struct File {
    std::string name;  ///< "io.svg", "points.csv"
    std::string content;
  };
  std::vector<File> attachments;
};
/// The text links to the files as FOLDER/NAME.
[[nodiscard]] MarkdownFiles to_markdown(const Document&, std::string_view folder);

/// Escapes text for a line or table cell of Markdown: no markup, links, HTML or cell separators remain.
[[nodiscard]] std::string markdown(std::string_view text);

}  // namespace attnscope::report

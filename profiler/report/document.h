// SPDX-License-Identifier: Apache-2.0
// A report before it is HTML or Markdown: sections of paragraphs, tables, figures and commands. All of it is text as it
// is to be read; writers escape it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "profiler/points/point_table.h"
#include "profiler/points/table.h"
#include "profiler/report/chart.h"

namespace attnscope::report {

/// Words, which lead to a point's row of the appendix where they have one, or to a row of another table.
struct Words {
  std::string text;
  std::optional<analysis::Row> row = std::nullopt;
  std::string place = {};  ///< of Table::places; empty: none
};

struct Paragraph {
  std::vector<Words> words;
  bool notice = false;   ///< set apart: what a reader must not miss
  bool heading = false;  ///< of the paragraphs below it
};

struct Column {
  std::string title;
  bool number = false;  ///< aligned to the right, sorted by value
  bool words = false;   ///< of sentences: takes the room that others leave
};
struct Cell {
  std::string text;
  std::optional<analysis::Row> row = std::nullopt;  ///< leads there
  std::optional<double> number = std::nullopt;      ///< what it is sorted by, where that is not the text
};
struct Table {
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  /// Of the appendix: each row is the place that links to a point lead to, in the order of `rows`.
  std::vector<analysis::Row> anchors = {};
  /// Of tables that sentences lead to: a name for each row, letters and digits, one in the document.
  std::vector<std::string> places = {};

  /// What the row is known by in the document: "row-12", "v3"; empty for one that nothing leads to.
  [[nodiscard]] std::string place_of(std::size_t row) const;
  /// What no row has takes no room.
  void drop_empty_columns();
};

/// A result under a caption.
[[nodiscard]] Table written_out(const analysis::Table&, std::string caption);

/// With a last column that names the row of the points that each row's cells are of.
[[nodiscard]] Table with_rows(Table);

/// A chart with the words that stand for it where it is not seen, and its values.
struct Figure {
  std::string id;  ///< letters, digits and hyphens; one in the document
  std::string caption;
  Chart chart;
  Table behind;
};

struct Commands {
  std::vector<std::string> lines;
};

using Block = std::variant<Paragraph, Table, Figure, Commands>;

struct Section {
  std::string key;  ///< "io"
  std::string title;
  std::vector<Block> blocks;
};

struct Document {
  std::string title;
  std::string subtitle;  ///< what was read and of when it is
  std::string version;   ///< of the program, for the last line
  std::vector<Paragraph> notices;
  std::vector<std::string> warnings;  ///< what was asked for and is not there, for who writes it: a line each
  std::vector<Section> sections;
};

/// A sentence of which some words lead to rows: each is looked for behind the one before it. Words that are not there
/// leave no link, never other words.
[[nodiscard]] Paragraph sentence(const std::string& text, const std::vector<Words>& links);

/// Where words lead to: "row-12", "v3"; empty: nowhere.
[[nodiscard]] std::string target_of(const Words&);

/// What a point's row of the appendix is called, from 1 on.
[[nodiscard]] inline std::string row_name(analysis::Row row) {
  return std::to_string(static_cast<std::size_t>(row) + 1);
}

}  // namespace attnscope::report

// SPDX-License-Identifier: Apache-2.0
// A report before it is HTML or Markdown. All of it is text as it is to be read; writers escape it.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "profiler/points/point_table.h"
#include "profiler/points/table.h"
#include "profiler/report/chart.h"

namespace attnscope::report {

/// Words, which lead to a point's row of the appendix where they have one.
struct Words {
  std::string text;
  std::optional<analysis::Row> row = {};
};

struct Paragraph {
  std::vector<Words> words;
  bool heading = false;  ///< of the paragraphs below it
};

/// A result, with its cells filled in.
struct Table {
  std::string key;  ///< letters and hyphens; one in the document: "points"
  std::string caption;
  std::vector<analysis::Column> columns;
  std::vector<std::vector<analysis::Cell>> rows;
  bool of_points = false;  ///< row k is what links to point k lead to
};
[[nodiscard]] Table written_out(const analysis::Table&, std::string key, std::string caption);

/// A chart with the words that stand for it where it is not seen.
struct Figure {
  std::string id;  ///< letters, digits and hyphens; one in the document: "io"
  std::string caption;
  Chart chart;
};

using Block = std::variant<Paragraph, Table>;

struct Document {
  std::string title;
  std::string subtitle;       ///< the files, and when they were recorded
  std::vector<Block> answer;  ///< what the points say, how they were measured, and what makes values doubtful
  std::vector<Figure> figures;
  std::vector<Table> appendix;        ///< every row
  std::string version;                ///< of the program, for the last line
  std::vector<std::string> warnings;  ///< what was asked for and is not there: a line each for stderr
};

/// A sentence of which some words lead to rows: each is looked for behind the one before it. Words that are not there
/// leave no link.
[[nodiscard]] Paragraph sentence(const std::string& text, const std::vector<Words>& links);

}  // namespace attnscope::report

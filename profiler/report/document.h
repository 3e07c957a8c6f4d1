// SPDX-License-Identifier: Apache-2.0
// Format-independent report. All texts are unescaped; writers escape them.
#pragma once

#include <optional>
#include <string>
#include <variant>
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
  bool heading = false;  ///< heads the following paragraphs
};

struct Table {
  std::string key;  ///< letters and hyphens, unique in the document: "points"
  std::string caption;
  std::vector<analysis::Column> columns;
  std::vector<std::vector<analysis::Cell>> rows;
  bool of_points = false;  ///< row k is the link target of point k
};
[[nodiscard]] Table fill_table(const analysis::Table&, std::string key, std::string caption);

struct Figure {
  std::string id;  ///< letters, digits and hyphens, unique in the document: "io"
  std::string caption;
  Chart chart;
};

using Block = std::variant<Paragraph, Table>;

struct Document {
  std::string title;
  std::string subtitle;       ///< files and recording times
  std::vector<Block> answer;  ///< findings, measurement method and caveats
  std::vector<Figure> figures;
  std::vector<Table> appendix;  ///< all rows
  std::string version;
  std::vector<std::string> warnings;  ///< requested parts that are missing; one line each on stderr
};

/// Returns a sentence in which each of `links` is linked at its last occurrence before the next link, because a name in
/// front may contain the same number. Texts that do not occur are ignored.
[[nodiscard]] Paragraph sentence(const std::string& text, const std::vector<LinkedText>& links);

}  // namespace attnscope::report

// SPDX-License-Identifier: Apache-2.0
// A report as files. The same document gives the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/report/document.h"

namespace attnscope::report {

/// One page that refers to nothing outside of it: style, script and pictures are in it. It reads without its script.
[[nodiscard]] std::string to_html(const Document&);

struct MarkdownFiles {
  std::string text;
  struct File {
    std::string name;  ///< "io.svg", "points.csv"
    std::string content;
  };
  std::vector<File> beside;
};
/// The text names the files beside it FOLDER/NAME.
[[nodiscard]] MarkdownFiles to_markdown(const Document&, std::string_view folder);

/// For a line or a table's cell of Markdown: nothing in it is markup, a link, HTML or the end of the cell.
[[nodiscard]] std::string markdown(std::string_view text);

}  // namespace attnscope::report

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
  struct Picture {
    std::string name;  ///< "io-1.svg"
    std::string svg;
  };
  std::vector<Picture> pictures;
};
/// The text refers to its pictures as FOLDER/NAME; FOLDER is a name beside the text.
[[nodiscard]] MarkdownFiles to_markdown(const Document&, std::string_view folder);

/// For a line or a table's cell of Markdown: nothing in it is markup, a link, HTML or the end of the cell.
[[nodiscard]] std::string markdown(std::string_view text);
/// `text` between so many backticks that none of its own ends it. For whole lines of code.
[[nodiscard]] std::string markdown_block(std::string_view text);

}  // namespace attnscope::report

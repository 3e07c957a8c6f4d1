// SPDX-License-Identifier: Apache-2.0
// Renders a report. Equal documents yield equal bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/report/document.h"

namespace attnscope::report {

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

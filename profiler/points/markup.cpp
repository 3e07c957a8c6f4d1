// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/markup.h"

#include "profiler/plan/text.h"

namespace attnscope::analysis {

std::string markup(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string markup_lines(std::string_view text) {
  std::string safe;
  while (true) {
    const std::size_t end = text.find('\n');
    safe += markup(text.substr(0, end));
    if (end == std::string_view::npos) return safe;
    safe += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace attnscope::analysis

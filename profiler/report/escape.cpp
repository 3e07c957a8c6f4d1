// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/escape.h"

#include <algorithm>
#include <cstddef>

#include "profiler/plan/text.h"

namespace attnscope::report {

namespace {

/// Of "www." GitHub makes a link by itself.
bool ends_in_www(std::string_view text) {
  if (text.size() < 3) return false;
  return std::ranges::all_of(text.substr(text.size() - 3), [](char c) { return c == 'w' || c == 'W'; });
}

}  // namespace

std::string markdown(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == ':' || c == '@') {
      // Else GitHub makes a link of https://... and of somebody@somewhere.
      safe += c == ':' ? "&#58;" : "&#64;";
    } else if (c == '.' && ends_in_www(safe)) {
      safe += "&#46;";
    } else {
      if (std::string_view("\\`*_{}[]()#+-!|>~$").find(c) != std::string_view::npos) safe += '\\';
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

}  // namespace attnscope::report

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

/// A colon that begins no address and no name: before a space or a digit, or at the end.
bool is_time_or_end(std::string_view text, std::size_t colon) {
  if (colon + 1 >= text.size()) return true;
  const char next = text[colon + 1];
  return next == ' ' || (next >= '0' && next <= '9');
}

}  // namespace

std::string markdown(std::string_view text) {
  const std::string all = printable(text);
  std::string safe;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const char c = all[k];
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == ':' && !is_time_or_end(all, k)) {
      safe += "&#58;";  // else GitHub makes a link of https://...
    } else if (c == '@') {
      safe += "&#64;";  // else GitHub makes a link of somebody@somewhere
    } else if (c == '.' && ends_in_www(safe)) {
      safe += "&#46;";
    } else {
      // These two are marks of lists and of rules only where a line begins, or in a row.
      const bool in_words = (c == '-' || c == '+') && k > 0 && all[k - 1] != c;
      if (!in_words && std::string_view("\\`*_{}[]()#+-!|>~$").find(c) != std::string_view::npos) safe += '\\';
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

// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/kernel_names.h"

#include <cstddef>
#include <utility>

#include "profiler/plan/text.h"
#include "storage/bounds.h"

namespace attnscope::exchange {
namespace {

/// Returns the position of the bracket that the last character closes; npos if there is none.
std::size_t opening(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    if (text[i - 1] == close) ++depth;
    if (text[i - 1] == open && --depth == 0) return i - 1;
  }
  return std::string_view::npos;
}

/// Returns the position after the last `separator` outside of brackets; 0 if there is none.
std::size_t after_last(std::string_view text, std::string_view separator) {
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    const char c = text[i - 1];
    if (c == '>' || c == ')' || c == '}' || c == ']') ++depth;
    if (c == '<' || c == '(' || c == '{' || c == '[') --depth;
    if (depth == 0 && text.substr(i - 1).starts_with(separator)) return i - 1 + separator.size();
  }
  return 0;
}

}  // namespace

std::string short_kernel_name(std::string_view text) {
  std::string_view name = text;
  const auto trim = [&] {
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  };
  trim();
  // Removes parameters, then template arguments. If brackets do not match, the text is kept.
  for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'<', '>'}}) {
    if (name.empty() || name.back() != close) continue;
    const std::size_t at = opening(name, open, close);
    // Keep "(anonymous namespace)" and "<unnamed>": they are part of a scope.
    if (at == std::string_view::npos || at == 0 || name[at - 1] == ':' || name[at - 1] == ' ') continue;
    name = name.substr(0, at);
    trim();
  }
  name.remove_prefix(after_last(name, "::"));
  name.remove_prefix(after_last(name, " "));
  if (name.empty()) name = text;
  name = name.substr(0, max_name_length);
  return std::string(name.substr(0, first_invalid_utf8(name)));  // drops an incomplete character at the end
}

}  // namespace attnscope::exchange

// SPDX-License-Identifier: Apache-2.0
#include "profiler/units/csv.h"

namespace attnscope {
namespace {

bool starts_formula(std::string_view text) {
  constexpr std::string_view beginnings = "=+-@\t\r";
  return !text.empty() && beginnings.find(text.front()) != std::string_view::npos;
}

}  // namespace

std::string escape_formula(std::string text) {
  // Text that already looks escaped gets a second prefix, so that unescape_formula() restores it exactly.
  const bool is_escaped = unescape_formula(text).size() != text.size();
  if (starts_formula(text) || is_escaped) text.insert(text.begin(), '\'');
  return text;
}

std::string_view unescape_formula(std::string_view field) {
  const std::size_t first = field.find_first_not_of('\'');
  if (first == 0 || first == std::string_view::npos || !starts_formula(field.substr(first))) return field;
  return field.substr(1);
}

std::string quote_csv_field(std::string_view text) {
  std::string field = escape_formula(std::string(text));
  const bool quoted = !field.empty() && (field.find_first_of(",\"\r\n") != std::string::npos || field.front() == ' ' ||
                                         field.back() == ' ');
  if (!quoted) return field;
  for (std::size_t quote = 0; (quote = field.find('"', quote)) != std::string::npos; quote += 2)
    field.insert(quote, 1, '"');
  return '"' + field + '"';
}

}  // namespace attnscope

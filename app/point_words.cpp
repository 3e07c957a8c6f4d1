// SPDX-License-Identifier: Apache-2.0
#include "app/point_words.h"

#include <fmt/format.h>

#include "profiler/plan/fields.h"

namespace attnscope {

std::vector<std::string> axis_words(const PointSpec& spec) {
  std::vector<std::string> words;
  for (const Field& field : point_fields()) {
    if (!field.fallback.empty() && is_fallback(field, spec)) continue;
    words.push_back(fmt::format("{}={}", field.name, field_text(field, spec)));
  }
  for (const Knobs::Entry& knob : spec.knobs) words.push_back(fmt::format("{}={}", knob.first, to_string(knob.second)));
  return words;
}

std::string shell_word(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=:.,+/-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// Matchers for messages by ID, code and values, independent of the wording.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"

namespace attnscope::test {

/// Words of a text at spaces, line ends and “ ”, without the punctuation around them: "(d: 'x')" has d and x.
inline std::vector<std::string> words_of(std::string_view quoted) {
  std::string unquoted(quoted);
  for (const std::string_view quote : {"“", "”"}) {
    for (std::size_t at = 0; (at = unquoted.find(quote, at)) != std::string::npos;)
      unquoted.replace(at, quote.size(), " ");
  }
  std::string_view text = unquoted;
  constexpr std::string_view spaces = " \n";
  constexpr std::string_view marks = "'\"()[].,:;?|";
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(spaces), text.size());
    std::string word(text.substr(0, end));
    word.erase(word.find_last_not_of(marks) + 1);
    word.erase(0, word.find_first_not_of(marks));
    if (!word.empty()) words.push_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

inline bool has_words(std::string_view text, std::string_view expected) {
  const std::vector<std::string> words = words_of(text);
  return !words.empty() && std::ranges::all_of(words_of(expected), [&](const std::string& word) {
    return std::ranges::find(words, word) != words.end();
  });
}

/// The text is not empty and has all these words, in any order: HasWords("d 72") matches "d must be 64, not 72".
MATCHER_P(HasWords, words, "") {
  return has_words(arg, words);
}

/// The message has this code, and its text these words.
MATCHER_P2(IsReason, code, words, "") {
  *result_listener << "\"" << english_text(arg) << "\"";
  return arg.id == code && has_words(english_text(arg), words);
}

/// Returns whether the text is that of the message, whose arguments "*" match any text:
/// matches(label, msg::report::measured_on{.devices = "*"}).
inline bool matches(std::string_view text, const Message& message) {
  const std::string pattern = attnscope::text(message);
  std::size_t begin = 0;
  for (bool first = true;; first = false) {
    const std::size_t star = std::min(pattern.find('*', begin), pattern.size());
    const std::string_view part = std::string_view(pattern).substr(begin, star - begin);
    if (star == pattern.size()) return first ? text == part : text.ends_with(part);
    const std::size_t at = first ? (text.starts_with(part) ? 0 : std::string_view::npos) : text.find(part);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + part.size());
    begin = star + 1;
  }
}

MATCHER_P(MatchesMessage, message, "") {
  *result_listener << "\"" << arg << "\"";
  return matches(arg, message);
}

}  // namespace attnscope::test

// SPDX-License-Identifier: Apache-2.0
// Matchers for reasons and errors by code and values, independent of the wording.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"

namespace attnscope::test {

/// Words of a text at spaces and line ends, without the punctuation around them: "(d: 'x')" has d and x.
inline std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view spaces = " \n";
  constexpr std::string_view marks = "'\"().,:;?|";
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
  return std::ranges::all_of(words_of(expected),
                             [&](const std::string& word) { return std::ranges::find(words, word) != words.end(); });
}

/// The text contains all these words, in any order: HasWords("d 72") matches "d must be 64, not 72".
MATCHER_P(HasWords, words, "") {
  return has_words(arg, words);
}

/// The message has this code, and its text these words.
MATCHER_P2(IsReason, code, words, "") {
  *result_listener << "\"" << english_text(arg) << "\"";
  return arg.id == code && has_words(english_text(arg), words);
}

}  // namespace attnscope::test

// SPDX-License-Identifier: Apache-2.0
// Every language that is built in says all that English says, with the same places.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "messages/embedded.h"

namespace attnscope {
namespace {

using Texts = std::map<std::string, std::string>;

Texts texts_of(std::string_view language) {
  Texts texts;
  const auto groups = nlohmann::json::parse(embedded_messages(language));
  for (const auto& [group, members] : groups.items()) {
    for (const auto& [name, text] : members.items()) texts[group + "." + name] = text.get<std::string>();
  }
  return texts;
}

std::multiset<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::multiset<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) found.insert(at->str());
  return found;
}

constexpr const char* place = R"(\{[a-z0-9_]+(:,)?\})";

std::set<std::string> places_of(const std::string& text) {
  const auto all = matches(text, place);
  return {all.begin(), all.end()};
}

/// Words of the field, units, and names of programs, keys and options, which are the same in every language.
const std::set<std::string>& terms() {
  static const std::set<std::string> all{"attnscope", "Spearman", "Br",     "Bc",     "dK",  "dV",
                                         "dO",        "dP",       "dQ",     "dS",     "exp", "max",
                                         "inf",       "rowmax",   "rowsum", "colsum", "phi", "wgmma"};
  return all;
}

/// Words that are no such term: two letters and more, outside of places, `code` and capitals' own (FA2, DRAM, N).
std::string words_of_a_language(const std::string& text) {
  std::string left = std::regex_replace(text, std::regex(place), " ");
  left = std::regex_replace(left, std::regex("`[^`]*`|--[a-z-]+|\\*\\.[a-z]+|<[^>]*>"), " ");
  std::string words;
  for (const std::string& word : matches(left, "[A-Za-z][A-Za-z]+")) {
    const bool capitals = word.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (!capitals && !terms().contains(word)) words += word + " ";
  }
  return words;
}

bool has_letters_of_its_own(const std::string& text) {
  // U+3000 and above: of English texts none has any.
  return text.find_first_of("\xE3\xE4\xE5\xE6\xE7\xE8\xE9\xEA\xEB\xEC\xED\xEF") != std::string::npos;
}

class Translation : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Translation, SaysAllThatEnglishSays) {
  const Texts english = texts_of("en");
  const Texts texts = texts_of(GetParam());
  for (const auto& [id, said] : english) {
    const auto found = texts.find(id);
    if (found == texts.end()) {
      ADD_FAILURE() << "assets/messages/" << GetParam() << ".json lacks " << id << ": " << said;
      continue;
    }
    const std::string& text = found->second;
    EXPECT_EQ(places_of(text), places_of(said)) << id << ": " << text;
    EXPECT_EQ(matches(text, "&[A-Za-z]").size(), matches(said, "&[A-Za-z]").size()) << id << ": " << text;
    const bool own = has_letters_of_its_own(text) || text == GetParam();  // or the language's code
    const std::string foreign = own ? "" : words_of_a_language(text);
    EXPECT_EQ(foreign, "") << id << ": " << text;
  }
  for (const auto& [id, text] : texts) {
    EXPECT_TRUE(english.contains(id)) << "no English text is " << id << ": " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, Translation,
                         ::testing::ValuesIn(message_languages().begin() + 1, message_languages().end()),
                         [](const auto& language) { return std::string(language.param); });

}  // namespace
}  // namespace attnscope

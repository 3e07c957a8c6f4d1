// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "kernels/messages/message.h"
#include "messages/embedded.h"
#include "messages/law.h"

namespace attnscope {
namespace {

using Texts = std::map<std::string, std::string>;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Message not_power_law() {
  return msg::law::not_power_law{.d = 64, .m = "{percent}", .n = 16'384, .percent = 3};
}

struct ScopedLanguage {
  explicit ScopedLanguage(const char* json) { set_catalog(Catalog::parse(json).value()); }
  ~ScopedLanguage() { set_catalog(Catalog::english()); }
  ScopedLanguage(const ScopedLanguage&) = delete;
  ScopedLanguage& operator=(const ScopedLanguage&) = delete;
};

TEST(Message, ReplacesPlaceholders) {
  const ScopedLanguage language(R"({"law": {"not_power_law": "{d} {n:,} {n} {m} {percent}%"}})");
  EXPECT_EQ(text(not_power_law()), "64 16,384 16384 {percent} 3%");
  EXPECT_EQ(text(Message()), "");
  EXPECT_TRUE(Message().empty());
  EXPECT_EQ(text(Message::verbatim("{needed} %s <b>")), "{needed} %s <b>");
  std::ostringstream out;
  out << not_power_law();
  EXPECT_EQ(out.str(), text(not_power_law()));
}

TEST(Message, LiteralHasCodeAndText) {
  const ScopedLanguage german(R"({"law": {"not_power_law": "kein Potenzgesetz"}})");
  EXPECT_EQ(text(not_power_law()), "kein Potenzgesetz");
  const Message reason = make_reason("law.refused", "{} has {} of {}", "fa2 {}", grouped(1'235'968), not_power_law());
  EXPECT_EQ(reason.id, "law.refused");
  EXPECT_EQ(text(reason), "fa2 {} has 1,235,968 of " + english_text(not_power_law()));
  EXPECT_EQ("no", Message::verbatim("no"));
  EXPECT_EQ(format_text("{}, {}", not_power_law(), make_message("{}", 5)), english_text(not_power_law()) + ", 5");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
  EXPECT_EQ(grouped(-100), "-100");
}

TEST(Message, ParsedCatalogReplacesEnglish) {
  const std::string english = text(not_power_law());
  const std::string other = text(msg::law::rereads_hit_l2{});
  const ScopedLanguage german(
      R"({"law": {"not_power_law": "bei d {d} und N {n:,}: {percent} %", "of_later_version": "{value}"}})");
  EXPECT_EQ(text(not_power_law()), "bei d 64 und N 16,384: 3 %");
  EXPECT_EQ(english_text(not_power_law()), english) << "files are English";
  EXPECT_EQ(text(msg::law::rereads_hit_l2{}), other) << "missing texts are English";
  EXPECT_EQ(Catalog::english().ids(), Catalog::parse("{}").value().ids());
}

TEST(Message, RejectsMalformedCatalogs) {
  for (const char* json : {"nonsense", "[1]", R"({"law": 3})", R"({"law": {"not_power_law": 3}})",
                           R"({"law": {"not_power_law": "d {d} {e:,}"}})"}) {
    EXPECT_FALSE(Catalog::parse(json)) << json;
  }
  EXPECT_TRUE(Catalog::parse(R"({"law": {"not_power_law": "d {d} {D} { {:,} {d"}})")) << "other braces are literal";
}

TEST(Message, TruncatesOnlyDisplayedText) {
  const std::string huge = std::string(3999, 'x') + "é" + std::string(1'000'000, 'y');  // the limit splits the é
  const Message message = make_message("[{}]", huge);
  EXPECT_THAT(text(message), AllOf(SizeIs(4000 + 3), EndsWith("…")));
  EXPECT_THAT(english_text(message), AllOf(HasSubstr(huge), EndsWith("]")));
  EXPECT_EQ(text(Message::verbatim(huge)), std::string(3999, 'x') + "…");
  EXPECT_EQ(format_text("[{}]", "\x1b[31m\r\a red\tand\nmore"), "[[31m red\tand\nmore]");
}

TEST(Message, EnglishTextsAreSentencesOrPhrases) {
  EXPECT_THAT(Catalog::english().ids(), Not(IsEmpty()));
  for (const std::string_view id : Catalog::english().ids()) {
    EXPECT_THAT(std::string(id), testing::MatchesRegex("[a-z_]+\\.[a-z0-9_]+"));
  }
}

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

std::set<std::string> placeholder_names(const std::string& text) {
  const auto all = matches(text, place);
  return {all.begin(), all.end()};
}

/// Terms that are equal in every language: units and names of programs, keys and options.
const std::set<std::string>& terms() {
  static const std::set<std::string> all{"attnscope", "Attnscope", "Spearman", "Br",     "Bc",  "dK",    "dV",
                                         "dO",        "dP",        "dQ",       "dS",     "exp", "fp",    "max",
                                         "inf",       "rowmax",    "rowsum",   "colsum", "phi", "wgmma", "NVBench"};
  return all;
}

/// English words that are not terms: two or more letters, outside of placeholders, `code` and capitals (FA2, DRAM, N).
std::string untranslated_words(const std::string& text) {
  std::string left = std::regex_replace(text, std::regex(place), " ");
  left = std::regex_replace(left, std::regex("`[^`]*`|--[a-z-]+|\\*\\.[a-z]+|<[^>]*>"), " ");
  std::string words;
  for (const std::string& word : matches(left, "[A-Za-z][A-Za-z]+")) {
    const bool capitals = word.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (!capitals && !terms().contains(word)) words += word + " ";
  }
  return words;
}

bool has_non_latin_letters(const std::string& text) {
  // U+3000 and above do not occur in English texts.
  return text.find_first_of("\xE3\xE4\xE5\xE6\xE7\xE8\xE9\xEA\xEB\xEC\xED\xEF") != std::string::npos;
}

class Translation : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Translation, CoversAllEnglishTexts) {
  const Texts english = texts_of("en");
  const Texts texts = texts_of(GetParam());
  for (const auto& [id, english_text] : english) {
    const auto found = texts.find(id);
    if (found == texts.end()) {
      ADD_FAILURE() << "assets/messages/" << GetParam() << ".json lacks " << id << ": " << english_text;
      continue;
    }
    const std::string& text = found->second;
    EXPECT_EQ(placeholder_names(text), placeholder_names(english_text)) << id << ": " << text;
    EXPECT_EQ(matches(text, "&[A-Za-z]").size(), matches(english_text, "&[A-Za-z]").size()) << id << ": " << text;
    const bool is_translated = has_non_latin_letters(text) || text == GetParam();  // or the language code
    const std::string untranslated = is_translated ? "" : untranslated_words(text);
    EXPECT_EQ(untranslated, "") << id << ": " << text;
  }
  for (const auto& [id, text] : texts) {
    EXPECT_TRUE(english.contains(id)) << "en.json lacks " << id << ": " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, Translation,
                         ::testing::ValuesIn(message_languages().begin() + 1, message_languages().end()),
                         [](const auto& language) { return std::string(language.param); });

}  // namespace
}  // namespace attnscope

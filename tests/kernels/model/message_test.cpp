// SPDX-License-Identifier: Apache-2.0
#include "kernels/messages/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>

#include "messages/law.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Message misses() {
  return say::law::misses{.n = 16'384, .d = 64, .m = "{percent}", .percent = 3};
}

/// English again when it goes.
struct OtherLanguage {
  explicit OtherLanguage(const char* json) { use_catalogue(Catalogue::parse(json).value()); }
  ~OtherLanguage() { use_catalogue(Catalogue::english()); }
  OtherLanguage(const OtherLanguage&) = delete;
  OtherLanguage& operator=(const OtherLanguage&) = delete;
};

TEST(Message, ArgumentsGoIntoTheirPlaces) {
  EXPECT_EQ(text(misses()), "no power law: the point at N 16,384, d 64, M {percent} lies 3% off the fit");
  EXPECT_EQ(text(Message()), "");
  EXPECT_TRUE(Message().empty());
  EXPECT_EQ(text(Message::verbatim("{needed} %s <b>")), "{needed} %s <b>");
  std::ostringstream out;
  out << misses();
  EXPECT_EQ(out.str(), text(misses()));
}

TEST(Message, ALiteralHasACodeAndEnglishWords) {
  const OtherLanguage german(R"({"law": {"misses": "kein Potenzgesetz"}})");
  EXPECT_EQ(text(misses()), "kein Potenzgesetz");
  const Message reason = make_reason("law.refused", "{} has {} of {}", "fa2 {}", grouped(1'235'968), misses());
  EXPECT_EQ(reason.id, "law.refused");
  EXPECT_EQ(text(reason), "fa2 {} has 1,235,968 of " + english_text(misses()));
  EXPECT_EQ("no", Message::verbatim("no"));
  EXPECT_EQ(format_text("{}, {}", say::law::misses{.n = 1, .d = 2, .m = 3, .percent = 4}, make_message("{}", 5)),
            "no power law: the point at N 1, d 2, M 3 lies 4% off the fit, 5");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
  EXPECT_EQ(grouped(-100), "-100");
}

TEST(Message, AnotherLanguageIsAnotherFile) {
  const OtherLanguage german(
      R"({"law": {"misses": "bei d {d} und N {n:,}: {percent} %", "of_a_later_version": "{whatever}"}})");
  EXPECT_EQ(text(misses()), "bei d 64 und N 16,384: 3 %");
  EXPECT_THAT(english_text(misses()), HasSubstr("no power law")) << "files stay English";
  EXPECT_THAT(text(say::law::served{}), HasSubstr("L2")) << "what it does not have is said in English";
  EXPECT_EQ(Catalogue::english().ids(), Catalogue::parse("{}").value().ids());
}

TEST(Message, ACatalogueThatIsWrongIsNone) {
  for (const char* json :
       {"nonsense", "[1]", R"({"law": 3})", R"({"law": {"misses": 3}})", R"({"law": {"misses": "d {d} {e:,}"}})"}) {
    EXPECT_FALSE(Catalogue::parse(json)) << json;
  }
  EXPECT_TRUE(Catalogue::parse(R"({"law": {"misses": "d {d} {D} { {:,} {d"}})")) << "braces that are no places";
}

TEST(Message, WhatIsTooLongIsCutForPeopleAlone) {
  const std::string huge = std::string(3999, 'x') + "é" + std::string(1'000'000, 'y');  // é lies across the cut
  const Message message = make_message("[{}]", huge);
  EXPECT_THAT(text(message), AllOf(SizeIs(4000 + 3), EndsWith("…")));
  EXPECT_THAT(english_text(message), AllOf(HasSubstr(huge), EndsWith("]")));
  EXPECT_EQ(text(Message::verbatim(huge)), std::string(3999, 'x') + "…");
  EXPECT_EQ(format_text("[{}]", "\x1b[31m\r\a red\tand\nmore"), "[[31m red\tand\nmore]");
}

TEST(Message, EveryEnglishTextIsOneSentenceOrPart) {
  EXPECT_THAT(Catalogue::english().ids(), Not(IsEmpty()));
  for (const std::string_view id : Catalogue::english().ids()) {
    EXPECT_THAT(std::string(id), testing::MatchesRegex("[a-z_]+\\.[a-z0-9_]+"));
  }
}

}  // namespace
}  // namespace attnscope

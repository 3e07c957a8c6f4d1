// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>

#include "messages/point.h"
#include "messages/refusal.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

Message too_much_shared() {
  return say::refusal::shared_memory{
      .kernel = "fa1 fwd", .needed = 1'235'968, .device = "H200 {needed}", .available = 232'448};
}

/// English again when it goes.
struct OtherLanguage {
  explicit OtherLanguage(const char* json) { use_catalogue(Catalogue::parse(json).value()); }
  ~OtherLanguage() { use_catalogue(Catalogue::english()); }
  OtherLanguage(const OtherLanguage&) = delete;
  OtherLanguage& operator=(const OtherLanguage&) = delete;
};

TEST(Message, ArgumentsGoIntoTheirPlaces) {
  EXPECT_EQ(text(too_much_shared()),
            "fa1 fwd needs 1,235,968 bytes of shared memory a block; H200 {needed} has 232,448.");
  EXPECT_EQ(text(say::refusal::over{.what = "n_q",
                                    .value = std::numeric_limits<std::int64_t>::min(),
                                    .most = 999,
                                    .why = say::refusal::grid_limit{}}),
            "n_q is -9,223,372,036,854,775,808, over 999: a grid has no more.");
  EXPECT_EQ(text(say::refusal::head_dim{.d = 4096, .supported = "64"}), "d 4096 is not supported; supported: 64.");
  EXPECT_EQ(text(Message()), "");
  EXPECT_TRUE(Message().empty());
  EXPECT_EQ(text(Message::verbatim("{needed} %s <b>")), "{needed} %s <b>");
  std::ostringstream out;
  out << too_much_shared();
  EXPECT_EQ(out.str(), text(too_much_shared()));
}

TEST(Message, ComesBackFromAFileAsItWas) {
  const Message nested = say::point::run_again{.reason = too_much_shared()};
  for (const Message& message :
       {too_much_shared(), nested, Message(say::point::host_memory{}),
        Message(say::refusal::head_dim{.d = std::numeric_limits<std::int64_t>::max(), .supported = "\"\n\x01}{"}),
        Message::verbatim("said by an older version"), Message()}) {
    EXPECT_EQ(stored_message(message.id, arguments_json(message), english_text(message)), message) << message;
  }
}

TEST(Message, AnotherLanguageIsAnotherFile) {
  const OtherLanguage german(
      R"({"refusal": {"shared_memory": "{device} hat {available:,} Byte, {kernel} braucht {needed}.",
                                             "of_a_later_version": "{whatever}"}})");
  EXPECT_EQ(text(too_much_shared()), "H200 {needed} hat 232,448 Byte, fa1 fwd braucht 1235968.");
  EXPECT_EQ(text(say::point::run_again{.reason = too_much_shared()}),
            "Run again: H200 {needed} hat 232,448 Byte, fa1 fwd braucht 1235968.")
      << "what it does not have is said in English";
  EXPECT_THAT(english_text(too_much_shared()), HasSubstr("bytes of shared memory")) << "files stay English";
  EXPECT_EQ(Catalogue::english().ids(), Catalogue::parse("{}").value().ids());
}

TEST(Message, ACatalogueThatIsWrongSaysWhere) {
  const auto error = [](const char* json) {
    const auto parsed = Catalogue::parse(json);
    return parsed ? std::string() : text(parsed.error());
  };
  EXPECT_EQ(error("nonsense"), "it is no JSON object of groups of texts.");
  EXPECT_EQ(error("[1]"), "it is no JSON object of groups of texts.");
  EXPECT_EQ(error(R"({"refusal": 3})"), "'refusal' is no JSON object of texts.");
  EXPECT_EQ(error(R"({"refusal": {"head_dim": 3}})"), "'refusal.head_dim' is no text.");
  EXPECT_EQ(error(R"({"refusal": {"head_dim": "d {d} {e:,}"}})"),
            "'refusal.head_dim' has a place {e} that its English text has not.");
  EXPECT_EQ(error(R"({"refusal": {"head_dim": "d {} {D} { {:,} {d"}})"), "") << "braces that are no places";
}

TEST(Message, OfALaterVersionIsShownInItsOwnWords) {
  const Message unknown = stored_message("refusal.new", R"({"warps": 8})", "has no 8 warps");
  EXPECT_EQ(text(unknown), "has no 8 warps");
  EXPECT_EQ(arguments_json(unknown), R"({"warps":8})") << "and goes on as it came";
  EXPECT_EQ(text(stored_message("refusal.new", R"({"warps": 8, "of": "fa2"})", "")), "refusal.new; warps: 8; of: fa2");
  // A text whose arguments have changed: with one missing, the words that were stored are right.
  EXPECT_EQ(text(stored_message("refusal.head_dim", R"({"dim": 72})", "d 72 it was")), "d 72 it was");
  EXPECT_EQ(text(stored_message("refusal.head_dim", R"({"d": 72, "supported": "64", "more": 1})", "d 72")),
            "d 72 is not supported; supported: 64.");
}

TEST(Message, NothingOfAFileIsBelieved) {
  // Arguments and ids are text: no place, no format, no markup in them means anything.
  const std::string hostile = R"({"d": "{supported} {0} %n {d:,}", "supported": "{d}{d}{d}"})";
  EXPECT_EQ(text(stored_message("refusal.head_dim", hostile, "")),
            "d {supported} {0} %n {d:,} is not supported; supported: {d}{d}{d}.");
  EXPECT_EQ(text(stored_message("{d} %s\n", R"({"d": 1})", "")), "{d} %s\n; d: 1");
  for (const char* damaged : {"", "nonsense", "[]", "3", R"({"d": [1]})", R"({"d": null, "supported": ""})",
                              R"({"d": {"id": {}, "arguments": 3}, "supported": ""})", "{\"d\": \"\xff\"}"}) {
    EXPECT_EQ(text(stored_message("refusal.head_dim", damaged, "its words")), "its words") << damaged;
    EXPECT_THAT(text(stored_message("refusal.head_dim", damaged, "")), StartsWith("refusal.head_dim")) << damaged;
  }
  EXPECT_EQ(text(stored_message("refusal.head_dim", R"({"d": 18446744073709551615, "supported": 1.5})", "")),
            "d 18446744073709551615 is not supported; supported: 1.5.");
}

TEST(Message, WhatIsTooLongIsCutForPeopleAlone) {
  const std::string huge = std::string(3999, 'x') + "é" + std::string(1'000'000, 'y');  // é lies across the cut
  const Message message = say::point::gpu_gone{.error = huge};
  EXPECT_EQ(text(message), "The GPU is gone. [" + std::string(3999, 'x') + "…]");
  EXPECT_THAT(english_text(message), AllOf(HasSubstr(huge), EndsWith("]")));
  EXPECT_EQ(stored_message(message.id, arguments_json(message), english_text(message)), message);
  EXPECT_THAT(text(Message::verbatim(huge)), SizeIs(3999 + 3));
  EXPECT_EQ(text(say::point::gpu_gone{.error = "\x1b[31m\r\a red\tand\nmore"}),
            "The GPU is gone. [[31m red\tand\nmore]");

  // Messages within messages without end: of a file, and of one message that holds itself twice, and so on.
  std::string endless;
  for (int i = 0; i < 100'000; ++i) endless += R"({"reason": {"id": "point.run_again", "arguments": )";
  endless += R"({"reason": ""})" + std::string(200'000, '}');
  EXPECT_EQ(text(stored_message("point.run_again", endless, "its words")), "its words");
}

TEST(Message, EveryEnglishTextIsOneSentenceOrPart) {
  EXPECT_THAT(Catalogue::english().ids(), Not(IsEmpty()));
  for (const std::string_view id : Catalogue::english().ids()) {
    EXPECT_THAT(std::string(id), testing::MatchesRegex("[a-z_]+\\.[a-z0-9_]+"));
  }
}

}  // namespace
}  // namespace attnscope

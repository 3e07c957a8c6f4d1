// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/homework.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "profiler/lesson/texts.h"
#include "tests/profiler/lesson/claim_cards.h"

namespace attnscope::analysis::lesson {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

HomeworkQuestion question(const nlohmann::json& members) {
  JsonCard card = json_card("homework/mine.json", members);
  HomeworkQuestion read = read_homework(card);
  card.finish();
  if (!card.problems().empty()) throw std::invalid_argument(english_text(card.problems().front()));
  return read;
}

HomeworkItem item(const HomeworkQuestion& of, std::uint64_t seed) {
  static const PointTable none;
  LessonTexts texts;
  texts.homework = {of};
  return homework_items(texts, evidence_of(none), seed).front();
}

TEST(Homework, TheSeedVariesWordingNumbersAndOrder) {
  const HomeworkQuestion numeric = question({{"prompt", {"Half of {{k}}?", "{{k}} over 2?"}},
                                             {"vary", {{"k", {5, 7, 9}}}},
                                             {"answer", "k / 2"},
                                             {"unit", "m"}});
  const HomeworkQuestion choice = question({{"prompt", "?"}, {"right", "r"}, {"wrong", {"a", "b", "c"}}});
  std::set<std::string> prompts;
  std::set<std::string> letters;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const HomeworkItem one = item(numeric, seed);
    prompts.insert(one.html);
    EXPECT_TRUE(one.is_right(one.right)) << one.html << one.right;
    EXPECT_NE(one.html.find(std::to_string(static_cast<int>(2 * one.value))), std::string::npos) << one.html;
    const HomeworkItem other = item(choice, seed);
    letters.insert(other.right);
    EXPECT_EQ(other.choices.at(static_cast<std::size_t>(other.right[0] - 'A')), "r");
    EXPECT_EQ(item(choice, seed).choices, other.choices);
  }
  EXPECT_EQ(prompts.size(), 6U);
  EXPECT_THAT(letters, ElementsAre("A", "B", "C", "D"));
}

TEST(Homework, NumbersHaveATolerance) {
  const HomeworkItem one = item(question({{"prompt", "?"}, {"answer", "0 - 200"}, {"tolerance", 0.01}}), 1);
  for (const char* right : {"-200", "-201.9", "-198,1", " - 2e2", "−200"}) EXPECT_TRUE(one.is_right(right)) << right;
  for (const char* wrong : {"", "200", "-197.9", "-203", "-200 MiB", "A", "nan"})
    EXPECT_FALSE(one.is_right(wrong)) << wrong;
}

TEST(Homework, SkipsQuestionsWithoutData) {
  const PointTable none;
  LessonTexts texts;
  texts.homework = {question({{"prompt", "?"}, {"answer", "latency_ns"}})};
  Evidence evidence = evidence_of(none);
  EXPECT_THAT(homework_items(texts, evidence, 1), IsEmpty());
  evidence.ceilings = {{.name = "dram_latency", .value = 800, .unit = "ns", .source = CeilingSource::measured}};
  EXPECT_THAT(homework_items(texts, evidence, 1), IsEmpty()) << "another name";
  evidence.ceilings[0].name = ceiling_key::latency_dram;
  EXPECT_EQ(homework_items(texts, evidence, 1).size(), 1U);
}

TEST(Homework, ThePageHasNoAnswers) {
  const PointTable none;
  const LessonTexts texts = load_lesson("en");
  const auto items = homework_items(texts, evidence_of(none), 3);
  const std::string page = homework_page(texts, items, 3, "a.attnscope");
  std::size_t numeric = 0;
  for (const HomeworkItem& each : items) {
    EXPECT_THAT(page, HasSubstr("data-id=\"" + each.id + "\""));
    EXPECT_THAT(page, Not(HasSubstr(each.why))) << each.id;
    numeric += each.choices.empty() ? 1U : 0U;
  }
  EXPECT_GE(numeric, 10U);
  EXPECT_THAT(page, Not(HasSubstr("data-outcome")));
  EXPECT_THAT(page, Not(HasSubstr("data-right")));
  EXPECT_THAT(page, Not(HasSubstr("://")));
}

TEST(HandIn, ReportsWhatIsWrongWithACode) {
  // {"seed":7,"data":"a","name":"李","answers":["A","","1"]}
  const std::string code =
      "attnscope1.eyJzZWVkIjo3LCJkYXRhIjoiYSIsIm5hbWUiOiLmnY4iLCJhbnN3ZXJzIjpbIkEiLCIiLCIxIl19.6a85409e";
  const auto read = decode_hand_in(code);
  ASSERT_TRUE(read.ok()) << english_text(read.error());
  EXPECT_EQ(read->seed, 7U);
  EXPECT_EQ(read->name, "李");
  EXPECT_THAT(read->answers, ElementsAre("A", "", "1"));
  EXPECT_THAT(hand_in_codes("From: x\n" + code + "\n\n<p>" + code + "</p>"), ElementsAre(code, code));
  const auto error = [](std::string_view text) { return english_text(decode_hand_in(text).error()); };
  EXPECT_THAT(error("x"), HasSubstr("not a hand-in code"));
  EXPECT_THAT(error(code.substr(0, 40)), HasSubstr("not a hand-in code"));
  EXPECT_THAT(error(code.substr(0, 60) + code.substr(61)), HasSubstr("incomplete or changed"));
  EXPECT_THAT(error("attnscope1.e30.3538bd5b"), HasSubstr("version"));
}

}  // namespace
}  // namespace attnscope::analysis::lesson

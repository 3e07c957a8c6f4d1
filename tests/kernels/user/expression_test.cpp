// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/expression.h"
#include "tests/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace attnscope::user {
namespace {

using test::HasWords;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Variables known{{"n", 1000}, {"br", 64}, {"zero", 0}, {"huge", std::numeric_limits<std::int64_t>::max()}};

std::int64_t evaluate_integer(const std::string& text) {
  const auto parsed = Expression::parse(text);
  if (!parsed) {
    ADD_FAILURE() << text << ": " << parsed.error();
    return -1;
  }
  const auto value = parsed->evaluate_integer(known);
  if (value) return *value;
  ADD_FAILURE() << text << ": " << value.error();
  return -1;
}

/// Error of parsing or evaluation.
std::string expression_error(const std::string& text) {
  const auto parsed = Expression::parse(text);
  if (!parsed) return english_text(parsed.error());
  const auto value = parsed->evaluate_integer(known);
  return value ? "" : english_text(value.error());
}

TEST(Expression, MatchesC) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"7", 7},
      {"2 + 3 * 4", 14},
      {"(2 + 3) * 4", 20},
      {"20 - 6 - 4", 10},
      {"100 / 7 / 2", 7},
      {"17 % 5", 2},
      {"-br + 1", -63},
      {"- -3", 3},
      {"!0 + !5", 1},
      {"n / br", 15},
      {"ceil_div(n, br)", 16},
      {"ceil_div(-n, br)", -15},
      {"ceil_div(1024, br)", 16},
      {"min(n, br) + max(n, br)", 1064},
      {"sqrt(1023)", 31},
      {"sqrt(1024)", 32},
      {"n > 999 && n >= 1000 && br < 65 && br <= 64 && br != n && br == 64", 1},
      {"n < 999 || n > 1000", 0},
      {"1 < 2 == 1", 1},
      {"10 - 3 > 2 * 3", 1},
      {"10 - 4 > 2 * 3", 0},
      {"n % br == 0 ? 1 : 2", 2},
      {"1 ? 2 ? 3 : 4 : 5", 3},
      {"0 ? 1 : 0 ? 2 : 3", 3},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(evaluate_integer(text), value) << text;
}

TEST(Expression, EvaluatesLazily) {
  EXPECT_EQ(evaluate_integer("zero > 0 ? n / zero : n"), 1000);
  EXPECT_EQ(evaluate_integer("zero != 0 && n / zero > 3"), 0);
  EXPECT_EQ(evaluate_integer("zero == 0 || n / zero > 3"), 1);
  EXPECT_THAT(expression_error("zero == 0 ? n / zero : n"), HasWords("zero"));
  EXPECT_THAT(expression_error("n / zero > 3 || 1"), HasWords("zero"));
}

TEST(Expression, RealDivisionIsExact) {
  const auto scale = Expression::parse("1 / sqrt(br + 2) * 1.5");
  ASSERT_TRUE(scale.ok());
  EXPECT_DOUBLE_EQ(*scale->evaluate_real(known), 1.5 / std::sqrt(66.0));
  EXPECT_FALSE(scale->evaluate_integer(known).ok());
  EXPECT_FALSE(Expression::parse("1 / zero")->evaluate_real(known).ok());
}

TEST(Expression, UndefinedResultsAreErrors) {
  for (const char* text : {"huge + 1", "-huge - 2", "huge * 2", "n % zero", "ceil_div(n, zero)", "sqrt(-1)",
                           "(-huge - 1) / -1", "1.5 + 1"}) {
    EXPECT_THAT(expression_error(text), HasSubstr(text));
  }
  EXPECT_EQ(evaluate_integer("huge - 1 + 1"), std::numeric_limits<std::int64_t>::max());
}

TEST(Expression, ErrorsHavePositions) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "character 1"},      {"n +", "character 4"},     {"n br", "character 3 b"},
      {"(n", "character 3"},    {"min(n)", "character 6"},  {"system(n)", "character system min max"},
      {"n ? 1", "character 6"}, {"n = 1", "character 3 ="}, {"99999999999999999999", "character 1"},
      {"n; n", "character 2"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(expression_error(text), HasWords(words)) << text;
  EXPECT_THAT(expression_error("unknown + n"), HasWords("unknown + n unknown"));
}

TEST(Expression, LimitsNesting) {
  const std::string many(100'000, '(');
  EXPECT_THAT(expression_error(many), HasWords("character"));
  EXPECT_THAT(expression_error(std::string(100'000, '-') + "1"), HasWords("character"));
  std::string sum = "1";
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  EXPECT_THAT(expression_error(sum), HasWords("character"));
}

TEST(Expression, ListsItsNames) {
  EXPECT_THAT(Expression::parse("min(b, a) + a * 2")->names(), ElementsAre("b", "a"));
}

}  // namespace
}  // namespace attnscope::user

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/common_knobs.h"
#include "kernels/messages/message.h"
#include "kernels/registry.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FieldAttributes, FieldsAcceptTheirWords) {
  for (const Field& field : fields_and_knobs(point_fields(), built_in_algorithms().knobs())) {
    for (const std::string& word : field.words) EXPECT_TRUE(value_error(field, word).empty()) << field.name << word;
    if (field.type != FieldType::word || field.accepts_other_words) continue;
    EXPECT_FALSE(field.words.empty()) << field.name << " accepts words that it does not list";
    EXPECT_FALSE(value_error(field, "nothing").empty()) << field.name;
  }
}

TEST(FieldAttributes, RangesAndFollowedFieldsAreValid) {
  for (const Field& field : point_fields()) {
    const bool offered = field.offered.most > 0;
    EXPECT_TRUE(!offered || (field.offered.least >= field.smallest && field.offered.most <= field.largest))
        << field.name;
    if (field.follows.empty()) continue;
    const Field* leader = find_field(field.follows);
    ASSERT_NE(leader, nullptr) << field.name;
    EXPECT_EQ(leader->type, field.type) << field.name;
    EXPECT_TRUE(leader->follows.empty()) << field.name;
  }
}

TEST(FieldAttributes, AFieldPairSetsTwoEqualFields) {
  PointSpec spec;
  spec.problem.n_q = spec.problem.n_k = 512;
  const FieldPair* n = field_pair_of("n_q");
  ASSERT_NE(n, nullptr);
  EXPECT_EQ(n, field_pair_of("n_k"));
  EXPECT_EQ(n->name, "N");
  EXPECT_EQ(n->leader().name, "n_k");
  EXPECT_TRUE(n->are_equal_in(spec));
  spec.problem.n_q = 1;
  EXPECT_FALSE(n->are_equal_in(spec));
  EXPECT_EQ(field_pair_of("heads_kv")->leader().name, "heads_q");
  EXPECT_EQ(field_pair_of("batch"), nullptr);
}

TEST(FieldAttributes, ShortTextOfValues) {
  PointSpec spec;
  const auto texts = [&](std::string_view name) {
    const Field& field = *find_field(name);
    return std::vector{field_text(field, spec), short_text(field, spec)};
  };
  EXPECT_THAT(texts("mask"), testing::ElementsAre("full", "full"));
  EXPECT_THAT(texts("page"), testing::ElementsAre("0", "contiguous"));
  EXPECT_THAT(texts("d"), testing::ElementsAre("64", "64"));
  spec.problem.mask = *parse_mask("lengths:5/4/3/2/1");
  spec.problem.page = 64;
  EXPECT_THAT(texts("mask"), testing::ElementsAre("lengths:5/4/3/2/1", "lengths:5/4/…/1 (5 lengths, 15 keys)"));
  EXPECT_THAT(texts("page"), testing::ElementsAre("64", "64"));
}

TEST(FieldAttributes, ListsOfFourLengthsAreShownWhole) {
  PointSpec spec;
  for (const auto& [given, shown] :
       {std::pair("lengths:1", "lengths:1"), std::pair("lengths:9/8/7/6", "lengths:9/8/7/6"),
        std::pair("lengths:9/8/7/6/1", "lengths:9/8/…/1 (5 lengths, 31 keys)")}) {
    spec.problem.mask = *parse_mask(given);
    EXPECT_EQ(mask_text(spec.problem.mask), shown);
  }
  spec.problem.page = 1;
  EXPECT_EQ(short_text(*find_field("page"), spec), "1");
}

TEST(FieldAttributes, FlagsAndNumbersAreParsedWhole) {
  const Field& flag = *find_field("deterministic");
  for (const char* yes : {"yes", "true", "True", "1"}) EXPECT_EQ(parse_field(flag, yes).value(), FieldValue(true));
  for (const char* no : {"no", "false", "False", "0"}) EXPECT_EQ(parse_field(flag, no).value(), FieldValue(false));
  EXPECT_FALSE(parse_field(flag, "2").ok());
  for (const char* wrong : {"", "1 ", "64x", "x64", "1e999", "nan"}) {
    EXPECT_FALSE(parse_field(*find_field("d"), wrong).ok()) << wrong;
    EXPECT_FALSE(parse_field(*find_field("dropout"), wrong).ok()) << wrong;
  }
  EXPECT_FALSE(parse_field(*find_field("d"), "99999999999999999999").ok());
  EXPECT_TRUE(value_error(*find_field("dropout"), "0").empty());
  EXPECT_FALSE(value_error(*find_field("dropout"), "1").empty());
}

TEST(FieldAttributes, EveryKnobIsInTheCanonicalText) {
  PointSpec spec;
  const std::string plain = canonical_text(spec);
  spec.knobs = {{"alpha", std::int64_t{3}}, {"raster", "heads_fastest"}, {"splits", std::int64_t{4}}, {"zeta", "deep"}};
  const std::string text = canonical_text(spec);
  EXPECT_TRUE(text.ends_with(" heads_fastest cold splits 4 alpha 3 zeta deep")) << text;
  EXPECT_NE(text, plain);
}

TEST(FieldAttributes, AKnobIsAField) {
  const Field raster = knob_field(raster_knob());
  const Field splits = knob_field(splits_knob());
  PointSpec spec;
  EXPECT_EQ(field_text(raster, spec), "q_fastest");
  EXPECT_EQ(short_text(raster, spec), "q fastest");
  EXPECT_EQ(field_text(splits, spec), "0");
  EXPECT_EQ(short_text(splits, spec), "auto");
  EXPECT_TRUE(is_fallback(raster, spec) && is_fallback(splits, spec));
  ASSERT_TRUE(set_field(raster, spec, "heads_fastest").ok());
  ASSERT_TRUE(set_field(splits, spec, "4").ok());
  EXPECT_EQ(spec.knobs, (Knobs{{"raster", "heads_fastest"}, {"splits", std::int64_t{4}}}));
  EXPECT_EQ(short_text(raster, spec), "heads fastest");
  EXPECT_FALSE(set_field(splits, spec, "4097").ok());
  EXPECT_FALSE(set_field(raster, spec, "upwards").ok());
  PointSpec other;
  splits.restore(other, splits.get(spec));
  EXPECT_EQ(other.knobs.number("splits"), 4);
  ASSERT_TRUE(set_field(splits, spec, "0").ok());
  EXPECT_EQ(spec.knobs.find("splits"), nullptr) << "the algorithm's choice is not kept";
}

TEST(FieldAttributes, AnUndeclaredKnobIsReadOnly) {
  const Field cluster = undeclared_knob_field("cluster");
  PointSpec spec;
  EXPECT_TRUE(is_fallback(cluster, spec));
  spec.knobs = {{"cluster", "up_and_down"}};
  EXPECT_EQ(field_text(cluster, spec), "up_and_down");
  EXPECT_EQ(short_text(cluster, spec), "up and down");
  spec.knobs = {{"cluster", std::int64_t{4}}};
  EXPECT_EQ(std::get<std::int64_t>(cluster.get(spec)), 4);
}

TEST(Text, ClosestMatchesAreSortedByDistance) {
  const std::vector<std::string> names{"dram__bytes_write.sum", "dram__bytes_read.sum", "sm__cycles_elapsed.max"};
  EXPECT_THAT(closest_matches("dram__byte_read.sum", names),
              ElementsAre("dram__bytes_read.sum", "dram__bytes_write.sum"));
  EXPECT_THAT(closest_matches("temperature", names), IsEmpty());
  EXPECT_THAT(closest_matches("cycles", names), ElementsAre("sm__cycles_elapsed.max"));
  EXPECT_THAT(closest_matches("dram__byte_read.sum", names, 1), ElementsAre("dram__bytes_read.sum"));
}

TEST(Text, ClosestMatchesAreAThirdOfTheWordAway) {
  struct {
    const char* word;
    const char* candidate;
    bool matches;
  } const cases[] = {
      {"abcdef", "abcd", true},        // two deletions
      {"abcdef", "abc", false},        // three
      {"abcdef", "abcdxy", true},      // two substitutions
      {"abcdef", "abcxyz", false},     // three
      {"abcdef", "xaybcdef", true},    // two insertions
      {"abcdef", "xaybzcdef", false},  // three
      {"abcdef", "bacdfe", true},      // two swaps
      {"abcd", "bacd", true},          // a swap at the begin
      {"abcd", "abdc", true},          // at the end
      {"abcd", "badc", false},         // two swaps, where one edit is allowed
      {"abc", "bca", false},           // a rotation takes two edits
      {"abcd", "acxd", false},         // only one of two characters swapped
      {"abcd", "axbd", false},        {"abd", "abcd", true},
      {"abc", "xxxxabcxxxx", true},                       // contained, three characters
      {"ab", "xxxxabxxxx", false},    {"a", "b", false},  // nothing in common
  };
  for (const auto& [word, candidate, matches] : cases) {
    EXPECT_EQ(closest_matches(word, std::vector<std::string>{candidate}).size(), matches ? 1U : 0U)
        << word << ' ' << candidate;
  }
  EXPECT_THAT(closest_matches("abcd", std::vector<std::string>{"abce", "abcd", "abcf"}),
              ElementsAre("abcd", "abce", "abcf"))
      << "equal distances keep their order";
}

TEST(Text, LongTextIsShortened) {
  EXPECT_EQ(shortened(std::string(60, 'a')), std::string(60, 'a'));
  EXPECT_EQ(shortened(std::string(40, 'a') + std::string(21, 'b')), std::string(40, 'a') + "... (61 characters)");
}

std::string utf8(unsigned code) {
  const auto byte = [](unsigned value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6U), byte(0x80 | (code & 0x3FU))};
  return {byte(0xE0 | code >> 12U), byte(0x80 | (code >> 6U & 0x3FU)), byte(0x80 | (code & 0x3FU))};
}

TEST(Text, PrintableEscapesWhatATerminalInterprets) {
  const auto interpreted = [](unsigned code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code >= 0xFFFE;
  };
  for (unsigned code = 0; code <= 0xFFFF; ++code) {
    if (code == 0xD800) code = 0xE000;
    const std::string character = utf8(code);
    const std::string shown = printable(character);
    ASSERT_EQ(shown != character, interpreted(code)) << code;
    if (code >= 0x80 && interpreted(code)) {
      ASSERT_EQ(shown, fmt::format("\\u{:04x}", code));
    }
  }
}

TEST(Text, InvalidUtf8IsFound) {
  for (const char* valid : {"", "a", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                            "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(first_invalid_utf8(valid), std::string_view::npos) << printable(valid);
    EXPECT_EQ(first_invalid_utf8(std::string(valid) + "\xFF"), std::string_view(valid).size());
  }
  for (const char* invalid :
       {"\x80", "\xC1\xBF", "\xC2", "\xC2\x7F", "\xC2\xC0", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82", "\xE2\x82\x7F",
        "\xF0\x8F\xBF\xBF", "\xF0\x90\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_EQ(first_invalid_utf8("ab" + std::string(invalid)), 2U) << printable(invalid);
  }
}

TEST(Text, ClosestMatchesIgnoreCase) {
  const std::vector<std::string> names{"N", "d"};
  EXPECT_THAT(closest_matches("n", names), ElementsAre("N"));
}

TEST(Text, JoinOr) {
  const std::vector<std::string> words{"a", "b", "c"};
  const auto joined = [&](std::size_t count) { return format_text("{}", join_or(std::span(words).first(count))); };
  EXPECT_EQ(joined(3), "a, b or c");
  EXPECT_EQ(joined(2), "a or b");
  EXPECT_EQ(joined(1), "a");
  EXPECT_EQ(joined(0), "");
}

}  // namespace
}  // namespace attnscope

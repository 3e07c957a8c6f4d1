// SPDX-License-Identifier: Apache-2.0
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
}

}  // namespace
}  // namespace attnscope

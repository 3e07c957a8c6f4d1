// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/explored_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

Exploration explored(const char* algorithm, int br, int bc, const char* mask = "full") {
  PointSpec spec = fixtures::spec(algorithm, 4096, br, bc);
  spec.problem.mask = *parse_mask(mask);
  return explore({.spec = spec}, fixtures::h200(), built_in_algorithms());
}

const ComparedFigure& row(const std::vector<ComparedFigure>& rows, std::string_view key) {
  return *std::ranges::find_if(rows, [&](const ComparedFigure& each) { return each.figure->key == key; });
}

TEST(ExploredFigures, KeysAreUniqueAndValuesAreTheExplorations) {
  const Exploration e = explored("fa2", 128, 64);
  std::set<std::string_view> keys;
  for (const Figure& figure : figures()) {
    EXPECT_TRUE(keys.insert(figure.key).second) << figure.key;
    EXPECT_EQ(figure.value(e) > 0, !figure.of_several_gpus) << figure.key;
    EXPECT_FALSE(english_text(figure.label()).empty());
    EXPECT_FALSE(english_text(figure.help()).empty());
  }
  const auto rows = compare(std::vector<const Exploration*>{&e});
  EXPECT_DOUBLE_EQ(*row(rows, "time").values[0].value, e.ns);
  EXPECT_DOUBLE_EQ(*row(rows, "l2_bytes").values[0].value, static_cast<double>(e.traffic.total()));
}

TEST(ExploredFigures, GoodIsSaidOfEachFiguresOwnDirection) {
  const Exploration tall = explored("fa2", 128, 64);
  const Exploration low = explored("fa2", 64, 64);
  const auto rows = compare(std::vector<const Exploration*>{&tall, &low});
  const ComparedValue& bytes = row(rows, "l2_bytes").values[1];
  EXPECT_GT(*bytes.ratio, 1.9) << "half the query rows: K and V pass by twice as often";
  EXPECT_EQ(bytes.standing, Standing::worse) << "more bytes";
  EXPECT_EQ(row(rows, "l2_intensity").values[1].standing, Standing::worse) << "less intensity";
  EXPECT_EQ(row(rows, "flops").values[1].standing, Standing::same);
  EXPECT_FALSE(row(rows, "flops").differs());
  EXPECT_EQ(row(rows, "shared").values[1].standing, Standing::differs) << "no end of it is the better one";
  const auto other_way = compare(std::vector<const Exploration*>{&low, &tall});
  EXPECT_EQ(row(other_way, "l2_bytes").values[1].standing, Standing::better);
  EXPECT_EQ(row(other_way, "l2_bytes").values[0].standing, Standing::same);
}

TEST(ExploredFigures, OfDifferentProblemsNoneIsBetter) {
  const Exploration full = explored("fa2", 128, 64);
  const Exploration causal = explored("fa2", 128, 64, "causal");
  const auto rows = compare(std::vector<const Exploration*>{&full, &causal});
  EXPECT_LT(*row(rows, "l2_bytes").values[1].ratio, 0.6);
  EXPECT_EQ(row(rows, "l2_bytes").values[1].standing, Standing::differs);
}

TEST(ExploredFigures, WhatDoesNotRunHasNoValues) {
  const Exploration runs = explored("fa2", 128, 64);
  const Exploration refused = explored("fa2", 512, 512);
  ASSERT_TRUE(refused.refusal);
  const auto rows = compare(std::vector<const Exploration*>{&runs, &refused, &runs});
  EXPECT_FALSE(row(rows, "time").values[1].value);
  EXPECT_EQ(row(rows, "time").values[1].standing, Standing::differs);
  EXPECT_EQ(row(rows, "time").values[2].standing, Standing::same);
}

TEST(ExploredFigures, DifferingChoicesAreThoseOfFieldsKnobsAndDevice) {
  const Exploration a = explored("fa2", 128, 64);
  Exploration b = explored("fa2", 64, 64, "causal");
  b.point.spec.knobs.set("warps", std::int64_t{4});
  b.point.padding_bytes = 4096;
  const auto differing = differing_choices(std::vector<const Exploration*>{&a, &b}, built_in_algorithms());
  ASSERT_EQ(differing.size(), 4U);
  EXPECT_EQ(differing[0].name, "mask");
  EXPECT_EQ(differing[0].texts, (std::vector<std::string>{"full", "causal"}));
  EXPECT_EQ(differing[1].name, "br");
  EXPECT_EQ(differing[1].texts, (std::vector<std::string>{"128", "64"}));
  EXPECT_EQ(differing[2].name, "warps");
  EXPECT_EQ(differing[2].texts, (std::vector<std::string>{"0", "4"}));
  EXPECT_EQ(differing[3].name, "padding");
  EXPECT_TRUE(differing_choices(std::vector<const Exploration*>{&a, &a}, built_in_algorithms()).empty());
}

}  // namespace
}  // namespace attnscope::analysis

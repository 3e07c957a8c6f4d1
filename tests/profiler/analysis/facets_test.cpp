// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/facets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>

#include "profiler/plan/fields.h"
#include "tests/profiler/analysis/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

std::vector<std::string> keys_of(const std::vector<FacetPtr>& facets) {
  std::vector<std::string> keys;
  for (const FacetPtr& facet : facets) keys.push_back(facet->key);
  return keys;
}

TEST(Facets, EveryOneSaysWhatItIs) {
  for (const auto& facets : {curve_facets(), map_facets()}) {
    std::set<std::string> keys;
    std::set<std::string> labels;
    for (const FacetPtr& facet : facets) {
      EXPECT_TRUE(keys.insert(facet->key).second) << facet->key;
      EXPECT_TRUE(labels.insert(text(facet->label)).second) << facet->label;
      EXPECT_FALSE(facet->help.empty()) << facet->key;
    }
  }
}

/// A point that differs from `like` in that field alone; by the first of these values that it takes.
std::optional<PointSpec> changed(const PointSpec& like, const Field& field) {
  for (const std::string_view text : {"2048", "64", "2", "32", "0.25", "yes", "bf16", "bwd", "causal", "warm", "fa1"}) {
    PointSpec spec = like;
    if (set_field(field, spec, text) && field_text(field, spec) != field_text(field, like)) return spec;
  }
  return {};
}

// Points of one curve or one map differ in nothing but N, the tile and what else its axes say.
TEST(Facets, EveryFieldOfAPointTellsPointsApart) {
  const PointSpec base = fixtures::spec("fa2", 1024);
  std::vector<FacetPtr> facets = map_facets();
  facets.push_back(tile_facet());
  for (const Field& field : point_fields()) {
    const auto other = changed(base, field);
    ASSERT_TRUE(other) << field.name;
    const Points points({fixtures::failed_point(base, Disposition::infeasible, "not asked"),
                         fixtures::failed_point(*other, Disposition::infeasible, "not asked")});
    const PointTable table = points.table();
    const auto codes = combined_codes(table, facets);
    EXPECT_NE(codes[0], codes[1]) << field.name;
  }
  const Points same({fixtures::ok_point(base), fixtures::ok_point(base)});
  const PointTable table = same.table();
  EXPECT_EQ(combined_codes(table, facets)[0], combined_codes(table, facets)[1]);
}

TEST(Facets, EveryKnobTellsMapsApart) {
  for (const Knob& knob : built_in_algorithms().knobs()) {
    PointSpec told = fixtures::spec("fa2", 1024);
    told.knobs.set(knob.name, knob.words.empty() ? KnobValue(std::int64_t{1}) : KnobValue(knob.words.back()));
    const Points points({fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::infeasible, "not asked"),
                         fixtures::failed_point(told, Disposition::infeasible, "not asked")});
    const PointTable table = points.table();
    const auto codes = combined_codes(table, map_facets());
    EXPECT_NE(codes[0], codes[1]) << knob.name;
  }
}

/// An algorithm that nobody runs.
class Stated final : public Algorithm {
 public:
  using Algorithm::Algorithm;
  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override {
    throw std::logic_error("not asked");
  }
  [[nodiscard]] Config default_config(const AttentionProblem&, const DeviceLimits&) const override {
    throw std::logic_error("not asked");
  }
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override {
    throw std::logic_error("not asked");
  }
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const override {
    throw std::logic_error("not asked");
  }

 protected:
  [[nodiscard]] std::vector<KernelModel> kernels(const AttentionProblem&, const Config&,
                                                 const DeviceLimits&) const override {
    throw std::logic_error("not asked");
  }
};

TEST(Facets, AKnobThatAnAlgorithmStatesIsOffered) {
  Registry registry;
  registry.add(std::make_unique<Stated>(Facts{.name = "mine",
                                              .title = "Mine",
                                              .short_title = "Mine",
                                              .source = "nowhere",
                                              .tile_meaning = Message::verbatim("nothing"),
                                              .knobs = {{.name = "cluster",
                                                         .label = Message::verbatim("Cluster"),
                                                         .meaning = Message::verbatim("Blocks of a cluster"),
                                                         .largest = 16},
                                                        {.name = "order",
                                                         .label = Message::verbatim("Order"),
                                                         .meaning = Message::verbatim("Who comes first"),
                                                         .words = {"as_given", "longest"}}}}));
  const Algorithms algorithms(registry);
  PointSpec told = fixtures::spec("mine", 1024);
  told.knobs.set("cluster", std::int64_t{4});
  told.knobs.set("order", std::string("longest"));
  const PointRecord plain = fixtures::failed_point(fixtures::spec("mine", 1024), Disposition::infeasible, "not asked");
  const PointRecord other = fixtures::failed_point(told, Disposition::infeasible, "not asked");
  const std::vector<PointRef> refs{{0, &plain}, {0, &other}};
  const PointTable table(algorithms, {fixtures::run()}, refs);
  const auto facets = map_facets(algorithms);
  EXPECT_THAT(keys_of(facets), testing::IsSupersetOf({"cluster", "order"}));
  EXPECT_THAT(keys_of(facets), testing::Not(testing::Contains("raster"))) << "nobody here states it";
  const auto values_of = [&](std::string_view key) {
    const auto facet = std::ranges::find(facets, key, [](const FacetPtr& each) { return std::string_view(each->key); });
    std::vector<std::string> texts;
    for (const FacetValue& value : table.codes(**facet).values) texts.push_back(value.text);
    return texts;
  };
  EXPECT_THAT(values_of("cluster"), testing::ElementsAre("auto", "4"));
  EXPECT_THAT(values_of("order"), testing::ElementsAre("as given", "longest"));
}

#ifdef ATTNSCOPE_TEST_FIELD
TEST(Facets, AFieldThatComesLaterIsOfferedAsItStatesItself) {
  for (const auto& facets : {curve_facets(), map_facets()}) {
    EXPECT_THAT(keys_of(facets), testing::Contains("test_field"));
  }
}
#endif

}  // namespace
}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/facets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "messages/field.h"
#include "profiler/plan/fields.h"
#include "profiler/tilemap/plot_list.h"
#include "tests/kernels/facts_only_algorithm.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

std::vector<std::string> keys_of(const std::vector<FacetPtr>& facets) {
  std::vector<std::string> keys;
  for (const FacetPtr& facet : facets) keys.push_back(facet->key);
  return keys;
}

/// Adds an algorithm to known_algorithms() while it exists.
class KnownAlgorithm {
 public:
  explicit KnownAlgorithm(std::unique_ptr<const Algorithm> algorithm) {
    std::vector<std::unique_ptr<const Algorithm>> algorithms;
    algorithms.push_back(std::move(algorithm));
    EXPECT_THAT(add_known_algorithms(std::move(algorithms)), testing::ElementsAre(""));
  }
  KnownAlgorithm(const KnownAlgorithm&) = delete;
  KnownAlgorithm& operator=(const KnownAlgorithm&) = delete;
  ~KnownAlgorithm() { reset_known_algorithms(); }
};

TEST(Facets, HaveLabelsAndHelp) {
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

/// Returns `like` with only this field changed, to the first accepted of these values.
std::optional<PointSpec> changed(const PointSpec& like, const Field& field) {
  for (const std::string_view text :
       {"2048", "64", "2", "32", "0.25", "yes", "bf16", "bwd", "causal", "warm", "fa1", "zigzag"}) {
    PointSpec spec = like;
    if (set_field(field, spec, text) && field_text(field, spec) != field_text(field, like)) return spec;
  }
  return {};
}

// Facets cover every field except N, the tile and the view's axes.
TEST(Facets, EveryFieldSeparatesPoints) {
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

TEST(Facets, GroupsAreInNumericOrder) {
  std::vector<PointRecord> records;
  const auto add = [&](std::int64_t n_q, std::int64_t n_k, std::int64_t batch, int heads, int kv, int br, int bc) {
    PointSpec spec = fixtures::spec("fa2", n_k, br, bc);
    spec.problem.n_q = n_q;
    spec.problem.batch = batch;
    spec.problem.heads_q = heads;
    spec.problem.heads_kv = kv;
    records.push_back(fixtures::failed_point(spec, Disposition::infeasible, "not asked"));
  };
  add(1, 2048, 2, 4, 4, 128, 32);
  add(2048, 1024, 1, 8, 8, 64, 128);
  add(64, 1024, 1, 4, 2, 64, 32);
  add(1024, 1024, 1, 16, 1, 128, 16);
  const PointTable table = Points(records).table();
  const auto texts = [&](const FacetPtr& facet) {
    std::vector<std::string> values;
    for (const FacetValue& value : table.codes(*facet).values) values.push_back(value.text);
    return values;
  };
  const auto facets = map_facets();
  const auto facet = [&](std::string_view key) {
    return *std::ranges::find(facets, key, [](const FacetPtr& each) { return std::string_view(each->key); });
  };
  EXPECT_THAT(texts(facet("n")), testing::ElementsAre("1024", "64 × 1024", "2048 × 1024", "1 × 2048"));
  EXPECT_THAT(texts(facet("heads")), testing::ElementsAre("1 × 4 (2 KV)", "1 × 8", "2 × 4", "1 × 16 (1 KV)"));
  EXPECT_THAT(texts(tile_facet()), testing::ElementsAre("64 × 32", "64 × 128", "128 × 16", "128 × 32"));
}

TEST(Facets, EveryKnobSeparatesMaps) {
  for (const Knob& knob : built_in_algorithms().knobs()) {
    PointSpec changed = fixtures::spec("fa2", 1024);
    changed.knobs.set(knob.name, knob.words.empty() ? KnobValue(std::int64_t{1}) : KnobValue(knob.words.back()));
    const Points points({fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::infeasible, "not asked"),
                         fixtures::failed_point(changed, Disposition::infeasible, "not asked")});
    const PointTable table = points.table();
    const auto codes = combined_codes(table, map_facets());
    EXPECT_NE(codes[0], codes[1]) << knob.name;
  }
}

TEST(Facets, DeclaredKnobsAreFacets) {
  const KnownAlgorithm mine(
      std::make_unique<test::FactsOnlyAlgorithm>(Facts{.name = "mine",
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
  PointSpec changed = fixtures::spec("mine", 1024);
  changed.knobs.set("cluster", std::int64_t{4});
  changed.knobs.set("order", std::string("longest"));
  const PointRecord plain = fixtures::failed_point(fixtures::spec("mine", 1024), Disposition::infeasible, "not asked");
  const PointRecord other = fixtures::failed_point(changed, Disposition::infeasible, "not asked");
  const PointTable table = Points({plain, other}).table();
  const auto facets = map_facets();
  EXPECT_THAT(keys_of(facets), testing::IsSupersetOf({"cluster", "order"}));
  EXPECT_THAT(keys_of(facets), testing::Not(testing::Contains("nobody's"))) << "undeclared knob";
  const auto values_of = [&](std::string_view key) {
    const auto facet = std::ranges::find(facets, key, [](const FacetPtr& each) { return std::string_view(each->key); });
    std::vector<std::string> texts;
    for (const FacetValue& value : table.codes(**facet).values) texts.push_back(value.text);
    return texts;
  };
  EXPECT_THAT(values_of("cluster"), testing::ElementsAre("auto", "4"));
  EXPECT_THAT(values_of("order"), testing::ElementsAre("as given", "longest"));
}

TEST(Facets, ASweptKnobIsAFacet) {
  const KnownAlgorithm mine(
      std::make_unique<test::FactsOnlyAlgorithm>(Facts{.name = "mine",
                                                       .title = "Mine",
                                                       .short_title = "Mine",
                                                       .source = "nowhere",
                                                       .tile_meaning = Message::verbatim("nothing"),
                                                       .knobs = {{.name = "cluster",
                                                                  .label = Message::verbatim("Cluster"),
                                                                  .meaning = Message::verbatim("Blocks of a cluster"),
                                                                  .largest = 16},
                                                                 {.name = "parts",
                                                                  .label = Message::verbatim("Parts"),
                                                                  .meaning = Message::verbatim("Of a head"),
                                                                  .largest = 16,
                                                                  .separate_curves = true}}}));
  std::vector<PointRecord> records;
  for (const std::int64_t value : {0, 4}) {
    PointSpec changed = fixtures::spec("mine", 1024);
    changed.knobs.set("cluster", value);
    changed.knobs.set("parts", value);
    records.push_back(fixtures::failed_point(changed, Disposition::infeasible, "not asked"));
  }
  const PointTable table = Points(records).table();
  EXPECT_EQ(swept_knob_values(table, table.rows()), (std::vector<KnobValueChoice>{{"parts", 0}, {"parts", 4}}));
}

TEST(Facets, AreInOrder) {
  std::vector<std::string> curve{"d", "pass", "n_q", "mask", "dtype", "heads", "dropout", "page", "deterministic"};
  std::vector<std::string> map{"device", "algorithm", "n",       "d",    "pass",         "mask",
                               "dtype",  "heads",     "dropout", "page", "deterministic"};
  const auto begin_of = [](const std::vector<FacetPtr>& facets, std::size_t count) {
    std::vector<std::string> keys = keys_of(facets);
    keys.resize(std::min(count, keys.size()));
    return keys;
  };
  EXPECT_EQ(begin_of(curve_facets(), curve.size()), curve);
  EXPECT_EQ(begin_of(map_facets(), map.size()), map);
  EXPECT_EQ(curve_facets().back()->key, "cache");
  EXPECT_EQ(map_facets().back()->key, "cache");
}

TEST(Facets, FieldsKeepTheirText) {
  PointSpec changed = fixtures::spec("fa2", 1024);
  changed.problem.dropout = 0.1;
  changed.problem.page = 64;
  changed.problem.deterministic = true;
  const Points points({fixtures::ok_point(changed), fixtures::ok_point(fixtures::spec("fa2", 1024))});
  const PointTable table = points.table();
  struct Words {
    std::string key;
    Message label;
    std::string stem, usual, other;
  };
  for (const Words& words : {Words{"dropout", msg::field::dropout{}, "dropout", "0", "0.1"},
                             Words{"page", msg::field::page{}, "page", "contiguous", "64"},
                             Words{"deterministic", msg::field::deterministic{}, "deterministic-", "no", "yes"}}) {
    const auto facets = curve_facets();
    const auto found = std::ranges::find(facets, words.key, [](const FacetPtr& each) { return each->key; });
    ASSERT_NE(found, facets.end()) << words.key;
    const Facet& facet = **found;
    EXPECT_EQ(text(facet.label), text(words.label));
    EXPECT_FALSE(text(facet.help).empty());
    EXPECT_EQ(facet.stem, words.stem);
    EXPECT_EQ(facet.usual, words.usual);
    EXPECT_TRUE(facet.quiet);
    const auto& values = table.codes(facet).values;
    ASSERT_EQ(values.size(), 2U) << words.key;
    EXPECT_EQ(values[0].text, words.usual);
    EXPECT_EQ(values[1].text, words.other);
  }
}

}  // namespace
}  // namespace attnscope::analysis

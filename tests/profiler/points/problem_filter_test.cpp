// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/problem_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

ProblemFilter curves_filter() {
  return {curve_facets(), key_length_facet()};
}

const ProblemFilter::State& state_of(const ProblemFilter& filter, std::string_view field) {
  return filter.state(filter.index_of(field));
}

std::string chosen(const ProblemFilter& filter, std::string_view field) {
  return state_of(filter, field).value().text;
}

TEST(ProblemFilter, OptionsDependOnEarlierChoices) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {256, 512, 1024}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, 64)));
  }
  PointRecord causal = fixtures::ok_point(fixtures::spec("fa2", 256));
  causal.spec.problem.mask = Mask::causal;
  records.push_back(causal);
  const Points points(records);
  const PointTable table = points.table();
  ProblemFilter filter = curves_filter();
  filter.update(table, table.rows());
  // d 64 covers three N, d 128 one: 64 is chosen, and only the full mask remains.
  EXPECT_EQ(chosen(filter, "d"), "64");
  EXPECT_THAT(filter.options("Mask"), testing::ElementsAre("full"));
  EXPECT_EQ(filter.rows(), (std::vector<Row>{0, 1, 2}));
  filter.restore(filter.index_of("d"), "128");
  filter.update(table, table.rows());
  EXPECT_EQ(state_of(filter, "d").options.size(), 2U);
  EXPECT_EQ(chosen(filter, "mask"), "causal") << "automatic before the user makes a choice";
  EXPECT_EQ(filter.rows(), (std::vector<Row>{3}));
}

TEST(ProblemFilter, AChoiceWithoutPointsChangesNoOther) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {256, 512}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, 64)));
    for (const std::int64_t d : {128, 256}) {
      PointRecord causal = fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, d));
      causal.spec.problem.mask = Mask::causal;
      records.push_back(causal);
    }
  }
  const Points points(records);
  const PointTable table = points.table();
  ProblemFilter filter = curves_filter();
  const std::size_t d = filter.index_of("d");
  const std::size_t mask = filter.index_of("mask");
  filter.update(table, table.rows());
  ASSERT_EQ(chosen(filter, "d"), "64");
  filter.choose(d, "128");
  filter.update(table, table.rows());
  EXPECT_TRUE(filter.empty());
  EXPECT_EQ(chosen(filter, "d"), "128");
  EXPECT_EQ(chosen(filter, "mask"), "full") << "automatic, but not changed by the choice of d";
  const auto nearest = filter.nearest(table, table.rows(), 2);
  ASSERT_EQ(nearest.size(), 2U);
  using Changes = std::vector<std::pair<std::size_t, FacetValue>>;
  const auto texts = [](const Changes& changes) {
    std::vector<std::pair<std::size_t, std::string>> all;
    for (const auto& [facet, value] : changes) all.emplace_back(facet, value.text);
    return all;
  };
  std::vector<std::vector<std::pair<std::size_t, std::string>>> offered;
  for (const auto& each : nearest) offered.push_back(texts(each.changes));
  EXPECT_THAT(offered, testing::UnorderedElementsAre(testing::ElementsAre(std::pair(d, "64")),
                                                     testing::ElementsAre(std::pair(mask, "causal"))));
  filter.reset();
  filter.update(table, table.rows());
  EXPECT_EQ(chosen(filter, "d"), "64");
  EXPECT_FALSE(filter.empty());
}

TEST(ProblemFilter, CopiesShareTheirOptions) {
  const Points points({fixtures::ok_point(fixtures::spec("fa2", 256))});
  const PointTable table = points.table();
  ProblemFilter filter = curves_filter();
  filter.update(table, table.rows());
  const ProblemFilter copy = filter;
  EXPECT_EQ(&state_of(copy, "d").options[0], &state_of(filter, "d").options[0]);
}

TEST(ProblemFilter, VisitsEveryCombinationOnce) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {256, 512}) {
    for (const int window : {1, 2, 3, 4, 5}) {
      records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
      records.back().spec.problem.mask = *parse_mask("window:" + std::to_string(window) + ":0");
    }
  }
  const Points points(records);
  const PointTable table = points.table();
  std::vector<std::vector<Row>> problems;
  curves_filter().for_each_problem(table, table.rows(),
                                   [&](const ProblemFilter& filter) { problems.push_back(filter.rows()); });
  EXPECT_THAT(problems,
              testing::UnorderedElementsAre(std::vector<Row>{0, 5}, std::vector<Row>{1, 6}, std::vector<Row>{2, 7},
                                            std::vector<Row>{3, 8}, std::vector<Row>{4, 9}));
}

TEST(ProblemFilter, DefaultsAreChosenAndNotInTitles) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {256, 512, 1024}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
    records.back().spec.problem.dropout = 0.1;
  }
  ProblemFilter filter = curves_filter();
  {
    const Points dropped(records);
    const PointTable table = dropped.table();
    filter.update(table, table.rows());
    EXPECT_THAT(filter.summary(), test::HasWords("128 fwd full fp16 1 132 0.1 cold"));
    EXPECT_EQ(filter.stem(), "-d128-1x132-dropout0.1");
  }
  records.push_back(fixtures::ok_point(fixtures::spec("fa2", 256)));
  {
    const Points both(records);
    const PointTable table = both.table();
    filter = curves_filter();
    filter.update(table, table.rows());
    EXPECT_EQ(state_of(filter, "dropout").options.size(), 2U);
    EXPECT_EQ(chosen(filter, "dropout"), "0") << "although it has fewer points";
    EXPECT_EQ(filter.stem(), "-d128-1x132-dropout0");
  }
  const Points usual({fixtures::ok_point(fixtures::spec("fa2", 256))});
  const PointTable table = usual.table();
  filter.update(table, table.rows());
  EXPECT_THAT(filter.summary(), testing::Not(testing::HasSubstr("dropout")));
  EXPECT_EQ(filter.stem(), "-d128-1x132");
}

TEST(ProblemFilter, FileNamesContainMaskAndPass) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
  record.spec.problem.pass = Pass::fwd_bwd;
  record.spec.problem.heads_kv = 12;
  record.spec.problem.batch = 3;
  record.spec.problem.mask.lengths = Mask::Lengths::list;
  record.spec.problem.mask.length_list = {300, 512, 7};
  const auto stem_of = [](const PointRecord& point) {
    const Points points({point});
    const PointTable table = points.table();
    ProblemFilter filter = curves_filter();
    filter.update(table, table.rows());
    return filter.stem();
  };
  EXPECT_EQ(stem_of(record), "-d128-fwd+bwd-lengths.300.512.7-3x132-12-KV");
  record.spec.problem.dropout = 0.5;
  EXPECT_EQ(stem_of(record), "-d128-fwd+bwd-lengths.300.512.7-3x132-12-KV-dropout0.5");
}

TEST(ProblemFilter, MasksWithEqualShortTextsStayDistinct) {
  std::vector<PointRecord> records;
  for (const char* mask : {"lengths:100/200/300/400/500", "lengths:100/200/400/300/500"}) {
    PointSpec spec = fixtures::spec("fa2", 512);
    spec.problem.batch = 5;
    spec.problem.mask = *parse_mask(mask);
    records.push_back(fixtures::ok_point(spec));
  }
  const Points points(records);
  const PointTable table = points.table();
  ProblemFilter filter = curves_filter();
  filter.update(table, table.rows());
  const FacetOptions& options = state_of(filter, "mask").options;
  ASSERT_EQ(options.size(), 2U);
  EXPECT_EQ(options[0].text, "lengths:100/200/…/500 (5 lengths, 1500 keys)");
  EXPECT_EQ(options[0].text, options[1].text);
  std::set<std::string> stems;
  for (Row row = 0; row < table.size(); ++row) {
    filter.choose(filter.index_of("mask"), to_string(table.problem(row).mask));
    filter.update(table, table.rows());
    EXPECT_EQ(filter.rows(), std::vector<Row>{row});
    stems.insert(filter.stem());
  }
  EXPECT_EQ(stems.size(), 2U);
}

TEST(ProblemFilter, ImportedPointsDoNotSetDefaults) {
  // Twice as many lengths as our points, with another head dimension.
  std::vector<PointRecord> peers;
  for (std::int64_t n = 128; n <= (1 << 20); n *= 2) {
    peers.push_back(
        fixtures::imported_point("torch-flash", {.heads_q = 3, .heads_kv = 3, .n_q = n, .n_k = n, .d = 80}, 1e6));
  }
  Points points(peers);
  points.add(fixtures::memory_wall());
  const PointTable table = points.table();
  ProblemFilter filter = curves_filter();
  filter.update(table, table.rows());
  EXPECT_EQ(chosen(filter, "d"), "128");
  ASSERT_FALSE(filter.rows().empty());
  for (const Row row : filter.rows()) EXPECT_NE(table.run(row).provenance, Provenance::imported);
}

TEST(ProblemFilter, NewPointsDoNotChangeChoices) {
  Points points({fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 64, 64))});
  ProblemFilter filter = curves_filter();
  {
    const PointTable table = points.table();
    filter.update(table, table.rows());
  }
  EXPECT_EQ(chosen(filter, "d"), "64");
  points.add(fixtures::memory_wall());
  const PointTable table = points.table();
  filter.update(table, table.rows());
  EXPECT_EQ(chosen(filter, "d"), "64") << "although d 128 now has more N";
  EXPECT_EQ(filter.chosen(filter.index_of("d")), "") << "an automatic choice";
  filter.choose(filter.index_of("d"), "128");
  filter.update(table, table.rows());
  EXPECT_EQ(chosen(filter, "d"), "128");
  filter.choose(filter.index_of("d"), "");
  filter.update(table, table.rows());
  EXPECT_EQ(chosen(filter, "d"), "128") << "automatic: the value with the largest coverage";
}

TEST(ProblemFilter, VisitsEveryProblemOnce) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (const PointRecord& record : fixtures::backward()) records.push_back(record);
  const Points points(records);
  const PointTable table = points.table();
  std::vector<std::pair<std::string, std::size_t>> visited;
  curves_filter().for_each_problem(table, table.rows(), [&](const ProblemFilter& filter) {
    visited.emplace_back(filter.stem(), filter.rows().size());
  });
  EXPECT_THAT(visited, testing::ElementsAre(std::pair{"-d128-fwd-1x132", 21U}, std::pair{"-d128-bwd-full-1x132", 10U},
                                            std::pair{"-d128-bwd-causal-1x132", 10U}));
}

TEST(ProblemFilter, GpusOfOneModelAreDistinct) {
  std::vector<PointRecord> records{fixtures::ok_point(fixtures::spec("fa2", 1024))};
  auto one = fixtures::run();
  one.device_id = "GPU-11112222-aaaa";
  auto other = fixtures::run();
  other.device_id = "GPU-33334444-bbbb";
  Points points;
  points.add(records, one).add(records, other).add({fixtures::ok_point(records[0].spec, true)});
  const PointTable table = points.table();
  ProblemFilter filter({map_facets().front()}, tile_facet());
  filter.update(table, table.rows());
  EXPECT_THAT(filter.options("Device"), testing::ElementsAre("H200 (11112222)", "H200 (33334444)", "simulated H200"));
  EXPECT_EQ(filter.rows(), std::vector<Row>{0});
}

TEST(ProblemFilter, WithoutPointsThereAreNoChoices) {
  ProblemFilter filter = curves_filter();
  filter.update(PointTable(), {});
  EXPECT_EQ(filter.state(0).current, -1);
  EXPECT_EQ(filter.summary(), "");
  EXPECT_EQ(filter.stem(), "");
  EXPECT_EQ(filter.index_of("no such field"), filter.facets().size());
  EXPECT_TRUE(filter.options("no such field").empty());
}

}  // namespace
}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/point_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <iterator>
#include <optional>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "profiler/points/facets.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

FacetPtr facet_of(std::string_view key) {
  const auto facets = map_facets();
  return *std::ranges::find(facets, key, [](const FacetPtr& facet) { return std::string_view(facet->key); });
}

TEST(PointTable, ColumnsEqualTheRecords) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  for (const PointRecord& record : fixtures::peers()) records.push_back(record);
  const Points points(records);
  const PointTable table = points.table();
  ASSERT_EQ(table.size(), records.size());
  for (const std::string_view metric :
       {metric_key::time_median_ns, metric_key::dram_read_bytes, metric_key::tflops, metric_key::l2_sm_over_model}) {
    const ValueColumn& column = table.values(metric);
    int present = 0;
    for (Row row = 0; row < table.size(); ++row) {
      const auto expected = evaluate(metric, records[row]);
      ASSERT_EQ(column.has(row), expected.has_value()) << metric << ' ' << row;
      if (!expected) {
        EXPECT_EQ(column.at(row), std::nullopt);
        continue;
      }
      ++present;
      EXPECT_EQ(column.value(row), expected->value);
      EXPECT_EQ(column.provenance(row), expected->provenance);
    }
    EXPECT_GT(present, 0) << metric;
    EXPECT_LT(present, static_cast<int>(table.size())) << metric;
  }
}

TEST(PointTable, ThrottlingIsComparedWithTheRun) {
  std::vector<PointRecord> records(5, fixtures::ok_point(fixtures::spec("fa2", 1024)));
  for (std::size_t i = 1; i < records.size(); ++i) records[i].clocks->throttled = true;
  records.push_back(fixtures::failed_point(fixtures::spec("fa2", 2048), Disposition::timeout, "too slow"));
  const Points points(records);
  const PointTable table = points.table();
  EXPECT_TRUE(table.runs()[0].mostly_throttled.value());
  for (Row row = 0; row < table.size(); ++row) EXPECT_EQ(table.is_throttling_unusual(row), row == 0) << row;
  const std::vector<Row> kept{0};
  const TableSubset subset = extract_rows(table, kept);
  EXPECT_TRUE(subset.table.is_throttling_unusual(0)) << "subsets keep the run's state";
}

TEST(PointTable, MovedTablesKeepTheirColumns) {
  const Points points(fixtures::memory_wall());
  PointTable first = points.table();
  const std::optional<double> before = first.values(metric_key::time_median_ns).at(0);
  const PointTable second = std::move(first);
  EXPECT_EQ(second.values(metric_key::time_median_ns).at(0), before);
  EXPECT_TRUE(second.values(metric_key::time_median_ns).has(1)) << "first access";
}

TEST(PointTable, KnownValuesAreCopied) {
  const fixtures::Points points(fixtures::tile_sweep());
  const PointTable all = points.table();
  std::vector<Row> rows;
  for (Row row = 1; row < all.size(); row += 2) rows.push_back(row);
  // Compute values of every second row; the others are computed on demand.
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    (void)all.values(metric_key::l2_sm_bytes).at(rows[i]);
    (void)all.dram_traffic().at(rows[i]);
  }
  const auto [some, runs] = extract_rows(all, rows);
  EXPECT_EQ(runs, std::vector<RunIndex>{0});
  std::size_t there = 0;
  std::size_t absent = 0;
  for (Row row = 0; row < some.size(); ++row) {
    const std::optional<double> bytes = some.values(metric_key::l2_sm_bytes).at(row);
    EXPECT_EQ(bytes, all.values(metric_key::l2_sm_bytes).at(rows[row])) << row;
    EXPECT_EQ(some.dram_traffic().at(row), all.dram_traffic().at(rows[row])) << row;
    EXPECT_EQ(some.values(metric_key::time_median_ns).at(row), all.values(metric_key::time_median_ns).at(rows[row]));
    ++(bytes ? there : absent);
  }
  EXPECT_GT(there, 0U);
  EXPECT_GT(absent, 0U) << "failed points have no value";
}

TEST(PointTable, CopiedValuesAreNotRecomputed) {
  std::vector<PointRecord> slower = fixtures::tile_sweep();
  for (PointRecord& record : slower) {
    for (KernelRecord& kernel : record.kernels) {
      for (double& ns : kernel.samples_ns) ns *= 2;
    }
  }
  const fixtures::Points theirs(slower);
  const PointTable from = theirs.table();
  const fixtures::Points ours(fixtures::tile_sweep());
  PointTable table = ours.table();
  const std::vector<Row> rows = from.rows();
  for (const Row row : rows) (void)from.values(metric_key::time_median_ns).at(row);
  table.copy_known_values(from, rows);
  std::size_t there = 0;
  for (const Row row : rows) {
    const std::optional<double> ns = table.values(metric_key::time_median_ns).at(row);
    EXPECT_EQ(ns, from.values(metric_key::time_median_ns).at(row));
    if (ns) ++there;
  }
  EXPECT_GT(there, 0U);
}

TEST(PointTable, TileCodesAreSorted) {
  const Points points({fixtures::ok_point(fixtures::spec("fa2", 1024, 128, 64)),
                       fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 128)),
                       fixtures::ok_point(fixtures::spec("fa2", 2048, 128, 64)),
                       fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 64))});
  const PointTable table = points.table();
  EXPECT_EQ(table.tile_code(0), table.tile_code(2));
  EXPECT_LT(table.tile_code(3), table.tile_code(1));
  EXPECT_LT(table.tile_code(1), table.tile_code(0));
  EXPECT_EQ(table.tile(table.tile_code(1)), (TileShape{64, 128}));
}

TEST(PointTable, FacetCodesAreSortedByValue) {
  const Points points({fixtures::ok_point(fixtures::spec("fa2", 4096)), fixtures::ok_point(fixtures::spec("fa2", 512)),
                       fixtures::ok_point(fixtures::spec("fa2", 4096)),
                       fixtures::ok_point(fixtures::spec("fa2", 1024))});
  const PointTable table = points.table();
  const CodeColumn& column = table.codes(*key_length_facet());
  EXPECT_THAT(column.codes, testing::ElementsAre(2, 0, 2, 1));
  std::vector<std::string> texts;
  for (const FacetValue& value : column.values) texts.push_back(value.text);
  EXPECT_THAT(texts, testing::ElementsAre("512", "1024", "4096"));
}

TEST(PointTable, AlgorithmsAreInRegistryOrder) {
  const Points points({fixtures::imported_point("another", fixtures::spec("fa2", 512).problem, 1e6),
                       fixtures::ok_point(fixtures::spec("fa2", 512)), fixtures::ok_point(fixtures::spec("naive", 512)),
                       fixtures::ok_point(fixtures::spec("fa1", 512))});
  const PointTable table = points.table();
  std::vector<std::string> names;
  for (const FacetValue& value : table.codes(*facet_of("algorithm")).values) names.push_back(value.text);
  EXPECT_THAT(names, testing::ElementsAre("naive", "fa1", "fa2", "another"));
}

TEST(PointTable, CombinedCodesDoNotOverflow) {
  // 13 facets of 32 values each exceed 64 bits of combinations; the 40 points use 40 of them.
  std::vector<PointRecord> records;
  for (int i = 0; i < 40; ++i) {
    PointSpec spec = fixtures::spec("fa2", 512 + 16 * i);
    spec.knobs.set("splits", std::int64_t{i});
    spec.knobs.set("warps", std::int64_t{i});
    spec.knobs.set("stages", std::int64_t{i});
    spec.problem.page = 16 * i;
    spec.problem.batch = 1 + i;
    records.push_back(fixtures::failed_point(spec, Disposition::infeasible, "not asked"));
  }
  const Points points(records);
  const PointTable table = points.table();
  std::vector<FacetPtr> facets;
  for (int repeat = 0; repeat < 3; ++repeat) std::ranges::copy(map_facets(), std::back_inserter(facets));
  const auto codes = combined_codes(table, facets);
  EXPECT_EQ((std::set<std::uint64_t>(codes.begin(), codes.end()).size()), 40U);
}

TEST(DisjointGroups, RunsJoinTheFirstDisjointGroup) {
  const std::vector<std::vector<std::int64_t>> places{{1, 2}, {2, 3}, {4}, {3}, {1}};
  const auto groups = disjoint_groups(places);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_THAT(groups[0], testing::ElementsAre(0, 2, 3));
  EXPECT_THAT(groups[1], testing::ElementsAre(1, 4));
  EXPECT_TRUE(disjoint_groups({}).empty());
}

TEST(PointTable, IsThreadSafeForReading) {
  const Points points(fixtures::tile_sweep());
  const PointTable alone = points.table();
  const PointTable shared = points.table();
  const FacetPtr facet = facet_of("algorithm");
  struct PointSummary {
    std::vector<std::optional<double>> values;
    std::vector<std::uint32_t> codes;
    bool operator==(const PointSummary&) const = default;
  };
  const auto look = [&](const PointTable& table) {
    PointSummary seen;
    for (Row row = 0; row < table.size(); ++row) {
      seen.values.push_back(table.values(metric_key::l2_sm_bytes).at(row));
      seen.values.push_back(table.dram_traffic().at(row));
    }
    seen.codes = table.codes(*facet).codes;
    return seen;
  };
  constexpr int threads = 4;
  std::vector<std::future<PointSummary>> others;
  others.reserve(threads);
  for (int i = 0; i < threads; ++i) {
    others.push_back(std::async(std::launch::async, [&] { return look(shared); }));
  }
  const PointSummary expected = look(alone);
  for (std::future<PointSummary>& other : others) EXPECT_EQ(other.get(), expected);
}

}  // namespace
}  // namespace attnscope::analysis

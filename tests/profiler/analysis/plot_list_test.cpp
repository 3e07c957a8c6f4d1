// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/plot_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/metrics/metrics.h"
#include "tests/profiler/analysis/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

TEST(PlotList, OneProblemOfBytesIsOnePlot) {
  const Points points(fixtures::memory_wall());
  const auto plots = curve_plots(points.table());
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].ordinate, Ordinate::bytes);
  EXPECT_TRUE(plots[0].choices.empty()) << "there is nothing to choose";
  EXPECT_TRUE(map_plots(points.table()).empty());
}

TEST(PlotList, EveryProblemHasItsPlotsAndRatesStandBesideImports) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (const PointRecord& record : fixtures::backward()) records.push_back(record);
  Points points(records);
  points.add(fixtures::peers());
  std::vector<std::pair<Choices, Ordinate>> found;
  for (const CurvePlot& plot : curve_plots(points.table())) found.emplace_back(plot.choices, plot.ordinate);
  EXPECT_THAT(found, testing::ElementsAre(std::pair{Choices{{"pass", "fwd"}}, Ordinate::bytes},
                                          std::pair{Choices{{"pass", "fwd"}}, Ordinate::rate},
                                          std::pair{Choices{{"pass", "bwd"}, {"mask", "full"}}, Ordinate::bytes},
                                          std::pair{Choices{{"pass", "bwd"}, {"mask", "causal"}}, Ordinate::bytes}));
}

TEST(PlotList, TimesStandInForBytesThatWereNotCounted) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {512, 1024}) {
    PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n));
    record.kernels[0].metrics.clear();
    records.push_back(record);
  }
  const Points points(records);
  const auto plots = curve_plots(points.table());
  ASSERT_EQ(plots.size(), 1U);
  EXPECT_EQ(plots[0].ordinate, Ordinate::time);
}

TEST(PlotList, EachNumberOfSplitsIsAPlot) {
  std::vector<PointRecord> records;
  for (const std::int64_t n_k : {4096, 8192}) {
    for (const int splits : {8, 16}) {
      PointSpec spec = fixtures::decode_spec("splitkv", n_k);
      spec.tile.splits = splits;
      records.push_back(fixtures::ok_point(spec));
    }
  }
  const Points points(records);
  const auto plots = curve_plots(points.table());
  ASSERT_EQ(plots.size(), 2U);
  EXPECT_EQ(plots[0].splits, 8);
  EXPECT_EQ(plots[1].splits, 16);
}

TEST(PlotList, ASweepOverTilesIsMapsAndNoCurves) {
  const Points points(fixtures::tile_sweep());
  const PointTable table = points.table();
  EXPECT_TRUE(only_a_tile_map(table, table.rows()));
  EXPECT_TRUE(curve_plots(table).empty());
  std::vector<std::pair<Choices, std::string>> found;
  for (const MapPlot& plot : map_plots(table)) found.emplace_back(plot.choices, plot.metric);
  const auto of = [](const char* algorithm, std::string_view metric) {
    return std::pair{Choices{{"algorithm", algorithm}}, std::string(metric)};
  };
  EXPECT_THAT(found, testing::ElementsAre(of("fa1", metric_key::time_median_ns), of("fa1", metric_key::l2_sm_bytes),
                                          of("fa1", metric_key::dram_bytes), of("fa2", metric_key::time_median_ns),
                                          of("fa2", metric_key::l2_sm_bytes), of("fa2", metric_key::dram_bytes)));
}

TEST(PlotList, NothingHasNoPlots) {
  EXPECT_TRUE(curve_plots(PointTable()).empty());
  EXPECT_TRUE(map_plots(PointTable()).empty());
}

}  // namespace
}  // namespace attnscope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/plot_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/profiler/analysis/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;
using ::testing::ElementsAre;

/// The stems of the plots that words choose; the error where there is one.
std::vector<std::string> stems(const Points& points, const std::vector<std::string>& words = {}) {
  const auto choice = parse_plot_choice(words);
  if (!choice) return {text(choice.error())};
  const auto plots = plan_plots(points.table(), *choice);
  if (!plots) return {text(plots.error())};
  std::vector<std::string> names;
  for (const Plot& plot : *plots) names.push_back(plot.stem);
  return names;
}

TEST(PlotList, AProblemHasAPlotOfEachAxisThatItsPointsReach) {
  const Points points(fixtures::memory_wall());
  EXPECT_THAT(stems(points), ElementsAre("io-d128-1x132", "time-d128-1x132", "tflops-d128-1x132"));
  const Points imported(fixtures::peers());
  EXPECT_THAT(stems(imported), ElementsAre("time-d128-1x132", "tflops-d128-1x132")) << "no bytes were counted";
}

TEST(PlotList, EveryProblemHasItsPlots) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (const PointRecord& record : fixtures::backward()) records.push_back(record);
  const Points points(records);
  EXPECT_THAT(stems(points, {"bytes"}),
              ElementsAre("io-d128-fwd-1x132", "io-d128-bwd-full-1x132", "io-d128-bwd-causal-1x132"));
  EXPECT_THAT(stems(points, {"bytes,mask=causal"}), ElementsAre("io-d128-bwd-causal-1x132"));
  EXPECT_THAT(stems(points, {"time", "bytes", "pass=fwd"}), ElementsAre("io-d128-1x132", "time-d128-1x132"));
  EXPECT_THAT(stems(points, {"rate,heads=1 × 132,pass=fwd"}), ElementsAre("tflops-d128-1x132"));
}

TEST(PlotList, WhatIsNotThereIsSaid) {
  const Points points(fixtures::memory_wall());
  EXPECT_THAT(stems(points, {"bytes,type=fp16,dtype=fp16"}), ElementsAre("io-d128-1x132")) << "two names of one field";
  EXPECT_THAT(stems(points, {"d=64"}), ElementsAre("d=64: no such point; there are 128"));
  EXPECT_THAT(stems(points, {"colour=red"}), ElementsAre(testing::StartsWith("colour=…: it takes d, pass, n_q, mask")));
  EXPECT_THAT(stems(points, {"pictures"}),
              ElementsAre("pictures: it takes bytes, time, rate, maps, or a choice as d=128"));
}

TEST(PlotList, EachNumberOfSplitsIsAPlot) {
  std::vector<PointRecord> records;
  for (const std::int64_t n_k : {4096, 8192}) {
    for (const int splits : {8, 16}) {
      PointSpec spec = fixtures::decode_spec("splitkv", n_k);
      spec.knobs.set("splits", std::int64_t{splits});
      records.push_back(fixtures::ok_point(spec));
    }
  }
  const Points points(records);
  const auto plots = plan_plots(points.table(), {{PlotKind::bytes}, {}});
  ASSERT_TRUE(plots);
  ASSERT_EQ(plots->size(), 2U);
  EXPECT_EQ((*plots)[0].tile.swept, (SweptValue{"splits", 8}));
  EXPECT_EQ((*plots)[1].tile.swept, (SweptValue{"splits", 16}));
  EXPECT_EQ((*plots)[1].stem, "io-d128-nq1-1x16-splits16");
  EXPECT_EQ((*plots)[1].filter.rows().size(), 4U) << "the other splits are left out when it is drawn";
}

TEST(PlotList, ASweepOverTilesIsMapsAndNoCurves) {
  const Points points(fixtures::tile_sweep());
  const PointTable table = points.table();
  EXPECT_TRUE(only_a_tile_map(table, table.rows()));
  EXPECT_THAT(stems(points),
              ElementsAre("tiles-fa1-n4096-d128-1x132-time_median_ns", "tiles-fa1-n4096-d128-1x132-l2_sm_bytes",
                          "tiles-fa1-n4096-d128-1x132-dram_bytes", "tiles-fa2-n4096-d128-1x132-time_median_ns",
                          "tiles-fa2-n4096-d128-1x132-l2_sm_bytes", "tiles-fa2-n4096-d128-1x132-dram_bytes"));
  EXPECT_THAT(stems(points, {"maps", "algorithm=fa2", "n=4096"}), testing::SizeIs(3));
  EXPECT_THAT(stems(points, {"bytes"}), testing::IsEmpty());
}

TEST(PlotList, ATileIsPartOfTheName) {
  const Points points(fixtures::memory_wall());
  const PointTable table = points.table();
  ProblemFilter filter = curve_filter();
  filter.update(table, table.rows());
  EXPECT_EQ(curve_stem(Ordinate::bytes, filter, {}), "io-d128-1x132");
  EXPECT_EQ(curve_stem(Ordinate::time, filter, {TileSelection::Rule::fastest, {}, {}}), "time-d128-1x132-fastest");
  const Config tile({64, 128}, {{"warps", 4}});
  EXPECT_EQ(curve_stem(Ordinate::rate, filter, {TileSelection::Rule::exact, tile, {}}),
            "tflops-d128-1x132-tile64x128-warps-4");
}

TEST(PlotList, NothingHasNoPlots) {
  EXPECT_THAT(stems(Points()), testing::IsEmpty());
}

}  // namespace
}  // namespace attnscope::analysis

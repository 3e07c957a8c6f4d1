// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/plot_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;
using ::testing::ElementsAre;

std::vector<std::string> stems(const Points& points) {
  std::vector<std::string> names;
  for (const Plot& plot : plan_plots(points.table())) names.push_back(plot.stem);
  return names;
}

TEST(PlotList, PlansPlotsWithValues) {
  const Points points(fixtures::memory_wall());
  EXPECT_THAT(stems(points), ElementsAre("io-d128-1x132", "time-d128-1x132", "tflops-d128-1x132"));
  const Points imported(fixtures::peers());
  EXPECT_THAT(stems(imported), ElementsAre("time-d128-1x132", "tflops-d128-1x132")) << "no bytes were counted";
}

TEST(PlotList, PlansPlotsPerProblem) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (const PointRecord& record : fixtures::backward()) records.push_back(record);
  const Points points(records);
  EXPECT_THAT(stems(points),
              ElementsAre("io-d128-fwd-1x132", "time-d128-fwd-1x132", "tflops-d128-fwd-1x132", "io-d128-bwd-full-1x132",
                          "time-d128-bwd-full-1x132", "tflops-d128-bwd-full-1x132", "io-d128-bwd-causal-1x132",
                          "time-d128-bwd-causal-1x132", "tflops-d128-bwd-causal-1x132"));
}

TEST(PlotList, PlansPlotsPerSplits) {
  std::vector<PointRecord> records;
  for (const std::int64_t n_k : {4096, 8192}) {
    for (const int splits : {8, 16}) {
      PointSpec spec = fixtures::decode_spec("splitkv", n_k);
      spec.knobs.set("splits", std::int64_t{splits});
      records.push_back(fixtures::ok_point(spec));
    }
  }
  const Points points(records);
  const std::vector<Plot> plots = plan_plots(points.table());
  ASSERT_EQ(plots.size(), 2U * 3) << "bytes, time and rate of each";
  EXPECT_EQ(plots[0].tile.swept, (KnobValueChoice{"splits", 8}));
  EXPECT_EQ(plots[3].tile.swept, (KnobValueChoice{"splits", 16}));
  EXPECT_EQ(plots[3].stem, "io-d128-nq1-1x16-splits16");
  EXPECT_EQ(plots[3].filter.rows().size(), 4U) << "drawing skips the other splits";
}

TEST(PlotList, TileSweepHasMapsOnly) {
  const Points points(fixtures::tile_sweep());
  const PointTable table = points.table();
  EXPECT_TRUE(is_tile_map_only(table, table.rows()));
  EXPECT_THAT(stems(points),
              ElementsAre("tiles-fa1-n4096-d128-1x132-time_median_ns", "tiles-fa1-n4096-d128-1x132-l2_sm_bytes",
                          "tiles-fa1-n4096-d128-1x132-dram_bytes", "tiles-fa2-n4096-d128-1x132-time_median_ns",
                          "tiles-fa2-n4096-d128-1x132-l2_sm_bytes", "tiles-fa2-n4096-d128-1x132-dram_bytes"));
}

TEST(PlotList, FourTilesAreAMap) {
  std::vector<PointRecord> records;
  for (const auto& [br, bc] : {std::pair(64, 32), std::pair(64, 64), std::pair(128, 32), std::pair(128, 64)}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", 4096, br, bc)));
    const PointTable table = Points(records).table();
    EXPECT_EQ(is_tile_map_only(table, table.rows()), records.size() == 4) << records.size();
  }
}

TEST(PlotList, FileNamesContainTile) {
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

TEST(PlotList, EmptyTableHasNoPlots) {
  EXPECT_THAT(stems(Points()), testing::IsEmpty());
}

}  // namespace
}  // namespace attnscope::analysis

// SPDX-License-Identifier: GPL-3.0-or-later
// How a map of tiles is called. What stands in its cells is tested where it is made, in tests/profiler/analysis.
#include "ui/plots/heatmap_grid.h"

#include <gtest/gtest.h>

#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"

namespace attnscope::ui {
namespace {

std::vector<fixtures::GivenPoint> sweep_of(const std::string& algorithm) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  std::erase_if(records, [&](const PointRecord& record) { return record.spec.algorithm != algorithm; });
  return fixtures::shown(records);
}

TEST(HeatmapGrid, TheBestIsCalledAfterTheMetric) {
  const auto points = sweep_of("fa2");
  EXPECT_EQ(fixtures::heatmap_of(points, metric_key::l2_sm_bytes).best_words(), QStringLiteral("lowest SM↔L2 total"));
  EXPECT_EQ(fixtures::heatmap_of(points, metric_key::tflops).best_words(), "highest TFLOP/s");
  EXPECT_EQ(fixtures::heatmap_of(points, metric_key::achieved_occupancy_pct).best_words(),
            "highest achieved occupancy");
  EXPECT_EQ(fixtures::heatmap_of(points, metric_key::time_median_ns).best_words(), "fastest");
}

TEST(HeatmapGrid, ACellLeadsBackToItsPoint) {
  const auto points = sweep_of("fa2");
  const HeatmapGrid grid = fixtures::heatmap_of(points, metric_key::time_median_ns);
  std::size_t cells = 0;
  for (int row = 0; row < static_cast<int>(grid.y.size()); ++row) {
    for (int column = 0; column < static_cast<int>(grid.x.size()); ++column) {
      if (!grid.at({row, column}).disposition) continue;
      ++cells;
      const TileShape& tile = grid.source({row, column}).spec.tile;
      EXPECT_EQ(tile.br, grid.y.values[static_cast<std::size_t>(row)].order);
      EXPECT_EQ(tile.bc, grid.x.values[static_cast<std::size_t>(column)].order);
    }
  }
  EXPECT_EQ(cells, points.size());
  EXPECT_EQ(grid.shown_rows().size(), points.size());
  EXPECT_TRUE(fixtures::heatmap_of({}, metric_key::time_median_ns).shown_rows().empty());
}

}  // namespace
}  // namespace attnscope::ui

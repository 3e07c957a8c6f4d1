// SPDX-License-Identifier: GPL-3.0-or-later
// Titles of tile maps. The cell values are tested in tests/profiler/analysis.
#include "ui/plots/heatmap_text.h"

#include <gtest/gtest.h>

#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"

namespace attnscope::ui {
namespace {

std::vector<fixtures::TestPoint> sweep_of(const std::string& algorithm) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  std::erase_if(records, [&](const PointRecord& record) { return record.spec.algorithm != algorithm; });
  return fixtures::shown(records);
}

TEST(HeatmapTextTest, NamesTheBestByMetric) {
  const auto points = fixtures::set_of(sweep_of("fa2"));
  EXPECT_EQ(best_label(fixtures::heatmap_of(*points, metric_key::l2_sm_bytes)), QStringLiteral("lowest SM↔L2 total"));
  EXPECT_EQ(best_label(fixtures::heatmap_of(*points, metric_key::tflops)), "highest TFLOP/s");
  EXPECT_EQ(best_label(fixtures::heatmap_of(*points, metric_key::achieved_occupancy_pct)),
            "highest achieved occupancy");
  EXPECT_EQ(best_label(fixtures::heatmap_of(*points, metric_key::time_median_ns)), "fastest");
}

TEST(HeatmapTextTest, MapsCellsToPoints) {
  const auto points = fixtures::set_of(sweep_of("fa2"));
  const TileMap map = fixtures::heatmap_of(*points, metric_key::time_median_ns);
  std::size_t cells = 0;
  for (int row = 0; row < static_cast<int>(map.y.size()); ++row) {
    for (int column = 0; column < static_cast<int>(map.x.size()); ++column) {
      if (!map.at({row, column}).disposition) continue;
      ++cells;
      const TileShape tile = points->table().spec(map.at({row, column}).row).tile;
      EXPECT_EQ(tile.br, map.y.values[static_cast<std::size_t>(row)].order);
      EXPECT_EQ(tile.bc, map.x.values[static_cast<std::size_t>(column)].order);
    }
  }
  EXPECT_EQ(cells, points->size());
  EXPECT_EQ(map.rows().size(), points->size());
  EXPECT_TRUE(fixtures::heatmap_of(PointSet(), metric_key::time_median_ns).rows().empty());
}

}  // namespace
}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Titles of tile maps. The cell values are tested in tests/profiler/analysis.
#include "ui/plots/heatmap_text.h"

#include <gtest/gtest.h>

#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

std::vector<fixtures::TestPoint> sweep_of(const std::string& algorithm) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  std::erase_if(records, [&](const PointRecord& record) { return record.spec.algorithm != algorithm; });
  return fixtures::shown(records);
}

TEST(HeatmapTextTest, NamesTheBestByMetric) {
  const auto points = fixtures::set_of(sweep_of("fa2"));
  const auto best = [&](std::string_view metric) { return best_label(fixtures::heatmap_of(*points, metric)); };
  const auto name = [](std::string_view metric) { return lowercase_label(metric_label(metric)).toStdString(); };
  EXPECT_EQ(best(metric_key::l2_sm_bytes), qtext(msg::tile_map::lowest{.metric = name(metric_key::l2_sm_bytes)}));
  EXPECT_EQ(best(metric_key::tflops), qtext(msg::tile_map::highest{.metric = name(metric_key::tflops)}));
  EXPECT_EQ(best(metric_key::achieved_occupancy_pct),
            qtext(msg::tile_map::highest{.metric = name(metric_key::achieved_occupancy_pct)}));
  EXPECT_EQ(best(metric_key::time_median_ns), qtext(msg::tile_map::fastest{}));
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

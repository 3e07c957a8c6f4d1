// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/heatmap_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"

namespace attnscope::ui {
namespace {

std::vector<ShownPoint> sweep_of(const std::string& algorithm) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  std::erase_if(records, [&](const PointRecord& record) { return record.spec.algorithm != algorithm; });
  return fixtures::shown(records);
}

HeatmapGrid::Place place_of(const HeatmapGrid& grid, int br, int bc) {
  const auto row = std::find(grid.br.begin(), grid.br.end(), br) - grid.br.begin();
  const auto column = std::find(grid.bc.begin(), grid.bc.end(), bc) - grid.bc.begin();
  return {static_cast<int>(row), static_cast<int>(column)};
}

TEST(HeatmapGrid, EveryPointFindsItsCell) {
  const auto points = sweep_of("fa2");
  const HeatmapGrid grid = build_heatmap(points, metric_key::l2_sm_bytes);
  EXPECT_EQ(grid.collected, static_cast<int>(points.size()));
  for (const ShownPoint& point : points) {
    const HeatmapCell& cell = grid.at(place_of(grid, point.spec().tile.br, point.spec().tile.bc));
    EXPECT_EQ(cell.disposition, point.record().disposition);
    EXPECT_EQ(cell.source.point, point.point);
    const auto value = evaluate(metric_key::l2_sm_bytes, point.record());
    EXPECT_EQ(cell.value.has_value(), point.record().disposition == Disposition::ok);
    if (cell.value) {
      EXPECT_DOUBLE_EQ(*cell.value, value->value);
    }
  }
  EXPECT_FALSE(grid.at(place_of(grid, 80, 224)).disposition) << "never collected: no disposition, no zero";
  EXPECT_EQ(grid.at(place_of(grid, 112, 96)).disposition, Disposition::timeout);
}

TEST(HeatmapGrid, Fa2TrafficDependsOnBrAloneAndFa1OnBcAlone) {
  const HeatmapGrid fa2 = build_heatmap(sweep_of("fa2"), metric_key::l2_sm_bytes);
  for (std::size_t row = 0; row < fa2.br.size(); ++row) {
    std::optional<double> first;
    for (const HeatmapCell& cell : fa2.cells[row]) {
      if (!cell.value) continue;
      if (first) {
        EXPECT_DOUBLE_EQ(*cell.value, *first);
      }
      first = cell.value;
    }
  }
  const HeatmapGrid fa1 = build_heatmap(sweep_of("fa1"), metric_key::l2_to_sm_bytes);
  for (std::size_t column = 0; column < fa1.bc.size(); ++column) {
    std::optional<double> first;
    for (const auto& row : fa1.cells) {
      if (!row[column].value) continue;
      if (first) {
        EXPECT_DOUBLE_EQ(*row[column].value, *first);
      }
      first = row[column].value;
    }
  }
}

TEST(HeatmapGrid, APointWithoutATileHasNoCell) {
  auto points = sweep_of("fa2");
  const HeatmapGrid without = build_heatmap(points, metric_key::time_median_ns);
  const auto other = fixtures::shown({fixtures::imported_point("fa2", points.front().spec().problem, 1e6)});
  points.insert(points.begin(), other.begin(), other.end());
  const HeatmapGrid with = build_heatmap(points, metric_key::time_median_ns);
  EXPECT_EQ(with.br, without.br);
  EXPECT_EQ(with.collected, without.collected);
  EXPECT_TRUE(build_heatmap(other, metric_key::time_median_ns).empty());
}

TEST(HeatmapGrid, TheFastestIsFoundByTimeWhateverIsShown) {
  const auto points = sweep_of("fa2");
  const HeatmapGrid grid = build_heatmap(points, metric_key::registers);
  ASSERT_TRUE(grid.fastest);
  const double best = evaluate(metric_key::time_median_ns, grid.at(*grid.fastest).source.record())->value;
  for (const ShownPoint& point : points) {
    if (point.record().disposition != Disposition::ok) continue;
    EXPECT_GE(evaluate(metric_key::time_median_ns, point.record())->value, best);
  }
}

TEST(HeatmapGrid, TheBestIsThatOfTheMetricShown) {
  const auto points = sweep_of("fa2");
  for (const auto& [metric, better] :
       {std::pair{metric_key::l2_sm_bytes, Better::less}, std::pair{metric_key::time_median_ns, Better::less},
        std::pair{metric_key::tflops, Better::more}}) {
    const HeatmapGrid grid = build_heatmap(points, metric);
    EXPECT_EQ(grid.better, better) << metric;
    ASSERT_TRUE(grid.best) << metric;
    EXPECT_EQ(grid.at(*grid.best).value, better == Better::less ? grid.minimum : grid.maximum) << metric;
  }
  EXPECT_EQ(build_heatmap(points, metric_key::l2_sm_bytes).best_words(), QStringLiteral("lowest SM↔L2 total"));
  EXPECT_EQ(build_heatmap(points, metric_key::tflops).best_words(), "highest TFLOP/s");
  EXPECT_EQ(build_heatmap(points, metric_key::achieved_occupancy_pct).best_words(), "highest achieved occupancy");
  const HeatmapGrid time = build_heatmap(points, metric_key::time_median_ns);
  EXPECT_EQ(time.best, time.fastest);
  EXPECT_EQ(time.best_words(), "fastest");
  EXPECT_FALSE(build_heatmap(points, metric_key::achieved_occupancy_pct).best) << "all of one value";
  for (const std::string_view metric : {metric_key::dram_bandwidth, metric_key::l2_sm_bandwidth}) {
    const HeatmapGrid grid = build_heatmap(points, metric);
    EXPECT_LT(grid.minimum, grid.maximum) << metric;
    EXPECT_FALSE(grid.best) << metric << ": no better end";
  }
}

TEST(HeatmapGrid, AmongTilesAlikeTheFastestIsTheBest) {
  // FA2 moves the same bytes whatever Bc is: the tiles of its tallest Br share the least.
  const HeatmapGrid grid = build_heatmap(sweep_of("fa2"), metric_key::model_l2_sm_bytes);
  ASSERT_TRUE(grid.best);
  int alike = 0;
  const auto time_at = [](const HeatmapCell& cell) {
    return evaluate(metric_key::time_median_ns, cell.source.record())->value;
  };
  for (const auto& row : grid.cells) {
    for (const HeatmapCell& cell : row) {
      if (!cell.value || *cell.value != *grid.minimum) continue;
      ++alike;
      EXPECT_GE(time_at(cell), time_at(grid.at(*grid.best)));
    }
  }
  EXPECT_GT(alike, 1);
  EXPECT_EQ(grid.alike, alike);
}

TEST(HeatmapGrid, ThrottledTilesAreMarkedWhereClocksMatter) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  std::erase_if(records, [](const PointRecord& record) {
    return record.spec.algorithm != "fa2" || record.disposition != Disposition::ok;
  });
  records[3].clocks->throttled = true;
  const TileShape tile = records[3].spec.tile;
  for (const auto& [metric, marked] :
       {std::pair{metric_key::time_median_ns, 1}, std::pair{metric_key::tflops, 1},
        std::pair{metric_key::dram_bandwidth, 1}, std::pair{metric_key::l2_sm_bytes, 0}}) {
    const HeatmapGrid grid = build_heatmap(fixtures::shown(records), metric);
    int throttled = 0;
    for (const auto& row : grid.cells) {
      throttled += static_cast<int>(
          std::count_if(row.begin(), row.end(), [](const HeatmapCell& cell) { return cell.throttled; }));
    }
    EXPECT_EQ(throttled, marked) << metric;
    EXPECT_EQ(grid.at(place_of(grid, tile.br, tile.bc)).throttled, marked == 1) << metric;
  }
}

TEST(HeatmapGrid, ThePaperTileLiesBetweenGridCells) {
  const HeatmapGrid grid = build_heatmap(sweep_of("fa1"), metric_key::time_median_ns);
  ASSERT_TRUE(grid.paper);
  // An H200 and d 128: Bc = ceil(116224 / 512) = 227, Br = min(227, 128).
  EXPECT_EQ(grid.paper->tile.bc, 227);
  EXPECT_EQ(grid.paper->tile.br, 128);
  EXPECT_DOUBLE_EQ(grid.paper->row, place_of(grid, 128, 16).row);
  EXPECT_GT(grid.paper->column, place_of(grid, 16, 224).column);
  EXPECT_LT(grid.paper->column, place_of(grid, 16, 256).column);
  EXPECT_TRUE(grid.paper->inside);
}

TEST(HeatmapGrid, ThePaperTileBeyondTheGridIsSaidToBe) {
  std::vector<PointRecord> records;
  for (const int bc : {16, 32}) {
    for (const int br : {16, 32}) records.push_back(fixtures::ok_point(fixtures::spec("fa1", 1024, br, bc, 64)));
  }
  const HeatmapGrid grid = build_heatmap(fixtures::shown(records), metric_key::time_median_ns);
  ASSERT_TRUE(grid.paper);
  EXPECT_EQ(grid.paper->tile.bc, 454);
  EXPECT_FALSE(grid.paper->inside);
  EXPECT_GT(grid.paper->column, 1.0);
}

TEST(HeatmapGrid, ARepeatedTileShowsItsMedianAndOkWins) {
  std::vector<PointRecord> records;
  for (const double value : {10.0, 30.0, 20.0}) {
    PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 64));
    for (MetricValue& metric : record.kernels[0].metrics) {
      if (metric.name == metric_key::registers) metric.value = value;
    }
    records.push_back(record);
  }
  records.push_back(fixtures::failed_point(fixtures::spec("fa2", 1024, 64, 64), Disposition::cancelled, "stopped"));
  const HeatmapGrid grid = build_heatmap(fixtures::shown(records), metric_key::registers);
  const HeatmapCell& cell = grid.at({0, 0});
  EXPECT_EQ(cell.disposition, Disposition::ok);
  EXPECT_EQ(cell.repeats, 3);
  EXPECT_DOUBLE_EQ(*cell.value, 20);
  EXPECT_EQ(grid.collected, 1);
  EXPECT_EQ(grid.ok, 1);
}

TEST(HeatmapGrid, EmptyInEmptyOut) {
  EXPECT_TRUE(build_heatmap({}, metric_key::time_median_ns).empty());
}

}  // namespace
}  // namespace attnscope::ui

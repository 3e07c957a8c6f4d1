// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/comparison_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/stats/verdicts.h"
#include "storage/compared_runs.h"
#include "tests/ui/fixtures.h"

namespace attnscope::ui {
namespace {

/// A point of a run with that preset and number of rounds.
fixtures::TestPoint point_of(std::int64_t id, std::string_view preset, int rounds) {
  fixtures::TestPoint point = fixtures::shown({fixtures::memory_wall().front()}, false, id).front();
  auto run = std::make_shared<RunInfo>(*point.run);
  run->summary.preset = preset;
  run->summary.rounds = rounds;
  run->summary.planned_points = 2;
  point.run = std::move(run);
  return point;
}

TEST(ComparisonSet, CorrectsForTheLargestNumberOfInterimAnalyses) {
  const std::size_t most = analysis::analysis_count(40);
  ASSERT_GT(most, analysis::analysis_count(5));
  const std::vector<fixtures::TestPoint> runs{point_of(1, "test", 1), point_of(2, ab_preset, 40),
                                              point_of(3, ab_preset, 5)};
  const auto points = fixtures::set_of(runs);
  const std::vector<SideAxis> axes = side_axes(*points);
  const auto of_runs =
      std::ranges::find_if(axes, [](const SideAxis& axis) { return axis.key == QLatin1String("run"); });
  ASSERT_NE(of_runs, axes.end());
  EXPECT_EQ(compare_sides({.points = points, .axis = *of_runs}, {})->view.looks, most);
}

// Runs are sides by their titles, oldest first.
TEST(SideAxes, RunsAreSides) {
  std::vector<fixtures::TestPoint> runs;
  for (const std::int64_t run : {1, 2, 3}) runs.push_back(point_of(run, run == 2 ? "other" : "test", 1));
  const SideAxis axis = side_axes(*fixtures::set_of(runs)).front();
  EXPECT_EQ(axis.key, "run");
  ASSERT_EQ(axis.values.size(), 3U);
  EXPECT_EQ(axis.codes, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(axis.side_named(axis.values[1]), 1U);
  EXPECT_EQ(axis.side_named("another"), std::nullopt);
}

// The side with most partners; the first one of equals.
TEST(SideAxes, BaselineSharesMostPoints) {
  const std::vector<PointRecord> wall = fixtures::memory_wall();
  const auto best = [&](const std::vector<std::vector<std::size_t>>& places) {
    std::vector<fixtures::TestPoint> points;
    for (std::size_t run = 0; run < places.size(); ++run) {
      std::vector<PointRecord> records;
      for (const std::size_t place : places[run]) records.push_back(wall[place]);
      for (fixtures::TestPoint& point : fixtures::shown(records, false, static_cast<std::int64_t>(run) + 1)) {
        points.push_back(std::move(point));
      }
    }
    const auto set = fixtures::set_of(points);
    return best_matched_side(*set, side_axes(*set).front());
  };
  EXPECT_EQ(best({{0, 1}, {0, 1}}), 0U);
  EXPECT_EQ(best({{0}, {0, 1}, {0, 1}}), 1U);
  EXPECT_EQ(best({{0}, {0, 1}, {1, 2}, {2}}), 1U);
  EXPECT_EQ(best({{0, 1, 2}, {3, 4}, {3}}), 1U);
  EXPECT_EQ(best({{0}, {1}}), std::nullopt);
}

}  // namespace
}  // namespace attnscope::ui

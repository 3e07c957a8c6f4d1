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

}  // namespace
}  // namespace attnscope::ui

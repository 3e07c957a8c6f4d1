// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/progress.h"

#include <gtest/gtest.h>

#include "kernels/registry.h"

namespace attnscope {
namespace {

std::vector<PointSpec> points_of(std::initializer_list<std::int64_t> lengths) {
  std::vector<PointSpec> points;
  for (const std::int64_t n : lengths)
    points.push_back({.algorithm = "fa2", .problem = {.n_q = n, .n_k = n, .d = 64}, .tile = {}});
  return points;
}

// One fixed second plus 256 FLOPs per pair at 1 ns.
double seconds(std::int64_t n) {
  return 1 + (1e-9 * 256 * static_cast<double>(n * n));
}

TEST(Progress, UnknownUntilAPointWasMeasured) {
  ProgressEstimator progress(points_of({256, 512}), built_in_algorithms(), {});
  EXPECT_FALSE(progress.remaining_seconds().has_value());
  progress.finished(0, 0.001, false);
  EXPECT_FALSE(progress.remaining_seconds().has_value());
  progress.finished(1, 1, true);
  EXPECT_DOUBLE_EQ(progress.remaining_seconds().value(), 0);
}

TEST(Progress, FitsFixedCostAndRate) {
  ProgressEstimator progress(points_of({1024, 2048, 4096, 16384, 8192}), built_in_algorithms(), {1, 1, 2, 1, 3});
  progress.finished(0, seconds(1024), true);
  progress.finished(1, seconds(2048), true);
  progress.finished(1, 1000, true);  // it has no more runs
  EXPECT_NEAR(progress.remaining_seconds().value(), (2 * seconds(4096)) + seconds(16384) + (3 * seconds(8192)), 1e-6);
  progress.finished(4, 0, false, true);
  EXPECT_NEAR(progress.remaining_seconds().value(), (2 * seconds(4096)) + seconds(16384), 1e-6);
  progress.finished(2, 0, false);
  EXPECT_NEAR(progress.remaining_seconds().value(), seconds(4096) + seconds(16384), 1e-6);
}

// Least squares through (1, 1), (4, 3) and (9, 3) in units of N 1024: mean (14/3, 7/3), slope (40 - 98/3) / (98 -
// 196/3).
TEST(Progress, FitsAllMeasuredPoints) {
  ProgressEstimator progress(points_of({1024, 2048, 3072, 4096}), built_in_algorithms(), {});
  progress.finished(0, 1, true);
  progress.finished(1, 3, true);
  progress.finished(2, 3, true);
  EXPECT_NEAR(progress.remaining_seconds().value(), (7.0 / 3) + ((22.0 / 98) * (16 - (14.0 / 3))), 1e-9);
}

TEST(Progress, FixedCostIsNeverNegative) {
  ProgressEstimator progress(points_of({1024, 2048, 4096}), built_in_algorithms(), {});
  progress.finished(0, 1, true);
  progress.finished(1, 9, true);
  EXPECT_NEAR(progress.remaining_seconds().value(), 32, 1e-9) << "mean of 10/5 seconds per N 1024";
}

// Adjacent points of one problem, whose algorithms differ in FLOPs.
TEST(Progress, WorkDependsOnTheAlgorithm) {
  std::vector<PointSpec> points = points_of({4096, 4096, 1024, 2048});
  points[1].algorithm = "linattn";
  ProgressEstimator progress(points, built_in_algorithms(), {});
  progress.finished(2, seconds(1024), true);
  progress.finished(3, seconds(2048), true);
  progress.finished(0, seconds(4096), true);
  EXPECT_NEAR(progress.remaining_seconds().value(), 1 + (1e-9 * 2 * 64 * 64 * 2 * 4096), 1e-6);
}

TEST(Progress, OneMeasuredPointScalesWithTheCount) {
  ProgressEstimator progress(points_of({1024, 1024, 1024}), built_in_algorithms(), {});
  progress.finished(0, 2, true);
  EXPECT_NEAR(progress.remaining_seconds().value(), 4, 1e-9);
}

TEST(Progress, SkippedAndInfeasiblePointsCostNothing) {
  ProgressEstimator progress(points_of({1024, 1024, 1024, 1024}), built_in_algorithms(), {0, 1, 1, 1});
  progress.finished(1, 2, true);
  progress.finished(2, 0, false);
  EXPECT_NEAR(progress.remaining_seconds().value(), 2, 1e-9);
}

TEST(Progress, RemainingWorkersShareTheTime) {
  ProgressEstimator progress(points_of({1024, 1024, 1024, 1024, 1024, 1024, 1024}), built_in_algorithms(), {}, {}, 3);
  progress.finished(0, 2, true);
  for (const double left : {4, 6, 12, 12}) {  // of three, two, one workers; the last loss ends the run
    EXPECT_NEAR(progress.remaining_seconds().value(), left, 1e-9);
    progress.worker_lost();
  }
}

TEST(Progress, EndedPointHasNoMoreRounds) {
  for (const auto& [for_good, left] : {std::pair(false, 10.0), {true, 6.0}}) {
    ProgressEstimator progress(points_of({1024, 1024, 1024}), built_in_algorithms(), {3, 3, 1});
    progress.finished(0, 2, true);
    progress.finished(1, 0, false, for_good);
    EXPECT_NEAR(progress.remaining_seconds().value(), left, 1e-9) << for_good;
  }
}

TEST(Progress, StopsCountingWhenCancelled) {
  int asked = 0;
  ProgressEstimator progress(points_of({1024, 1024, 1024, 1024}), built_in_algorithms(), {},
                             [&] { return ++asked > 2; });
  EXPECT_EQ(asked, 3);
  for (const std::size_t uncounted : {2U, 3U}) progress.finished(uncounted, 2, true);
  EXPECT_FALSE(progress.remaining_seconds().has_value());
  progress.finished(0, 2, true);
  EXPECT_NEAR(progress.remaining_seconds().value(), 2, 1e-9);
}

TEST(Progress, EstimateIsNeverNegative) {
  ProgressEstimator progress(points_of({256, 512, 16384}), built_in_algorithms(), {});
  progress.finished(0, 2, true);
  progress.finished(1, 1, true);
  EXPECT_NEAR(progress.remaining_seconds().value(), 1.5, 1e-9);
}

}  // namespace
}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/ratio_estimates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace attnscope::analysis {
namespace {

constexpr std::size_t things = 400;

/// Simulates series of different times, one sample per round in six rounds, with `course` added.
template <class Course>
std::vector<TimedValue> measured(Course course, double scatter = 0.005) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> moment;
  std::vector<TimedValue> values;
  for (std::size_t thing = 0; thing < things; ++thing) {
    for (int round = 0; round < 6; ++round) {
      const double at = round + moment(random);
      const double own = std::log(1e5) + 0.01 * static_cast<double>(thing) + scatter * normal(random);
      values.push_back({.series = thing, .moment = at, .log = own + course(at)});
    }
  }
  return values;
}

/// Returns the largest difference between estimated and true course, both centered.
double largest_error(const std::vector<TimedValue>& values, const std::vector<double>& found, auto course,
                     auto counts) {
  double mean = 0;
  for (std::size_t i = 0; i < values.size(); ++i) mean += found[i] - course(values[i].moment);
  mean /= static_cast<double>(values.size());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!counts(values[i].moment)) continue;
    largest = std::max(largest, std::abs(found[i] - course(values[i].moment) - mean));
  }
  return largest;
}

TEST(CommonDrift, FindsStep) {
  const auto step = [](double moment) { return moment < 2.5 ? 0.0 : 0.02; };
  const std::vector<TimedValue> values = measured(step);
  const std::vector<double> found = common_drift(values, things);
  ASSERT_EQ(found.size(), values.size());
  // Exclude one neighborhood width around the step.
  EXPECT_LT(largest_error(values, found, step, [](double at) { return std::abs(at - 2.5) > 0.06; }), 0.005);
}

TEST(CommonDrift, FollowsWave) {
  const auto wave = [](double moment) { return 0.03 * std::sin(6 * moment); };
  const std::vector<TimedValue> values = measured(wave);
  EXPECT_LT(largest_error(values, common_drift(values, things), wave, [](double) { return true; }), 0.009);
}

TEST(CommonDrift, IsFlatWithoutDrift) {
  const auto level = [](double) { return 0.0; };
  const std::vector<TimedValue> values = measured(level);
  EXPECT_LT(largest_error(values, common_drift(values, things), level, [](double) { return true; }), 0.006);
}

TEST(CommonDrift, IsRobustToOutliers) {
  const auto level = [](double) { return 0.0; };
  for (const double far : {1.0, -1.0}) {
    std::vector<TimedValue> values = measured(level);
    for (std::size_t thing = 0; thing < 4; ++thing) values[6 * thing + 3].log += far;
    EXPECT_LT(largest_error(values, common_drift(values, things), level, [](double) { return true; }), 0.009) << far;
  }
}

TEST(CommonDrift, IsEmptyForFewValues) {
  std::vector<TimedValue> values = measured([](double) { return 0.0; });
  values.resize(6 * 100);  // 100 series
  EXPECT_TRUE(common_drift(values, things).empty());
  EXPECT_TRUE(common_drift({}, 0).empty());
}

}  // namespace
}  // namespace attnscope::analysis

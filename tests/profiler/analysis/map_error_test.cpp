// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/map_error.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/profiler/analysis/fixtures.h"

namespace attnscope::analysis {
namespace {

PointRecord timed(int br, double us, bool simulated, std::int64_t n = 1024) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n, br), simulated);
  record.kernels.front().samples_ns = {us * 1e3};
  return record;
}

TEST(MapError, IsOfTheTilesThatWereRecorded) {
  fixtures::Points points;
  points.add({timed(32, 200, true), timed(64, 90, true), timed(128, 100, true), timed(192, 80, true)},
             fixtures::run(Provenance::simulated));
  points.add({timed(32, 160, false), timed(64, 100, false), timed(128, 80, false), timed(64, 1, false, 2048)},
             fixtures::run());
  const PointTable table = points.table();
  const std::vector<Row> simulated{0, 1, 2, 3};
  const auto error = map_error(table, simulated);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->tiles, 3U) << "one was never recorded, and one that was is of another problem";
  EXPECT_NEAR(error->median, 0.25, 1e-12);
  EXPECT_NEAR(error->worst, 0.25, 1e-12);
  EXPECT_NEAR(error->chosen_over, 100.0 / 80, 1e-12) << "64 is simulated as the fastest of the three";
  const std::vector<Row> two{0, 1};
  EXPECT_FALSE(map_error(table, two));
}

}  // namespace
}  // namespace attnscope::analysis

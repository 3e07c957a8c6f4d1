// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/unit_utilization.h"

#include <gtest/gtest.h>

#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

TEST(LaunchOccupancy, IsThatOfASingleKernel) {
  const auto occupancy = launch_occupancy(fixtures::ok_point(fixtures::spec("fa2", 1024)), fixtures::h200());
  ASSERT_TRUE(occupancy);
  EXPECT_EQ(occupancy->warps_per_sm, 16) << "25% of 64";
  EXPECT_EQ(occupancy->max_warps_per_sm, 64);
  EXPECT_EQ(occupancy->limiter, "shared memory");
  EXPECT_FALSE(launch_occupancy(fixtures::ok_point(fixtures::spec("naive", 1024)), fixtures::h200()));
}

TEST(LaunchOccupancy, ComparesInOneSentence) {
  const NamedOccupancy a{"128 × 64", {.warps_per_sm = 8, .max_warps_per_sm = 64, .limiter = "registers"}};
  NamedOccupancy b{"256 × 64", a.occupancy};
  EXPECT_EQ(text(compare_occupancy(a, b)), "Both: 8 warps per SM, limited by registers.");
  b.occupancy.warps_per_sm = 7;
  EXPECT_EQ(text(compare_occupancy(a, b)), "128 × 64: 8 warps per SM; 256 × 64: 7. Both limited by registers.");
  b.occupancy.limiter = "shared memory";
  EXPECT_EQ(text(compare_occupancy(a, b)),
            "128 × 64: 8 warps per SM, limited by registers; 256 × 64: 7, limited by shared memory.");
}

}  // namespace
}  // namespace attnscope::analysis

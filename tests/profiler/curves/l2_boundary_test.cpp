// SPDX-License-Identifier: Apache-2.0
#include "kernels/registry.h"
#include "profiler/curves/curves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

constexpr double l2 = 62914560;  // H200: 60 MiB

std::optional<L2Boundary> boundary_of(const PointSpec& spec, const L2Transition& transition = {}) {
  return l2_boundary(*built_in_algorithms().find(spec.algorithm), spec.problem, spec.tile, fixtures::h200(),
                     transition);
}

PointSpec default_spec(const std::string& algorithm) {
  PointSpec spec = fixtures::spec(algorithm, 4096);
  spec.set_config(built_in_algorithms().find(algorithm)->default_config(spec.problem, fixtures::h200()));
  return spec;
}

// Naive: the working set is the 16-bit scores of all heads, O(N²). FA1: 2d + 4d + 8 bytes per row of the concurrent
// heads.
TEST(L2Boundary, FindsTransitionBand) {
  const auto naive = boundary_of(default_spec("naive"));
  ASSERT_TRUE(naive);
  EXPECT_EQ(naive->l2_bytes, l2);
  EXPECT_NEAR(naive->n_nominal / std::sqrt(l2 / (132 * 2)), 1, 0.02);
  EXPECT_NEAR(naive->n_low / std::sqrt(0.3 * l2 / (132 * 2)), 1, 0.02);
  EXPECT_NEAR(naive->n_high / std::sqrt(0.75 * l2 / (132 * 2)), 1, 0.02);
  const auto fa1 = boundary_of(default_spec("fa1"));
  ASSERT_TRUE(fa1);
  EXPECT_NEAR(fa1->n_nominal / (l2 / (132 * (6 * 128 + 8))), 1, 0.02);
  EXPECT_NEAR(fa1->n_high / fa1->n_low, 2.5, 0.02) << "its working set grows as N";
}

TEST(L2Boundary, UsesGivenTransition) {
  const auto boundary = boundary_of(default_spec("fa1"), {.low = 0.5, .high = 1});
  ASSERT_TRUE(boundary);
  EXPECT_NEAR(boundary->n_low / boundary->n_nominal, 0.5, 0.01);
  EXPECT_EQ(boundary->n_high, boundary->n_nominal);
}

TEST(L2Boundary, IsEmptyWithoutRereads) {
  EXPECT_FALSE(boundary_of(default_spec("fa2")));
}

TEST(L2Boundary, IsEmptyForLengthLists) {
  PointSpec spec = default_spec("fa1");
  spec.problem.mask.lengths = Mask::Lengths::list;
  spec.problem.mask.length_list = {4000};
  EXPECT_FALSE(boundary_of(spec));
}

TEST(L2Boundary, IsEmptyOutsideSearchRange) {
  DeviceLimits limits = fixtures::h200();
  const PointSpec spec = default_spec("fa1");
  for (const std::int64_t none : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 60}) {
    limits.l2_bytes = none;
    EXPECT_FALSE(l2_boundary(*built_in_algorithms().find("fa1"), spec.problem, spec.tile, limits)) << none;
  }
}

}  // namespace
}  // namespace attnscope::analysis

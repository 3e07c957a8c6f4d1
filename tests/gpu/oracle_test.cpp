// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attnscope::gpu {
namespace {

TEST(Oracle, SmallProblemsAreCheckedWhole) {
  const AttentionProblem problem{.batch = 2, .heads_q = 2, .heads_kv = 1, .n_q = 33, .n_k = 40, .d = 64};
  EXPECT_EQ(make_reference(problem, InputKind::normal, 1).rows, all_rows(problem));
}

TEST(Oracle, LargeProblemsAreSampledAcrossHeads) {
  // 6 heads x 1024 rows x 1024 keys x 64: more than is affordable whole.
  const AttentionProblem problem{
      .mask = Mask::causal, .batch = 2, .heads_q = 12, .heads_kv = 4, .n_q = 1024, .n_k = 1024, .d = 64};
  const Reference sampled = make_reference(problem, InputKind::normal, 1);
  ASSERT_LT(sampled.rows.size(), 2048U);
  ASSERT_GE(sampled.rows.size(), 512U);
  const auto has = [&](std::int64_t instance, std::int64_t row) {
    return std::ranges::find(sampled.rows, RowId{instance, row}) != sampled.rows.end();
  };
  EXPECT_TRUE(has(0, 0));
  EXPECT_TRUE(has(0, 1023));
  EXPECT_TRUE(has(23, 0));
  EXPECT_TRUE(has(23, 1023));

  // Rows computed head by head equal those of the whole problem: the grouped K and V of each head were found.
  const Reference whole = reference_attention(problem, make_inputs(problem, InputKind::normal, 1), sampled.rows);
  EXPECT_EQ(sampled.o, whole.o);
  EXPECT_EQ(sampled.lse, whole.lse);
  EXPECT_EQ(sampled.naive16, whole.naive16);
}

}  // namespace
}  // namespace attnscope::gpu

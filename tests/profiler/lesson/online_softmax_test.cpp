// SPDX-License-Identifier: Apache-2.0
// The seeds' worked numbers, digit for digit, out of the lesson's own engine.
#include "profiler/lesson/online_softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace attnscope::analysis::lesson {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

const double e1 = std::exp(-1.0);
const double e2 = std::exp(-2.0);

/// Article 000, section 4.3: n 4, d 2, no 1/sqrt(d).
SoftmaxRows four_by_two() {
  const std::vector<double> q{1, 0, 0, 1, 2, 1, 1, 2};
  const std::vector<double> k{1, 1, 0, 2, 1, 0, 2, 1};
  return rows_of(q, k, q, 2, 1);
}

SoftmaxRows row_of(std::vector<double> scores, std::vector<double> values = {}) {
  const std::size_t columns = scores.size();
  const std::size_t d = values.size() / columns;
  return {.rows = 1, .columns = columns, .d = d, .scores = std::move(scores), .values = std::move(values)};
}

TEST(OnlineSoftmax, FourByTwoAsTheArticleWorksIt) {
  const SoftmaxRows in = four_by_two();
  EXPECT_THAT(std::vector<double>(in.scores.begin(), in.scores.begin() + 8), ElementsAre(1, 0, 1, 2, 1, 2, 0, 1));
  const OnlineTrace trace = play_online(in, 2, Rescaling::inner);
  ASSERT_EQ(trace.steps.size(), 8U);
  const OnlineStep& first = trace.steps[0];   // row 0, block 1
  const OnlineStep& second = trace.steps[2];  // row 1, block 1
  EXPECT_EQ(first.after.m, 1);
  EXPECT_EQ(second.after.m, 2);
  EXPECT_NEAR(first.after.l, 1.368, 5e-4);
  EXPECT_NEAR(second.after.l, 1.368, 5e-4);
  EXPECT_THAT(first.after.o, Pointwise(DoubleNear(5e-4), {.731, .269}));
  EXPECT_THAT(second.after.o, Pointwise(DoubleNear(5e-4), {.269, .731}));
  const OnlineStep& third = trace.steps[1];  // row 0, block 2: its maximum rises
  const OnlineStep& fourth = trace.steps[3];
  EXPECT_EQ(third.block_m, 2);
  EXPECT_EQ(fourth.block_m, 1);
  EXPECT_EQ(third.after.m, 2);
  EXPECT_EQ(fourth.after.m, 2);
  EXPECT_DOUBLE_EQ(third.alpha, e1);
  EXPECT_DOUBLE_EQ(fourth.alpha, 1);
  EXPECT_DOUBLE_EQ(third.beta, 1);
  EXPECT_DOUBLE_EQ(fourth.beta, e1);
  EXPECT_NEAR(third.after.l, (1 + e1) * e1 + (e1 + 1), 1e-15);
  EXPECT_LT(trace.largest_error, 1e-15);
}

TEST(OnlineSoftmax, TwoOneZeroInBlocks) {
  const OnlineTrace trace = play_online(row_of({2, 1, 0}, {10, 0, -10}), 2, Rescaling::outer);
  ASSERT_EQ(trace.steps.size(), 2U);
  EXPECT_DOUBLE_EQ(trace.steps[0].after.l, 1 + e1);
  EXPECT_DOUBLE_EQ(trace.steps[0].after.o[0], 10);
  EXPECT_EQ(trace.steps[0].alpha, 0);  // nothing was there
  EXPECT_EQ(trace.steps[1].alpha, 1);
  EXPECT_DOUBLE_EQ(trace.ends[0].l, 1 + e1 + e2);
  EXPECT_DOUBLE_EQ(trace.ends[0].o[0], 10 - 10 * e2);
  EXPECT_DOUBLE_EQ(trace.output[0], (10 - 10 * e2) / (1 + e1 + e2));
}

TEST(OnlineSoftmax, FourScoresInTwoBlocks) {
  const OnlineTrace trace = play_online(row_of({3.01, 0.09, 2.48, 1.95}), 2, Rescaling::outer);
  EXPECT_NEAR(trace.steps[0].weights[1], 0.053, 2e-3);  // article 003 prints 0.053 for e^-2.92 = 0.0539
  EXPECT_NEAR(trace.steps[1].beta, 0.59, 2e-3);
  EXPECT_EQ(trace.ends[0].m, 3.01);
  EXPECT_NEAR(trace.ends[0].l, 1.99, 2e-3);
  EXPECT_NEAR(100 * trace.weights[0], 50.28, 5e-3);
}

TEST(OnlineSoftmax, SixScoresInBlocksOfThree) {
  const std::vector<double> x{-0.3, 0.2, 0.5, 0.7, 0.1, 0.8};
  const OnlineTrace trace = play_online(row_of(x), 3, Rescaling::outer);
  ASSERT_EQ(trace.steps.size(), 2U);
  EXPECT_EQ(trace.steps[0].after.m, 0.5);
  EXPECT_NEAR(trace.steps[0].after.l, std::exp(-0.8) + std::exp(-0.3) + 1, 1e-15);
  EXPECT_EQ(trace.ends[0].m, 0.8);
  const std::vector<double> soft = safe_softmax(x);
  EXPECT_NEAR(soft[0], 0.0827, 5e-5);
  EXPECT_NEAR(soft[5], 0.2485, 5e-5);
  EXPECT_NEAR(std::accumulate(soft.begin(), soft.end(), 0.0), 1, 1e-15);
  EXPECT_THAT(trace.weights, Pointwise(DoubleNear(1e-15), soft));
  // The scalar form ends where the block form and the whole row do.
  for (const std::size_t block : {1U, 2U, 5U, 6U}) {
    EXPECT_THAT(play_online(row_of(x), block, Rescaling::outer).weights, Pointwise(DoubleNear(1e-15), soft)) << block;
  }
}

TEST(OnlineSoftmax, InnerRescalesEveryBlockOuterWhereTheMaximumRises) {
  const SoftmaxRows in = row_of({1, 2, 2, 3, 0, 0}, {1, 2, 3, 4, 5, 6});
  const OnlineTrace inner = play_online(in, 2, Rescaling::inner);
  const OnlineTrace outer = play_online(in, 2, Rescaling::outer);
  EXPECT_NEAR(inner.output[0], outer.output[0], 1e-15);
  EXPECT_EQ(inner.count.raised, 1);
  EXPECT_EQ(inner.count.rows_through_memory, 3);
  EXPECT_EQ(inner.count.divisions, 3);
  EXPECT_EQ(outer.count.rows_rescaled, 1);
  EXPECT_EQ(outer.count.rows_through_memory, 0);
  EXPECT_EQ(outer.count.divisions, 1);
}

TEST(OnlineSoftmax, WhatIsForgottenIsNotCountedAsRescaled) {
  const SoftmaxRows rising{.rows = 1, .columns = 4, .d = 1, .scores = {0, 1, 4, 6}, .values = {1, 2, 3, 4}};
  for (const Rescaling rescaling : {Rescaling::outer, Rescaling::inner}) {
    const OnlineTrace right = play_online(rising, 2, rescaling);
    const OnlineTrace wrong = play_online(rising, 2, rescaling, SoftmaxFault::forget_rescale);
    ASSERT_EQ(wrong.steps.size(), 2U);
    EXPECT_TRUE(right.steps[1].rescaled);
    EXPECT_FALSE(wrong.steps[1].rescaled);
    EXPECT_EQ(wrong.count.raised, 1);
    EXPECT_EQ(right.count.rows_rescaled, rescaling == Rescaling::inner ? 2 : 1);
    EXPECT_EQ(wrong.count.rows_rescaled, 0);
  }
}

TEST(OnlineSoftmax, FaultsShowTheirErrors) {
  const SoftmaxRows rising = row_of({0, 1, 4, 6}, {1, 2, 3, 4});
  EXPECT_LT(play_online(rising, 2, Rescaling::outer).largest_error, 1e-14);
  // e^0 + e^1 about the maximum 1, and about 6 afterwards: by hand.
  const double l = (e1 + 1) + (e2 + 1);
  const double o = (1 * e1 + 2) + (3 * e2 + 4);
  EXPECT_NEAR(play_online(rising, 2, Rescaling::outer, SoftmaxFault::forget_rescale).output[0], o / l, 1e-15);
  EXPECT_GT(play_online(rising, 2, Rescaling::outer, SoftmaxFault::forget_rescale).largest_error, 0.5);

  SoftmaxRows masked = row_of({1, 2, 9, 3}, {1, 2, 30, 4});
  masked.hidden = {false, false, true, false};
  EXPECT_LT(play_online(masked, 2, Rescaling::outer).largest_error, 1e-14);
  // The maximum of a hidden score alone is an offset, which cancels, until everything else underflows beside it.
  EXPECT_LT(play_online(masked, 2, Rescaling::outer, SoftmaxFault::mask_after_maximum).largest_error, 1e-12);
  EXPECT_GT(play_online(masked, 2, Rescaling::outer, SoftmaxFault::mask_after_sum).largest_error, 1);
  masked.scores[2] = 900;
  EXPECT_GT(play_online(masked, 2, Rescaling::outer, SoftmaxFault::mask_after_maximum).largest_error, 1);
}

TEST(OnlineSoftmax, SumsInHalfPrecisionStopToGrow) {
  // 4096 equal scores: fp16 cannot count beyond 2048 by ones.
  const OnlineTrace trace = play_online(row_of(std::vector<double>(4096, 1.0), std::vector<double>(4096, 1.0)), 1,
                                        Rescaling::outer, SoftmaxFault::sum_in_fp16);
  EXPECT_EQ(trace.ends[0].l, 2048);
  const OnlineTrace right = play_online(row_of(std::vector<double>(4096, 1.0)), 1, Rescaling::outer);
  EXPECT_EQ(right.ends[0].l, 4096);
}

TEST(OnlineSoftmax, RowsThatSeeNothing) {
  SoftmaxRows in = row_of({1, 2}, {5, 6});
  in.hidden = {true, true};
  const OnlineTrace trace = play_online(in, 1, Rescaling::outer);
  EXPECT_EQ(trace.output[0], 0);
  EXPECT_EQ(trace.ends[0].m, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(trace.largest_error, 0);
  EXPECT_THROW((void)play_online(in, 0, Rescaling::outer), std::invalid_argument);
  in.values.pop_back();
  EXPECT_THROW((void)play_online(in, 1, Rescaling::outer), std::invalid_argument);
}

}  // namespace
}  // namespace attnscope::analysis::lesson

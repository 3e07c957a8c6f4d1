// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "kernels/oracle/float16.h"
#include "kernels/oracle/reference.h"
#include "tests/kernels/attention_inputs.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<float> matrix(const std::vector<double>& values, DType dtype = DType::fp16) {
  std::vector<float> all;
  all.reserve(values.size());
  for (const double x : values) all.push_back(round_to(dtype, static_cast<float>(x)));
  return all;
}

std::vector<float> rounded(const Reference& reference) {
  return matrix(reference.o.exact, reference.dtype);
}
std::vector<float> lse_of(const Reference& reference) {
  return {reference.lse.begin(), reference.lse.end()};
}

TEST(Reference, OnlineSoftmaxExamples) {
  // Scores [2, 1, 0], v = [10, 0, -10]: d = 1, q = 1.
  const Reference three = reference_attention({.n_q = 1, .n_k = 3, .d = 1},
                                              {.q = matrix({1}), .k = matrix({2, 1, 0}), .v = matrix({10, 0, -10})}, 1);
  const double l = 1 + std::exp(-1.0) + std::exp(-2.0);
  EXPECT_NEAR(three.o.exact[0], (10 - 10 * std::exp(-2.0)) / l, 1e-12);
  EXPECT_NEAR(three.lse[0], 2 + std::log(l), 1e-12);

  // [3.01, 0.09, 2.48, 1.95]: m 3.01, l 1.99, first weight 50.28% (the rounding of bf16 and fp16 shifts the scores
  // slightly).
  const Reference four =
      reference_attention({.n_q = 1, .n_k = 4, .d = 1},
                          {.q = matrix({1}), .k = matrix({3.01, 0.09, 2.48, 1.95}), .v = matrix({1, 0, 0, 0})}, 1);
  EXPECT_NEAR(four.o.exact[0], 0.5028, 5e-4);
  EXPECT_NEAR(four.lse[0], 3.01 + std::log(1.99), 2e-3);
}

/// 4 x 2 example without 1/sqrt(d): Q is scaled by sqrt(2) to cancel it, within 3 digits of fp16.
Reference four_by_two_reference(std::int64_t keys) {
  const double r = std::sqrt(2.0);
  const std::vector<double> k{1, 1, 0, 2, 1, 0, 2, 1};
  const std::vector<double> v{1, 0, 0, 1, 2, 1, 1, 2};
  return reference_attention({.n_q = 4, .n_k = keys, .d = 2},
                             {.q = matrix({r, 0, 0, r, 2 * r, r, r, 2 * r}),
                              .k = matrix({k.begin(), k.begin() + 2 * keys}),
                              .v = matrix({v.begin(), v.begin() + 2 * keys})},
                             1);
}

TEST(Reference, FourByTwoExample) {
  const Reference block1 = four_by_two_reference(2);
  EXPECT_NEAR(block1.o.exact[0], 0.731, 1e-3);
  EXPECT_NEAR(block1.o.exact[1], 0.269, 1e-3);
  EXPECT_NEAR(block1.o.exact[2], 0.269, 1e-3);
  EXPECT_NEAR(block1.o.exact[3], 0.731, 1e-3);
  EXPECT_NEAR(block1.lse[0], 1 + std::log(1.368), 1e-3);
  EXPECT_NEAR(block1.lse[1], 2 + std::log(1.368), 1e-3);

  // Block 2 raises the first row's maximum from 1 to 2: alpha = e^-1; its scores are (1, 2).
  const Reference both = four_by_two_reference(4);
  const double alpha = std::exp(-1.0);
  const double l = 1.368 * alpha + alpha + 1;
  EXPECT_NEAR(both.lse[0], 2 + std::log(l), 2e-3);
  EXPECT_NEAR(both.o.exact[0], (1.368 * alpha * 0.731 + alpha * 2 + 1) / l, 2e-3);
  // The second row keeps its maximum of 2: alpha = 1; the scores (0, 1) of block 2 have beta = e^-1.
  const double l2 = 1.368 + std::exp(-2.0) + std::exp(-1.0);
  EXPECT_NEAR(both.lse[1], 2 + std::log(l2), 2e-3);
}

TEST(Reference, CausalIsBottomRightAlignedAndEmptyRowsAreZero) {
  const AttentionProblem p{.mask = Mask::causal, .n_q = 5, .n_k = 2, .d = 1};
  const AttentionInputs inputs{.q = matrix({0, 0, 0, 0, 0}), .k = matrix({1, 1}), .v = matrix({4, 8})};
  const Reference tall = reference_attention(p, inputs, 2);
  EXPECT_EQ(tall.o.exact, (std::vector<double>{0, 0, 0, 4, 6}));
  EXPECT_EQ(tall.lse, (std::vector<double>{-infinity, -infinity, -infinity, 0, std::log(2.0)}));

  const Reference wide =
      reference_attention({.mask = Mask::causal, .n_q = 2, .n_k = 5, .d = 1},
                          {.q = matrix({0, 0}), .k = matrix({1, 1, 1, 1, 1}), .v = matrix({1, 2, 3, 4, 10})}, 1);
  EXPECT_EQ(wide.o.exact, (std::vector<double>{2.5, 4}));
}

TEST(Reference, GqaUsesTheSharedKvHead) {
  // Heads 0, 1 use K/V head 0 (v = 1), heads 2, 3 use K/V head 1 (v = 2); the second batch entry has 3 and 4.
  const Reference r = reference_attention(
      {.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 1, .n_k = 1, .d = 1},
      {.q = matrix(std::vector<double>(8, 1)), .k = matrix({1, 1, 1, 1}), .v = matrix({1, 2, 3, 4})});
  EXPECT_EQ(r.o.exact, (std::vector<double>{1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(Reference, AllEqualGivesTheMeanOfV) {
  const AttentionProblem p{.n_q = 3, .n_k = 37, .d = 16};
  const AttentionInputs inputs = make_inputs(p, InputKind::all_equal, 1);
  const Reference r = reference_attention(p, inputs);
  for (std::size_t c = 0; c < 16; ++c) {
    double mean = 0;
    for (std::size_t j = 0; j < 37; ++j) mean += static_cast<double>(inputs.v[j * 16 + c]) / 37;
    EXPECT_NEAR(r.o.exact[c], mean, 1e-12);
    EXPECT_NEAR(r.o.exact[32 + c], mean, 1e-12);
  }
}

TEST(Reference, DoesNotDependOnThreadsOrRequestedRows) {
  const AttentionProblem p{
      .dtype = DType::bf16, .mask = Mask::causal, .heads_q = 4, .heads_kv = 2, .n_q = 33, .n_k = 40, .d = 24};
  const AttentionInputs inputs = make_inputs(p, InputKind::normal, 8);
  const Reference one = reference_attention(p, inputs, 1);
  const Reference five = reference_attention(p, inputs, 5);
  EXPECT_EQ(one.o.exact, five.o.exact);
  EXPECT_EQ(one.lse, five.lse);
  EXPECT_EQ(one.o.naive, five.o.naive);
  const Reference some = reference_attention(p, inputs, {.rows = {{0, 32}, {2, 7}, {3, 0}}, .threads = 2});
  EXPECT_EQ(some.lse, (std::vector<double>{one.lse[32], one.lse[73], one.lse[99]}));
  EXPECT_TRUE(std::equal(some.o.exact.begin() + 24, some.o.exact.begin() + 48, one.o.exact.begin() + 73L * 24));
}

TEST(SampleRows, IncludeFirstAndLastRows) {
  const AttentionProblem p{.heads_q = 10, .heads_kv = 10, .n_q = 1000, .n_k = 1};
  const std::vector<RowId> rows = sample_rows(p, 64, 1);
  ASSERT_EQ(rows.size(), 64U);
  EXPECT_EQ(rows.front(), (RowId{0, 0}));
  EXPECT_EQ(rows.back(), (RowId{9, 999}));
  std::set<std::int64_t> places;
  std::set<std::int64_t> instances;
  for (const RowId& r : rows) {
    EXPECT_TRUE(r.instance >= 0 && r.instance < 10 && r.row >= 0 && r.row < 1000);
    EXPECT_TRUE(places.empty() || *places.rbegin() < r.instance * 1000 + r.row) << "memory order";
    places.insert(r.instance * 1000 + r.row);
    instances.insert(r.instance);
  }
  EXPECT_TRUE(places.contains(999));
  EXPECT_TRUE(places.contains(9000));
  EXPECT_GT(instances.size(), 7U);
  EXPECT_EQ(sample_rows(p, 20'000, 1).size(), 10'000U) << "all rows where there are fewer";
}

class Check : public ::testing::Test {
 protected:
  AttentionProblem p{.mask = Mask::causal, .n_q = 20, .n_k = 16, .d = 16};  // four empty rows
  AttentionInputs inputs = make_inputs(p, InputKind::normal, 4);
  Reference reference = reference_attention(p, inputs);
};

TEST_F(Check, PassesTheRoundedReferenceAndTheNaiveOutput) {
  const CheckResult perfect = check(reference, {.o = rounded(reference), .lse = lse_of(reference)});
  EXPECT_TRUE(perfect.pass) << perfect.reason;
  EXPECT_GT(perfect.bound, 0);
  EXPECT_LT(perfect.bound, 0.02);
  EXPECT_LT(perfect.max_abs_error, perfect.bound);
  EXPECT_GT(perfect.rms_error, 0);
  EXPECT_LT(perfect.rms_error, perfect.max_abs_error);

  const std::vector<double> naive(reference.o.naive.begin(), reference.o.naive.end());
  EXPECT_TRUE(check(reference, {.o = matrix(naive)}).pass);
}

TEST_F(Check, ReportsPositionOfAWrongElement) {
  auto o = rounded(reference);
  o[10 * 16 + 3] += 0.1F;
  const CheckResult result = check(reference, {.o = o});
  EXPECT_FALSE(result.pass);
  EXPECT_NEAR(result.max_abs_error, 0.1, 0.01);
  EXPECT_THAT(result.reason, test::IsReason("oracle.row", "instance 0 row 10 column 3"));
}

TEST_F(Check, NanAndInfinityNeverPass) {
  for (const std::uint16_t poison : {std::uint16_t{0x7E00}, std::uint16_t{0xFFFF}, std::uint16_t{0x7C00}}) {
    auto o = rounded(reference);
    o.back() = from_bits(DType::fp16, poison);
    const CheckResult result = check(reference, {.o = o});
    EXPECT_FALSE(result.pass);
    EXPECT_EQ(result.max_abs_error, infinity);
  }
  auto lse = lse_of(reference);
  lse.back() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(check(reference, {.o = rounded(reference), .lse = lse}).pass);
}

TEST_F(Check, EmptyRowsAreExact) {
  // smallest positive and negative value
  for (const float smallest : {0x1p-24F, -0x1p-24F}) {
    auto o = rounded(reference);
    o[0] = smallest;
    EXPECT_EQ(check(reference, {.o = o}).reason.id, "oracle.row_sees_no_key");
  }
  auto lse = lse_of(reference);
  lse[0] = -1e30F;
  EXPECT_FALSE(check(reference, {.o = rounded(reference), .lse = lse}).pass);
}

TEST_F(Check, LseToleranceIsRelative) {
  for (const double q : {30, -30}) {
    const Reference one =
        reference_attention({.n_q = 1, .n_k = 1, .d = 1}, {.q = matrix({q}), .k = matrix({30}), .v = matrix({1})}, 1);
    ASSERT_EQ(one.lse[0], 30 * q);
    for (const float off : {0.05F, -0.05F})
      EXPECT_TRUE(check(one, {.o = rounded(one), .lse = {static_cast<float>(one.lse[0]) + off}}).pass) << q;
    EXPECT_FALSE(check(one, {.o = rounded(one), .lse = {static_cast<float>(one.lse[0]) + 0.1F}}).pass) << q;
  }
}

TEST_F(Check, LseAndSizes) {
  auto lse = lse_of(reference);
  lse[12] += 0.01F;
  const CheckResult result = check(reference, {.o = rounded(reference), .lse = lse});
  EXPECT_FALSE(result.pass);
  EXPECT_NEAR(result.max_lse_error, 0.01, 1e-4);
  EXPECT_EQ(result.reason.id, "oracle.lse");
  EXPECT_FALSE(check(reference, {}).pass) << "nothing to judge";
  EXPECT_FALSE(check(reference, {.o = {0, 0}}).pass);
  EXPECT_FALSE(check(reference, {.o = rounded(reference), .lse = {0}}).pass);
}

/// One row of 8-bit weights with the given scores: d is 2, V has a column of values and a column of ones.
Reference fp8_weights_reference(const std::vector<double>& scores, const std::vector<double>& values) {
  std::vector<double> k, v;
  for (std::size_t n = 0; n < scores.size(); ++n) {
    k.insert(k.end(), {scores[n], 0});
    v.insert(v.end(), {values[n], 1});
  }
  const auto keys = static_cast<std::int64_t>(scores.size());
  return reference_attention(
      {.dtype = DType::fp8, .n_q = 1, .n_k = keys, .d = 2},
      {.q = matrix({std::sqrt(2.0), 0}, DType::bf16), .k = matrix(k, DType::bf16), .v = matrix(v, DType::bf16)}, 1);
}
bool passes_with(const Reference& reference, double o) {
  return check(reference, {.o = matrix({o, 1}, reference.dtype), .lse = lse_of(reference)}).pass;
}

TEST(ErrorBound, Fp8BoundCoversWeightErrors) {
  // A weight of 5.5% has V = -26, 666 other keys have V = 0: the relative error of O is that of the weight, up to 10%.
  std::vector<double> scores(667, 0.0), values(667, 0.0);
  scores[13] = 3.65;
  values[13] = -26;
  const Reference outlier = fp8_weights_reference(scores, values);
  const double o = outlier.o.exact[0];
  EXPECT_NEAR(o, -1.42, 0.05);
  EXPECT_TRUE(passes_with(outlier, o * 1.09));
  EXPECT_FALSE(passes_with(outlier, o * 1.14));

  // 4096 equal weights: errors cancel except for about 10% / 64 of |V| = 8.
  std::vector<double> alternating(4096);
  for (std::size_t n = 0; n < alternating.size(); ++n) alternating[n] = n % 2 == 0 ? 8 : -8;
  const Reference many = fp8_weights_reference(std::vector<double>(4096, 0.0), alternating);
  EXPECT_TRUE(passes_with(many, 0.02));
  EXPECT_FALSE(passes_with(many, 0.04));
}

TEST(ErrorBound, ComesFromThe16BitRoundingOfNaiveAttention) {
  // One key: O = V exactly and naive has no error; only rounding remains.
  const Reference exact =
      reference_attention({.n_q = 1, .n_k = 1, .d = 1}, {.q = matrix({1}), .k = matrix({1}), .v = matrix({1})}, 1);
  EXPECT_EQ(exact.o.naive[0], 1.0F);
  // Half the spacing of values exceeds it at 1 (2^-10), 1.5 and -4.5 (2^-8 below 8).
  EXPECT_DOUBLE_EQ(error_bound(exact.dtype, exact.o, output_allowance(exact.dtype)), 0x1p-10);
  EXPECT_DOUBLE_EQ(error_bound(exact.dtype, {.exact = {1.5}, .naive = {1.5F}}, gradient_allowance(exact.dtype)),
                   0x1p-10);
  EXPECT_DOUBLE_EQ(error_bound(exact.dtype, {.exact = {-4.5}, .naive = {-4.5F}}, output_allowance(exact.dtype)),
                   0x1p-8);
  EXPECT_DOUBLE_EQ(error_bound(DType::bf16, {.exact = {4.5}, .naive = {4.5F}}, gradient_allowance(DType::bf16)),
                   0x1p-5);
  // At 2^-6 adding 0.3 rounds coarser than the value: 0.3 has a spacing of 2^-12.
  const float there = round_to(DType::fp16, 0x1p-6F + 0.3F);
  const float back = round_to(DType::fp16, there - 0.3F);
  EXPECT_DOUBLE_EQ(error_bound(DType::fp16, {.exact = {0x1p-6}, .naive = {0x1p-6F}}, output_allowance(DType::fp16)),
                   2 * std::abs(static_cast<double>(back) - 0x1p-6));
  // The error of naive attention counts twice for outputs and three times for gradients.
  EXPECT_DOUBLE_EQ(error_bound(DType::fp16, {.exact = {1.0}, .naive = {1.5F}}, output_allowance(DType::fp16)),
                   1 + 0x1p-10);
  EXPECT_DOUBLE_EQ(error_bound(DType::fp16, {.exact = {1.0}, .naive = {1.5F}}, gradient_allowance(DType::fp16)),
                   1.5 + 0x1p-10);

  // bf16 has a larger bound than fp16: 3 fewer fraction bits.
  AttentionProblem p{.n_q = 32, .n_k = 64, .d = 32};
  const auto bound = [&] {
    return error_bound(p.dtype, reference_attention(p, make_inputs(p, InputKind::normal, 2)).o,
                       output_allowance(p.dtype));
  };
  const double fp16 = bound();
  p.dtype = DType::bf16;
  const double bf16 = bound();
  EXPECT_GT(bf16, 4 * fp16);
  EXPECT_LT(bf16, 0.1);
}

Reference linear(const AttentionProblem& p, const AttentionInputs& inputs, std::vector<RowId> rows, unsigned threads) {
  return find_reference("linear")->of(p, matrices_of(p, inputs), {.rows = std::move(rows), .threads = threads});
}

TEST(References, FindByName) {
  EXPECT_EQ(find_reference("linear")->name, "linear");
  EXPECT_EQ(find_reference("softmax")->name, "softmax");
  EXPECT_EQ(find_reference("quadratic"), nullptr);
}

// Two queries and three keys with d = 1, causal, bottom-right aligned: the first query sees two keys. phi(0) = 1,
// phi(1) = 2, phi(3) = 4, phi(-1) = 1/e.
TEST(LinearReference, ByHand) {
  const AttentionProblem p{.mask = Mask::causal, .n_q = 2, .n_k = 3, .d = 1};
  const AttentionInputs inputs{.q = {1, -1}, .k = {0, 3, -1}, .v = {10, 20, 30}};
  const Reference found = linear(p, inputs, all_rows(p), 1);
  ASSERT_EQ(found.o.exact.size(), 2U);
  EXPECT_NEAR(found.o.exact[0], (1 * 10 + 4 * 20) / 5.0, 1e-12);
  const double last = std::exp(-1.0);
  EXPECT_NEAR(found.o.exact[1], (10 + 80 + 30 * last) / (5 + last), 1e-12);
  EXPECT_NEAR(found.lse[0], std::log(2 * 5.0), 1e-12);
  EXPECT_NEAR(found.lse[1], std::log(last * (5 + last)), 1e-12);
  EXPECT_NEAR(found.o.naive[1], found.o.exact[1], 0.02);
  EXPECT_NE(static_cast<double>(found.o.naive[1]), found.o.exact[1]) << "it is rounded";
}

TEST(LinearReference, RowsThatSeeNoKeyAreEmpty) {
  const AttentionProblem p{.mask = Mask::causal, .n_q = 5, .n_k = 2, .d = 16};
  const AttentionInputs inputs = make_inputs(p, InputKind::normal, 1);
  const Reference found = linear(p, inputs, all_rows(p), 1);
  for (std::size_t row = 0; row < 5; ++row) {
    EXPECT_EQ(std::isinf(found.lse[row]), row < 3) << row;
    EXPECT_EQ(found.o.exact[row * 16] == 0, row < 3) << row;
  }
}

// The recurrence of equations 8 to 12 gives the same result as the definition.
TEST(LinearReference, MatchesThePaperRecurrence) {
  const AttentionProblem p{
      .mask = Mask::causal, .batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 40, .n_k = 40, .d = 16};
  const AttentionInputs inputs = make_inputs(p, InputKind::normal, 7);
  const Reference found = linear(p, inputs, all_rows(p), 2);
  const auto phi = [](float value) {
    const auto x = static_cast<double>(value);
    return x > 0 ? x + 1 : std::exp(x);
  };
  for (std::size_t head = 0; head < 8; ++head) {
    std::vector<double> s(256, 0);
    std::vector<double> z(16, 0);
    for (std::size_t row = 0; row < 40; ++row) {
      const std::size_t key = (head / 2 * 40 + row) * 16;
      for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t c = 0; c < 16; ++c) {
          s[i * 16 + c] += phi(inputs.k[key + i]) * static_cast<double>(inputs.v[key + c]);
        }
        z[i] += phi(inputs.k[key + i]);
      }
      const std::size_t query = (head * 40 + row) * 16;
      for (std::size_t c = 0; c < 16; ++c) {
        double above = 0;
        double below = 0;
        for (std::size_t i = 0; i < 16; ++i) {
          above += phi(inputs.q[query + i]) * s[i * 16 + c];
          below += phi(inputs.q[query + i]) * z[i];
        }
        ASSERT_NEAR(found.o.exact[query + c], above / below, 1e-9) << head << ", " << row;
      }
    }
  }
}

TEST(LinearReference, DoesNotDependOnThreadsOrSelectedRows) {
  const AttentionProblem p{
      .dtype = DType::bf16, .batch = 2, .heads_q = 2, .heads_kv = 1, .n_q = 30, .n_k = 50, .d = 32};
  const AttentionInputs inputs = make_inputs(p, InputKind::large, 3);
  const Reference all = linear(p, inputs, all_rows(p), 1);
  EXPECT_EQ(linear(p, inputs, all_rows(p), 3).o.exact, all.o.exact);
  const Reference some = linear(p, inputs, {{1, 4}, {3, 29}}, 2);
  for (std::size_t c = 0; c < 32; ++c) {
    EXPECT_EQ(some.o.exact[c], all.o.exact[(30 + 4) * 32 + c]);
    EXPECT_EQ(some.o.naive[32 + c], all.o.naive[(90 + 29) * 32 + c]);
  }
}

// Its own 16-bit result passes; an output with twice the error fails.
TEST(LinearReference, BoundSeparatesGoodFromBad) {
  const AttentionProblem p{.mask = Mask::causal, .n_q = 60, .n_k = 60, .d = 32};
  const Reference reference = linear(p, make_inputs(p, InputKind::normal, 5), all_rows(p), 0);
  KernelOutput output{.o = reference.o.naive};
  EXPECT_TRUE(check(reference, output).pass) << text(check(reference, output).reason);
  const double bound = error_bound(DType::fp16, reference.o, output_allowance(DType::fp16));
  output.o[100] = static_cast<float>(reference.o.exact[100] + 2 * bound);
  EXPECT_FALSE(check(reference, output).pass);
}

}  // namespace
}  // namespace attnscope

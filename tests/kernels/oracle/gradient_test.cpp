// SPDX-License-Identifier: Apache-2.0
// Compares reference gradients with finite differences of the forward pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/device/philox_shape.h"
#include "kernels/oracle/float16.h"
#include "kernels/oracle/reference.h"
#include "tests/kernels/attention_inputs.h"
#include "tests/kernels/programs.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::IsReason;
using test::mask_of;

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<double> doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

template <class T>
std::vector<float> rounded_to(DType dtype, const std::vector<T>& values) {
  std::vector<float> all;
  all.reserve(values.size());
  for (const T x : values) all.push_back(round_to(dtype, static_cast<float>(x)));
  return all;
}
std::vector<float> rounded(const std::vector<double>& values) {
  return rounded_to(DType::fp16, values);
}

struct Values {
  std::vector<double> q, k, v, dout;
};

/// Visibility of a pair by the definition of mask and lengths.
bool is_visible(const AttentionProblem& p, std::int64_t entry, std::int64_t row, std::int64_t key) {
  const std::int64_t length = key_length(p, entry);
  if (key >= length) return false;
  const std::int64_t diagonal = row + length - p.n_q;
  if (p.mask.left != Mask::unlimited && key < diagonal - p.mask.left) return false;
  if (p.mask.right != Mask::unlimited && key > diagonal + p.mask.right) return false;
  return !p.mask.has_block_mask() || p.mask.block_counts(row / p.mask.block_size, key / p.mask.block_size);
}

/// sum(dO o O), the loss whose derivatives are the gradients.
double loss(const AttentionProblem& p, const Values& x) {
  double total = 0;
  const std::int64_t group = p.heads_q / p.heads_kv;
  const int keep = dropout_keep_count(p);
  for (std::int64_t h = 0; h < p.instances(); ++h) {
    const std::int64_t kv = h / group;
    for (std::int64_t i = 0; i < p.n_q; ++i) {
      double sum = 0;
      double weighted = 0;
      for (std::int64_t j = 0; j < p.n_k; ++j) {
        if (!is_visible(p, h / p.heads_q, i, j)) continue;
        double score = 0;
        double gain = 0;
        for (std::int64_t c = 0; c < p.d; ++c) {
          const auto at_q = static_cast<std::size_t>((h * p.n_q + i) * p.d + c);
          const auto at_k = static_cast<std::size_t>((kv * p.n_k + j) * p.d + c);
          score += x.q[at_q] * x.k[at_k];
          gain += x.dout[at_q] * x.v[at_k];
        }
        const double e = std::exp(score / std::sqrt(static_cast<double>(p.d)));
        sum += e;
        const bool kept = p.dropout <= 0 || dropout_byte(static_cast<unsigned>(dropout_seed), static_cast<unsigned>(h),
                                                         static_cast<unsigned>(i),
                                                         static_cast<unsigned>(j)) < static_cast<unsigned>(keep);
        if (kept) weighted += e * gain * (p.dropout > 0 ? 256.0 / keep : 1);
      }
      if (sum > 0) total += weighted / sum;
    }
  }
  return total;
}

struct GradientCase {
  const char* name;
  AttentionProblem problem;
};

AttentionProblem small(std::string_view mask, double dropout = 0) {
  return {.pass = Pass::bwd,
          .mask = mask_of(mask),
          .batch = 2,
          .heads_q = 2,
          .heads_kv = 1,
          .n_q = 6,
          .n_k = 7,
          .d = 4,
          .dropout = dropout};
}

std::vector<GradientCase> gradient_cases() {
  std::vector<GradientCase> cases{{"full", small("full")},           {"causal", small("causal")},
                                  {"window", small("window:2:1")},   {"left", small("window:1:inf")},
                                  {"lengths", small("lengths:0/5")}, {"ramp_causal", small("causal+lengths:ramp")},
                                  {"dropout", small("full", 0.3)},   {"dropout_window", small("window:3:0", 0.1)}};
  AttentionProblem blocks = small("blocks:16:butterfly+causal", 0.2);
  blocks.mask.blocks = Mask::Blocks::random;
  blocks.mask.block_parameter = 40;
  blocks.batch = 1;
  blocks.n_q = 50;
  blocks.n_k = 70;
  blocks.d = 2;
  cases.push_back({"blocks_causal_dropout", blocks});
  AttentionProblem tall = small("causal");
  tall.n_q = 9;  // two rows that see no key
  tall.heads_q = 3;
  cases.push_back({"empty_rows_group_of_three", tall});
  AttentionProblem ungrouped = small("window:1:1");
  ungrouped.heads_kv = 2;
  cases.push_back({"ungrouped_bf16", ungrouped});
  cases.back().problem.dtype = DType::bf16;
  return cases;
}

class Gradients : public testing::TestWithParam<GradientCase> {};

TEST_P(Gradients, MatchFiniteDifferences) {
  const AttentionProblem& p = GetParam().problem;
  const AttentionInputs inputs = make_inputs(p, InputKind::normal, 7);
  const Reference reference = reference_attention(p, inputs, 1);
  Values x{.q = doubles(inputs.q), .k = doubles(inputs.k), .v = doubles(inputs.v), .dout = doubles(inputs.dout)};
  const auto expect_gradient = [&](std::vector<double>& values, const ReferenceTensor& gradient, const char* name) {
    ASSERT_EQ(gradient.exact.size(), values.size());
    const std::size_t step = std::max<std::size_t>(1, values.size() / 60);
    for (std::size_t e = 0; e < values.size(); e += step) {
      constexpr double h = 1e-4;
      const double at = values[e];
      values[e] = at + h;
      const double above = loss(p, x);
      values[e] = at - h;
      const double below = loss(p, x);
      values[e] = at;
      const double difference = (above - below) / (2 * h);
      EXPECT_NEAR(gradient.exact[e], difference, 1e-6 * std::max(1.0, std::abs(difference))) << name << ' ' << e;
      EXPECT_NEAR(gradient.naive[e], gradient.exact[e], p.dtype == DType::bf16 ? 0.2 : 0.02) << name << ' ' << e;
    }
  };
  expect_gradient(x.q, reference.dq, "dQ");
  expect_gradient(x.k, reference.dk, "dK");
  expect_gradient(x.v, reference.dv, "dV");
  // The loss is linear in dO with derivative O.
  for (std::size_t e = 0; e < x.dout.size(); e += 5) {
    const double at = x.dout[e];
    x.dout[e] = at + 1;
    const double above = loss(p, x);
    x.dout[e] = at;
    EXPECT_NEAR(reference.o.exact[e], above - loss(p, x), 1e-9) << e;
  }
}

TEST_P(Gradients, RoundedAndNaiveResultsPass) {
  const AttentionProblem& p = GetParam().problem;
  const Reference r = reference_attention(p, make_inputs(p, InputKind::normal, 3));
  const auto same_type = [&](const auto& values) { return rounded_to(p.dtype, values); };
  const CheckResult exact = check(r, {.o = same_type(r.o.exact),
                                      .lse = {r.lse.begin(), r.lse.end()},
                                      .dq = same_type(r.dq.exact),
                                      .dk = same_type(r.dk.exact),
                                      .dv = same_type(r.dv.exact)});
  EXPECT_TRUE(exact.pass) << exact.reason;
  EXPECT_FALSE(exact.tensor.empty());
  const CheckResult naive = check(r, {.o = same_type(r.o.naive),
                                      .dq = same_type(r.dq.naive),
                                      .dk = same_type(r.dk.naive),
                                      .dv = same_type(r.dv.naive)});
  EXPECT_TRUE(naive.pass) << naive.reason;
  EXPECT_LE(naive.max_abs_error, naive.bound);
}

TEST_P(Gradients, DoNotDependOnThreadsSamplesOrStatistics) {
  const AttentionProblem& p = GetParam().problem;
  const AttentionInputs inputs = make_inputs(p, InputKind::large, 5);
  const Reference whole = reference_attention(p, inputs, 1);
  const Reference threaded = reference_attention(p, inputs, 4);
  EXPECT_EQ(whole.dk.exact, threaded.dk.exact);
  EXPECT_EQ(whole.dq.naive, threaded.dq.naive);

  const std::int64_t last = p.kv_instances() - 1;
  const std::vector<RowId> keys{{0, 1}, {last, 0}, {last, p.n_k - 1}};
  const Reference some = reference_attention(p, inputs, {.rows = {{p.instances() - 1, 2}}, .keys = keys, .threads = 2});
  const auto d = static_cast<std::size_t>(p.d);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto at = static_cast<std::size_t>(keys[i].instance * p.n_k + keys[i].row);
    for (std::size_t c = 0; c < d; ++c) {
      EXPECT_EQ(some.dk.exact[i * d + c], whole.dk.exact[at * d + c]);
      EXPECT_EQ(some.dv.naive[i * d + c], whole.dv.naive[at * d + c]);
    }
    EXPECT_EQ(some.seen[i], whole.seen[at]);
  }

  std::vector<std::int64_t> asked;
  const auto statistics = [&](std::int64_t instance) {
    asked.push_back(instance);
    RowStatistics known;
    for (std::int64_t row = 0; row < p.n_q; ++row) {
      const auto at = static_cast<std::size_t>(instance * p.n_q + row);
      double delta = 0;
      for (std::size_t c = 0; c < d; ++c) {
        delta += whole.o.exact[at * d + c] * static_cast<double>(inputs.dout[at * d + c]);
      }
      known.lse.push_back(whole.lse[at]);
      known.delta.push_back(delta);
      known.naive_lse.push_back(static_cast<float>(whole.lse[at]));
      known.naive_delta.push_back(static_cast<float>(delta));
    }
    return known;
  };
  const Reference fed = reference_attention(p, inputs, {.rows = {}, .keys = keys, .statistics = statistics});
  EXPECT_TRUE(fed.rows.empty());
  for (std::size_t e = 0; e < fed.dk.exact.size(); ++e) {
    EXPECT_NEAR(fed.dk.exact[e], some.dk.exact[e], 1e-9 * std::max(1.0, std::abs(some.dk.exact[e])));
    EXPECT_NEAR(fed.dv.exact[e], some.dv.exact[e], 1e-9 * std::max(1.0, std::abs(some.dv.exact[e])));
  }
  for (const std::int64_t instance : asked) {
    const std::int64_t kv = instance / (p.heads_q / p.heads_kv);
    EXPECT_TRUE(kv == 0 || kv == last) << instance;
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, Gradients, testing::ValuesIn(gradient_cases()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(GradientsByHand, AllEqualScores) {
  // All weights are 1/n: dV = column sums of dO over n, dS = (dP - mean dP)/n; constant K gives dQ = 0.
  const AttentionProblem p{.pass = Pass::bwd, .n_q = 5, .n_k = 8, .d = 4};
  const AttentionInputs inputs = make_inputs(p, InputKind::all_equal, 2);
  const Reference r = reference_attention(p, inputs);
  const std::vector<double> dout = doubles(inputs.dout);
  const std::vector<double> v = doubles(inputs.v);
  for (std::size_t c = 0; c < 4; ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < 5; ++i) sum += dout[i * 4 + c];
    for (std::size_t j = 0; j < 8; ++j) EXPECT_NEAR(r.dv.exact[j * 4 + c], sum / 8, 1e-12);
  }
  for (const double x : r.dq.exact) EXPECT_NEAR(x, 0, 1e-12);
  for (std::size_t j = 0; j < 8; ++j) {
    double expected = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      double dp = 0;
      double mean = 0;
      for (std::size_t c = 0; c < 4; ++c) {
        dp += dout[i * 4 + c] * v[j * 4 + c];
        for (std::size_t l = 0; l < 8; ++l) mean += dout[i * 4 + c] * v[l * 4 + c] / 8;
      }
      expected += (dp - mean) / 8 / 2;  // Q is all ones, the scale is 1/2
    }
    for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(r.dk.exact[j * 4 + c], expected, 1e-12);
  }
}

TEST(GradientsByHand, ForwardHasNone) {
  const AttentionProblem p{.n_q = 3, .n_k = 4, .d = 2};
  const Reference r = reference_attention(p, make_inputs(p, InputKind::normal, 1));
  EXPECT_TRUE(r.keys.empty() && r.dq.exact.empty() && r.dk.exact.empty() && r.dv.exact.empty());
  EXPECT_EQ(r.o.exact.size(), 6U);
}

TEST(GradientsByHand, MaskedEntriesAreExactlyZero) {
  const AttentionProblem p{
      .pass = Pass::bwd, .mask = mask_of("lengths:3/0+causal"), .batch = 2, .n_q = 5, .n_k = 6, .d = 4};
  const Reference r = reference_attention(p, make_inputs(p, InputKind::normal, 1));
  // Entry 0 has length 3, and its rows 0 and 1 see no key; no row of entry 1 sees a key.
  for (std::size_t row = 0; row < 10; ++row) {
    const bool empty = row < 2 || row >= 5;
    EXPECT_EQ(r.lse[row] == -infinite, empty) << row;
    // A single key has weight 1 for any score, so row 2 has no gradient either.
    for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(r.dq.exact[row * 4 + c] == 0, empty || row == 2) << row;
  }
  for (std::size_t key = 0; key < 12; ++key) {
    EXPECT_EQ(r.seen[key] != 0, key < 3) << key;
    for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(r.dv.exact[key * 4 + c] == 0, key >= 3) << key;
  }

  KernelOutput zero{.dk = std::vector<float>(48), .dv = std::vector<float>(48)};
  KernelOutput right{.dq = rounded(r.dq.exact), .dk = rounded(r.dk.exact), .dv = rounded(r.dv.exact)};
  EXPECT_TRUE(check(r, right).pass) << check(r, right).reason;
  KernelOutput leaking = right;
  leaking.dq[0] = 0x1p-24F;
  EXPECT_THAT(check(r, leaking).reason,
              IsReason("oracle.row_sees_no_key", "dQ 5.960464477539063e-08 instance 0 row 0"));
  leaking = right;
  leaking.dk[3 * 4] = 0x1p-24F;
  EXPECT_THAT(check(r, leaking).reason, IsReason("oracle.key_is_not_seen", "dK instance 0 key 3"));
  const CheckResult nothing = check(r, zero);
  EXPECT_FALSE(nothing.pass);
}

TEST(GradientCheck, ReportsTensorNearestToItsBound) {
  const AttentionProblem p{.pass = Pass::bwd, .n_q = 8, .n_k = 8, .d = 8};
  const Reference r = reference_attention(p, make_inputs(p, InputKind::normal, 1));
  KernelOutput output{.o = rounded(r.o.exact),
                      .lse = {r.lse.begin(), r.lse.end()},
                      .dq = rounded(r.dq.exact),
                      .dk = rounded(r.dk.exact),
                      .dv = rounded(r.dv.exact)};
  ASSERT_TRUE(check(r, output).pass);
  output.dk[21] += 1;
  CheckResult result = check(r, output);
  EXPECT_FALSE(result.pass);
  EXPECT_EQ(result.tensor, "dK");
  EXPECT_NEAR(result.max_abs_error, 1, 0.01);
  EXPECT_DOUBLE_EQ(result.bound, error_bound(DType::fp16, r.dk, gradient_allowance(DType::fp16)));
  EXPECT_THAT(result.reason, IsReason("oracle.key", "dK instance 0 key 2 column 5"));
  output.dv[0] = std::numeric_limits<float>::quiet_NaN();
  result = check(r, output);
  EXPECT_EQ(result.tensor, "dV");
  EXPECT_EQ(result.max_abs_error, infinite);
  output.dv.pop_back();
  EXPECT_FALSE(check(r, output).pass);
}

}  // namespace
}  // namespace attnscope

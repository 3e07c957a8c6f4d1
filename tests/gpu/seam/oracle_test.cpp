// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "tests/kernels/attention_inputs.h"

namespace attnscope::gpu {
namespace {

const ReferenceKind& softmax() {
  return *find_reference("softmax");
}

TEST(Oracle, SmallProblemsAreFullyChecked) {
  const AttentionProblem problem{.batch = 2, .heads_q = 2, .heads_kv = 1, .n_q = 33, .n_k = 40, .d = 64};
  EXPECT_EQ(make_reference(softmax(), problem, InputKind::normal, 1).rows, all_rows(problem));
}

TEST(Oracle, EightBitCacheIsCheckedAsStrictlyAs16Bit) {
  const AttentionProblem problem{.dtype = DType::fp8, .heads_q = 2, .heads_kv = 1, .n_q = 2, .n_k = 300, .d = 64};
  AttentionProblem of_16 = problem;
  of_16.dtype = DType::bf16;
  const auto reference = [&](const AttentionProblem& p, const Quantization& by) {
    return make_reference(softmax(), p, InputKind::normal, 1, {}, by);
  };
  const Quantization cache{.keys = 300, .weights = false};
  const Reference judged = reference(problem, cache);
  EXPECT_EQ(judged.o.exact, reference(of_16, cache).o.exact);
  EXPECT_EQ(judged.o.naive, reference(of_16, cache).o.naive);
  EXPECT_EQ(judged.lse_rounding, 0);
  EXPECT_GT(reference(problem, {.keys = 300}).lse_rounding, 0.1);
}

TEST(Oracle, LargeProblemsAreSampledAcrossHeads) {
  // 6 heads x 1024 rows x 1024 keys x 64: too large to check as a whole.
  const AttentionProblem problem{
      .mask = Mask::causal, .batch = 2, .heads_q = 12, .heads_kv = 4, .n_q = 1024, .n_k = 1024, .d = 64};
  const Reference sampled = make_reference(softmax(), problem, InputKind::normal, 1);
  ASSERT_LT(sampled.rows.size(), 2048U);
  ASSERT_GE(sampled.rows.size(), 512U);
  const auto has = [&](std::int64_t instance, std::int64_t row) {
    return std::ranges::find(sampled.rows, RowId{instance, row}) != sampled.rows.end();
  };
  EXPECT_TRUE(has(0, 0));
  EXPECT_TRUE(has(0, 1023));
  EXPECT_TRUE(has(23, 0));
  EXPECT_TRUE(has(23, 1023));

  // Rows computed head by head equal those of the whole problem, so each head's grouped K and V were found.
  const Reference whole =
      reference_attention(problem, make_inputs(problem, InputKind::normal, 1), {.rows = sampled.rows});
  EXPECT_EQ(sampled.o.exact, whole.o.exact);
  EXPECT_EQ(sampled.lse, whole.lse);
  EXPECT_EQ(sampled.o.naive, whole.o.naive);
  EXPECT_TRUE(sampled.keys.empty());
}

TEST(Oracle, SampledRowsKeepMaskAndDropout) {
  // Lengths differ by batch entry and dropout by head; sampled rows of a large problem keep theirs.
  const AttentionProblem problem{.mask = parse_mask("lengths:700/0/333").value(),
                                 .batch = 3,
                                 .heads_q = 4,
                                 .heads_kv = 2,
                                 .n_q = 600,
                                 .n_k = 700,
                                 .d = 64,
                                 .dropout = 0.2};
  const Reference sampled = make_reference(softmax(), problem, InputKind::large, 3);
  ASSERT_LT(std::ssize(sampled.rows), problem.instances() * problem.n_q);
  const Reference whole =
      reference_attention(problem, make_inputs(problem, InputKind::large, 3), {.rows = sampled.rows});
  EXPECT_EQ(sampled.o.exact, whole.o.exact);
  EXPECT_EQ(sampled.lse, whole.lse);
}

TEST(Oracle, SmallGradientsAreFullyChecked) {
  const AttentionProblem problem{
      .pass = Pass::bwd, .batch = 2, .heads_q = 2, .heads_kv = 1, .n_q = 33, .n_k = 40, .d = 64};
  const Reference reference = make_reference(softmax(), problem, InputKind::normal, 1);
  EXPECT_EQ(reference.rows, all_rows(problem));
  EXPECT_EQ(reference.keys, all_keys(problem));
}

TEST(Oracle, GradientsOfLargeProblemsAreSampledByRowsAndKeys) {
  const AttentionProblem problem{.pass = Pass::fwd_bwd,
                                 .mask = parse_mask("causal+lengths:512/300").value(),
                                 .batch = 2,
                                 .heads_q = 4,
                                 .heads_kv = 2,
                                 .n_q = 512,
                                 .n_k = 512,
                                 .d = 64,
                                 .dropout = 0.1};
  const AttentionInputs inputs = make_inputs(problem, InputKind::normal, 1);
  const Reference whole = reference_attention(problem, inputs);
  std::set<std::int64_t> asked;
  const auto statistics = [&](std::int64_t instance) {
    asked.insert(instance);
    RowStatistics known;
    for (std::int64_t row = 0; row < problem.n_q; ++row) {
      const auto at = static_cast<std::size_t>(instance * problem.n_q + row);
      double delta = 0;
      float naive_delta = 0;
      for (std::size_t c = 0; c < 64; ++c) {
        const float gradient = inputs.dout[at * 64 + c];
        delta += whole.o.exact[at * 64 + c] * static_cast<double>(gradient);
        naive_delta += whole.o.naive[at * 64 + c] * gradient;
      }
      known.lse.push_back(whole.lse[at]);
      known.delta.push_back(delta);
      known.naive_lse.push_back(static_cast<float>(whole.lse[at]));
      known.naive_delta.push_back(naive_delta);
    }
    return known;
  };
  const Reference sampled = make_reference(softmax(), problem, InputKind::normal, 1, statistics);
  ASSERT_LT(sampled.rows.size(), 1024U);
  ASSERT_LT(sampled.keys.size(), 1024U);
  EXPECT_EQ(asked.size(), 8U) << "all query heads of the four sampled K/V heads";
  std::map<std::int64_t, std::set<std::int64_t>> keys;
  for (std::size_t i = 0; i < sampled.keys.size(); ++i) {
    const RowId& key = sampled.keys[i];
    keys[key.instance].insert(key.row);
    EXPECT_TRUE(i == 0 || key.instance > sampled.keys[i - 1].instance || key.row > sampled.keys[i - 1].row);
    const auto at = static_cast<std::size_t>(key.instance * problem.n_k + key.row);
    EXPECT_EQ(sampled.seen[i], whole.seen[at]);
    for (std::size_t c = 0; c < 64; ++c) {
      EXPECT_NEAR(sampled.dk.exact[i * 64 + c], whole.dk.exact[at * 64 + c], 1e-9);
      EXPECT_NEAR(sampled.dv.exact[i * 64 + c], whole.dv.exact[at * 64 + c], 1e-9);
      EXPECT_NEAR(sampled.dk.naive[i * 64 + c], whole.dk.naive[at * 64 + c], 0.05);
    }
  }
  ASSERT_EQ(keys.size(), 4U);
  for (const auto& [instance, of] : keys) {
    EXPECT_GE(of.size(), 8U);
    EXPECT_TRUE(of.contains(0) && of.contains(511));
    EXPECT_TRUE(of.contains(instance < 2 ? 511 : 299)) << "the last unpadded key";
  }
  for (std::size_t i = 0; i < sampled.rows.size(); ++i) {
    const auto at = static_cast<std::size_t>(sampled.rows[i].instance * problem.n_q + sampled.rows[i].row);
    for (std::size_t c = 0; c < 64; ++c) {
      ASSERT_EQ(sampled.dq.exact[i * 64 + c], whole.dq.exact[at * 64 + c]);
    }
  }
}

}  // namespace
}  // namespace attnscope::gpu

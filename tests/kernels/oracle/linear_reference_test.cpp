// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/oracle/float16.h"
#include "kernels/oracle/references.h"
#include "tests/kernels/attention_inputs.h"

namespace attnscope {
namespace {

std::vector<std::uint16_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) bits.push_back(to_bits(DType::fp16, value));
  return bits;
}

Reference linear(const AttentionProblem& p, const AttentionInputs& inputs, std::vector<RowId> rows, unsigned threads) {
  return find_reference("linear")->of(p, matrices_of(p, inputs), {.rows = std::move(rows), .threads = threads});
}

TEST(References, AreFoundByName) {
  EXPECT_EQ(find_reference("linear")->name, "linear");
  EXPECT_EQ(find_reference("softmax")->name, "softmax");
  EXPECT_EQ(find_reference("quadratic"), nullptr);
}

// Two queries and three keys of one column, causal at the bottom right: the first query sees two keys. phi(0) = 1,
// phi(1) = 2, phi(3) = 4, phi(-1) = 1/e.
TEST(LinearReference, ByHand) {
  const AttentionProblem p{.mask = Mask::causal, .n_q = 2, .n_k = 3, .d = 1};
  const AttentionInputs inputs{.q = bits_of({1, -1}), .k = bits_of({0, 3, -1}), .v = bits_of({10, 20, 30})};
  const Reference found = linear(p, inputs, all_rows(p), 1);
  ASSERT_EQ(found.o.exact.size(), 2U);
  EXPECT_NEAR(found.o.exact[0], (1 * 10 + 4 * 20) / 5.0, 1e-12);
  const double last = std::exp(-1.0);
  EXPECT_NEAR(found.o.exact[1], (10 + 80 + 30 * last) / (5 + last), 1e-12);
  EXPECT_NEAR(found.lse[0], std::log(2 * 5.0), 1e-12);
  EXPECT_NEAR(found.lse[1], std::log(last * (5 + last)), 1e-12);
  EXPECT_NEAR(found.o.naive16[1], found.o.exact[1], 0.02);
  EXPECT_NE(static_cast<double>(found.o.naive16[1]), found.o.exact[1]) << "it is rounded";
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

// The sums of equations 8 to 12, row after row, give what the definition gives.
TEST(LinearReference, IsTheRecurrenceOfThePaper) {
  const AttentionProblem p{
      .mask = Mask::causal, .batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 40, .n_k = 40, .d = 16};
  const AttentionInputs inputs = make_inputs(p, InputKind::normal, 7);
  const Reference found = linear(p, inputs, all_rows(p), 2);
  const auto phi = [](std::uint16_t bits) {
    const double x = static_cast<double>(from_bits(DType::fp16, bits));
    return x > 0 ? x + 1 : std::exp(x);
  };
  for (std::size_t head = 0; head < 8; ++head) {
    std::vector<double> s(256, 0);
    std::vector<double> z(16, 0);
    for (std::size_t row = 0; row < 40; ++row) {
      const std::size_t key = (head / 2 * 40 + row) * 16;
      for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t c = 0; c < 16; ++c) {
          s[i * 16 + c] += phi(inputs.k[key + i]) * static_cast<double>(from_bits(DType::fp16, inputs.v[key + c]));
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

TEST(LinearReference, SomeRowsAreThoseOfAllAndThreadsChangeNothing) {
  const AttentionProblem p{
      .dtype = DType::bf16, .batch = 2, .heads_q = 2, .heads_kv = 1, .n_q = 30, .n_k = 50, .d = 32};
  const AttentionInputs inputs = make_inputs(p, InputKind::large, 3);
  const Reference all = linear(p, inputs, all_rows(p), 1);
  EXPECT_EQ(linear(p, inputs, all_rows(p), 3).o.exact, all.o.exact);
  const Reference some = linear(p, inputs, {{1, 4}, {3, 29}}, 2);
  for (std::size_t c = 0; c < 32; ++c) {
    EXPECT_EQ(some.o.exact[c], all.o.exact[(30 + 4) * 32 + c]);
    EXPECT_EQ(some.o.naive16[32 + c], all.o.naive16[(90 + 29) * 32 + c]);
  }
}

// Its 16-bit self is within its own bound, and what is twice as far is not.
TEST(LinearReference, JudgesByItsOwnBound) {
  const AttentionProblem p{.mask = Mask::causal, .n_q = 60, .n_k = 60, .d = 32};
  const Reference reference = linear(p, make_inputs(p, InputKind::normal, 5), all_rows(p), 0);
  KernelOutput output;
  for (const float value : reference.o.naive16) output.o.push_back(to_bits(DType::fp16, value));
  EXPECT_TRUE(check(reference, output).pass) << text(check(reference, output).reason);
  const double bound = error_bound(DType::fp16, reference.o, output_allowance);
  output.o[100] = to_bits(DType::fp16, static_cast<float>(reference.o.exact[100] + 2 * bound));
  EXPECT_FALSE(check(reference, output).pass);
}

}  // namespace
}  // namespace attnscope

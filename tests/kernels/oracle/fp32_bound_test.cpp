// SPDX-License-Identifier: Apache-2.0
// The error bound of fp32 separates honest fp32 kernels from kernels that compute with fewer bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/oracle/float16.h"
#include "kernels/oracle/reference.h"
#include "tests/kernels/attention_inputs.h"

namespace attnscope {
namespace {

using Rounding = float (*)(float);

float as_is(float x) {
  return x;
}
float to_fp16(float x) {
  return round_to(DType::fp16, x);
}
float to_tf32(float x) {
  constexpr std::uint32_t dropped = 0x1FFF;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + dropped / 2 + (bits >> 13U & 1U)) & ~dropped);
}

/// exp(x) with a relative error of 2^-21 whose sign depends on x; exact at 0, like ex2.approx.
float fast_exp(float x) {
  if (x == 0) return 1;
  const bool above = (std::bit_cast<std::uint32_t>(x) * 0x9E37'79B9U >> 31U) != 0;
  return std::exp(x) * (above ? 1 + 0x1p-21F : 1 - 0x1p-21F);
}

/// FlashAttention in fp32 with tiles of 16 keys, from the last tile and row to the first.
class EmulatedFp32Kernel {
 public:
  enum class Direction { backward, forward };  ///< of sums over d

  /// `operand` rounds Q, K, V and dO, `weight` rounds P.
  EmulatedFp32Kernel(const AttentionProblem& p, AttentionInputs inputs, Rounding operand, Rounding weight,
                     Direction direction = Direction::backward)
      : p_(p),
        d_(static_cast<std::size_t>(p.d)),
        x_(std::move(inputs)),
        weight_(weight),
        forward_(direction == Direction::forward) {
    for (auto* matrix : {&x_.q, &x_.k, &x_.v, &x_.dout}) {
      for (float& value : *matrix) value = operand(value);
    }
    y_.o.resize(x_.q.size());
    y_.dq.resize(x_.dout.size());
    if (!x_.dout.empty()) y_.dk.resize(x_.k.size());
    y_.dv.resize(y_.dk.size());
    y_.lse.resize(x_.q.size() / d_, -std::numeric_limits<float>::infinity());
  }

  KernelOutput run() {
    for (auto row = static_cast<std::int64_t>(y_.lse.size()) - 1; row >= 0; --row) {
      const std::int64_t instance = row / p_.n_q;
      const std::int64_t kv = instance / group_size(p_) * p_.n_k;
      const KeyRange seen = visible_keys(p_, instance / p_.heads_q, row % p_.n_q);
      if (seen.first == seen.last) continue;
      const auto r = static_cast<std::size_t>(row);
      forward(r, static_cast<std::size_t>(kv + seen.first), static_cast<std::size_t>(kv + seen.last));
      if (!x_.dout.empty())
        backward(r, static_cast<std::size_t>(kv + seen.first), static_cast<std::size_t>(kv + seen.last));
    }
    return y_;
  }

 private:
  [[nodiscard]] float dot(const std::vector<float>& a, std::size_t i, const std::vector<float>& b,
                          std::size_t j) const {
    float sum = 0;
    for (std::size_t n = 0; n < d_; ++n) {
      const std::size_t c = forward_ ? n : d_ - 1 - n;
      sum += a[i * d_ + c] * b[j * d_ + c];
    }
    return sum;
  }
  [[nodiscard]] float score(std::size_t row, std::size_t key) const {
    return dot(x_.q, row, x_.k, key) / std::sqrt(static_cast<float>(p_.d));
  }
  void add(std::vector<float>& to, std::size_t i, float factor, const std::vector<float>& from, std::size_t j) const {
    for (std::size_t c = 0; c < d_; ++c) to[i * d_ + c] += factor * from[j * d_ + c];
  }

  void forward(std::size_t row, std::size_t first, std::size_t last) {
    constexpr std::size_t tile = 16;
    float max = -std::numeric_limits<float>::infinity();
    float sum = 0;
    float* const o = &y_.o[row * d_];
    for (std::size_t end = last; end > first; end -= std::min(tile, end - first)) {
      const std::size_t begin = end - std::min(tile, end - first);
      std::vector<float> p;
      for (std::size_t key = begin; key < end; ++key) p.push_back(score(row, key));
      const float before = max;
      max = std::max(max, *std::ranges::max_element(p));
      const float scale = fast_exp(before - max);
      std::vector<float> products(d_);
      float of_tile = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        const float weight = fast_exp(p[i] - max);
        of_tile += weight;
        add(products, 0, weight_(weight), x_.v, begin + i);
      }
      sum = sum * scale + of_tile;
      for (std::size_t c = 0; c < d_; ++c) o[c] = o[c] * scale + products[c];
    }
    for (std::size_t c = 0; c < d_; ++c) o[c] /= sum;
    y_.lse[row] = max + std::log(sum);
  }

  void backward(std::size_t row, std::size_t first, std::size_t last) {
    const float delta = dot(y_.o, row, x_.dout, row);
    const float scale = 1 / std::sqrt(static_cast<float>(p_.d));
    for (std::size_t key = last; key-- > first;) {
      const float p = weight_(fast_exp(score(row, key) - y_.lse[row]));
      const float ds = p * (dot(x_.dout, row, x_.v, key) - delta) * scale;
      add(y_.dv, key, p, x_.dout, row);
      add(y_.dk, key, ds, x_.q, row);
      add(y_.dq, row, ds, x_.k, key);
    }
  }

  const AttentionProblem& p_;
  std::size_t d_;
  AttentionInputs x_;
  Rounding weight_;
  bool forward_;
  KernelOutput y_;
};

std::vector<AttentionProblem> problems() {
  std::vector<AttentionProblem> all;
  for (const auto& [n_q, n_k] : {std::pair{1, 1}, std::pair{37, 75}, std::pair{5, 1000}}) {
    for (const Mask& mask : {Mask::none, Mask::causal}) {
      for (const std::int64_t d : {32, 256}) {
        for (const Pass pass : {Pass::fwd, Pass::bwd}) {
          all.push_back({.dtype = DType::fp32, .pass = pass, .mask = mask, .heads_q = 2, .heads_kv = 1});
          all.back().n_q = n_q, all.back().n_k = n_k, all.back().d = d;
        }
      }
    }
  }
  return all;
}

CheckResult judged(const AttentionProblem& p, InputKind kind, Rounding operand, Rounding weight) {
  const AttentionInputs inputs = make_inputs(p, kind, 11);
  return check(reference_attention(p, inputs), EmulatedFp32Kernel(p, inputs, operand, weight).run());
}

TEST(Fp32Bound, HonestKernelPasses) {
  for (const AttentionProblem& p : problems()) {
    for (const InputKind kind : input_kinds()) {
      const CheckResult found = judged(p, kind, as_is, as_is);
      EXPECT_TRUE(found.pass) << describe(p) << " " << to_string(kind) << ": " << text(found.reason);
    }
  }
}

TEST(Fp32Bound, LongSumsInOneDirectionPass) {
  for (const std::int64_t d : {512, 1024}) {
    for (const Pass pass : {Pass::fwd, Pass::bwd}) {
      AttentionProblem p{.dtype = DType::fp32, .pass = pass, .heads_q = 2, .heads_kv = 1, .n_q = 7, .n_k = 33, .d = d};
      for (const InputKind kind : input_kinds()) {
        const AttentionInputs inputs = make_inputs(p, kind, 11);
        EmulatedFp32Kernel kernel(p, inputs, as_is, as_is, EmulatedFp32Kernel::Direction::forward);
        const CheckResult found = check(reference_attention(p, inputs), kernel.run());
        EXPECT_TRUE(found.pass) << describe(p) << " " << to_string(kind) << ": " << text(found.reason);
      }
    }
  }
}

/// Equal terms round in the same direction.
TEST(Fp32Bound, CoversSumsOfEqualTerms) {
  for (const int d : {64, 128, 256, 512, 1024}) {
    double worst = 0;
    for (int i = 0; i < 1000; ++i) {
      const float term = 1 + static_cast<float>(i) / 1000;
      float sum = 0;
      for (int c = 0; c < d; ++c) sum += term;
      worst = std::max(worst, std::abs(static_cast<double>(sum) / (static_cast<double>(term) * d) - 1));
    }
    EXPECT_LE(worst / fp32_roundoff, output_allowance(DType::fp32) * product_roundoffs(d)) << d;
  }
}

TEST(Fp32Bound, WrongLseFails) {
  for (const AttentionProblem& p : problems()) {
    if (p.n_k == 1) continue;
    const AttentionInputs inputs = make_inputs(p, InputKind::normal, 11);
    KernelOutput output = EmulatedFp32Kernel(p, inputs, as_is, as_is).run();
    for (float& lse : output.lse) lse *= 1 + 5e-5F;
    EXPECT_FALSE(check(reference_attention(p, inputs), output).pass) << describe(p);
  }
}

TEST(Fp32Bound, FewerBitsFail) {
  for (const AttentionProblem& p : problems()) {
    if (p.n_k == 1) continue;  // P is 1
    using Roundings = std::pair<Rounding, Rounding>;
    for (const auto& [operand, weight] :
         {Roundings{to_tf32, as_is}, Roundings{to_fp16, as_is}, Roundings{as_is, to_fp16}}) {
      const CheckResult found = judged(p, InputKind::normal, operand, weight);
      EXPECT_FALSE(found.pass) << describe(p);
      EXPECT_GT(found.max_abs_error, 3 * found.bound) << describe(p);
    }
  }
}

}  // namespace
}  // namespace attnscope

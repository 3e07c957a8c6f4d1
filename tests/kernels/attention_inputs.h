// SPDX-License-Identifier: Apache-2.0
// Complete inputs of a problem and their reference results.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/oracle/inputs.h"
#include "kernels/oracle/reference.h"

namespace attnscope {

/// Q, K, V and dO as laid out by AttentionProblem, K and V always contiguous. dO is N(0, 1) for every kind and empty
/// for a forward pass.
struct AttentionInputs {
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;
  std::vector<float> dout{};
};

[[nodiscard]] inline AttentionInputs make_inputs(const AttentionProblem& p, InputKind kind, std::uint64_t seed) {
  const InputGenerator generator(p, kind, seed);
  const auto make = [&](Tensor tensor, std::int64_t instances, std::int64_t rows) {
    const auto size = static_cast<std::size_t>(rows * p.d);
    std::vector<float> all(static_cast<std::size_t>(instances) * size);
    for (std::int64_t i = 0; i < instances; ++i) {
      generator.fill(tensor, i, std::span(all).subspan(static_cast<std::size_t>(i) * size, size));
    }
    return all;
  };
  return {.q = make(Tensor::q, p.instances(), p.n_q),
          .k = make(Tensor::k, p.kv_instances(), p.n_k),
          .v = make(Tensor::v, p.kv_instances(), p.n_k),
          .dout = p.pass == Pass::fwd ? std::vector<float>{} : make(Tensor::dout, p.instances(), p.n_q)};
}

/// The inputs must outlive the result.
[[nodiscard]] inline MatrixSource matrices_of(const AttentionProblem& p, const AttentionInputs& inputs) {
  return [&p, &inputs](Tensor tensor, std::int64_t instance) {
    const bool of_queries = tensor == Tensor::q || tensor == Tensor::dout;
    const std::vector<float>& all = tensor == Tensor::q   ? inputs.q
                                    : tensor == Tensor::k ? inputs.k
                                    : tensor == Tensor::v ? inputs.v
                                                          : inputs.dout;
    const std::int64_t size = (of_queries ? p.n_q : p.n_k) * p.d;
    const auto begin = all.begin() + instance * size;
    return std::vector<float>(begin, begin + size);
  };
}

[[nodiscard]] inline Reference reference_attention(const AttentionProblem& p, const AttentionInputs& inputs,
                                                   ReferenceRequest request) {
  return reference_attention(p, matrices_of(p, inputs), std::move(request));
}

[[nodiscard]] inline Reference reference_attention(const AttentionProblem& p, const AttentionInputs& inputs,
                                                   unsigned threads = 0) {
  return reference_attention(p, inputs, {.rows = all_rows(p), .keys = all_keys(p), .threads = threads});
}

}  // namespace attnscope

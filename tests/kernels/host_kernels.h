// SPDX-License-Identifier: Apache-2.0
// Host implementations of the multi-GPU kernels, with the kernels' parameters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/oracle/float16.h"

namespace attnscope::test {

/// Replaces a tensor map on the host: [instances, rows, columns] of 16 bits.
struct HostTensorMap {
  void* address = nullptr;
  std::uint64_t extents[3] = {};
  std::uint64_t strides[2] = {};  ///< bytes between rows and between instances

  [[nodiscard]] std::uint16_t* row(std::int64_t instance, std::int64_t r) const {
    return reinterpret_cast<std::uint16_t*>(static_cast<std::byte*>(address) +
                                            static_cast<std::uint64_t>(instance) * strides[1] +
                                            static_cast<std::uint64_t>(r) * strides[0]);
  }
};

/// attn_fa3_forward with 16-bit operands, full or causal mask: maps of Q, K, V and O, three scales, lse, taken,
/// instances, group, n_q, n_k, scale, heads_q, left, right, ...
inline void compute_fa3(void** arguments, DType dtype, bool causal) {
  const auto map = [&](int i) {
    HostTensorMap copy;
    std::memcpy(static_cast<void*>(&copy), arguments[i], sizeof copy);
    return copy;
  };
  const auto number = [&](int i) { return *static_cast<const int*>(arguments[i]); };
  const HostTensorMap q = map(0);
  const HostTensorMap k = map(1);
  const HostTensorMap v = map(2);
  const HostTensorMap o = map(3);
  auto* const lse = *static_cast<float* const*>(arguments[7]);
  const int n_q = number(11);
  const int n_k = number(12);
  const auto d = static_cast<std::size_t>(q.extents[0]);
  for (int instance = 0; instance < number(9); ++instance) {
    for (int r = 0; r < n_q; ++r) {
      const int seen = causal ? std::clamp(r + n_k - n_q + 1, 0, n_k) : n_k;
      std::vector<double> weights(static_cast<std::size_t>(seen));
      for (std::size_t key = 0; key < weights.size(); ++key) {
        const std::uint16_t* const of_key = k.row(instance / number(10), static_cast<std::int64_t>(key));
        for (std::size_t c = 0; c < d; ++c) {
          weights[key] += static_cast<double>(from_bits(dtype, q.row(instance, r)[c])) *
                          static_cast<double>(from_bits(dtype, of_key[c]));
        }
        weights[key] *= static_cast<double>(*static_cast<const float*>(arguments[13]));
      }
      const double highest = *std::ranges::max_element(weights);
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - highest);
      for (std::size_t c = 0; c < d; ++c) {
        double out = 0;
        for (std::size_t key = 0; key < weights.size(); ++key) {
          out += weights[key] *
                 static_cast<double>(from_bits(dtype, v.row(instance / number(10), static_cast<std::int64_t>(key))[c]));
        }
        o.row(instance, r)[c] = to_bits(dtype, static_cast<float>(out / sum));
      }
      lse[instance * n_q + r] = static_cast<float>(highest + std::log(sum));
    }
  }
}

/// attn_ringattn_combine(o_parts, lse_parts, o, lse, n, whole, later, first, o_stride, lse_stride)
inline void compute_ring_combine(void** arguments, DType dtype, std::int64_t d, std::int64_t blocks,
                                 std::int64_t rows_per_block) {
  const auto number = [&](int i) { return *static_cast<const int*>(arguments[i]); };
  const auto large = [&](int i) { return *static_cast<const long long*>(arguments[i]); };
  const auto* const o_parts = *static_cast<const std::uint16_t* const*>(arguments[0]);
  const auto* const lse_parts = *static_cast<const float* const*>(arguments[1]);
  auto* const o = *static_cast<std::uint16_t* const*>(arguments[2]);
  auto* const lse = *static_cast<float* const*>(arguments[3]);
  const std::int64_t n = number(4);
  const std::int64_t instances = blocks / ((n + rows_per_block - 1) / rows_per_block);
  for (std::int64_t row = 0; row < instances * n; ++row) {
    std::vector<double> sums(static_cast<std::size_t>(d));
    double sum = 0;
    for (int part = 0; part < number(5) + number(6); ++part) {
      const std::int64_t first = part < number(5) ? 0 : number(7);
      if (row % n < first) continue;
      const std::int64_t source = row / n * (n - first) + row % n - first;
      const double weight = std::exp(static_cast<double>(lse_parts[part * large(9) + source]));
      sum += weight;
      for (std::int64_t c = 0; c < d; ++c) {
        sums[static_cast<std::size_t>(c)] +=
            weight * static_cast<double>(from_bits(dtype, o_parts[part * large(8) + source * d + c]));
      }
    }
    for (std::int64_t c = 0; c < d; ++c) {
      o[row * d + c] = to_bits(dtype, static_cast<float>(sums[static_cast<std::size_t>(c)] / sum));
    }
    lse[row] = static_cast<float>(std::log(sum));
  }
}

}  // namespace attnscope::test

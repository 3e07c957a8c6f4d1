// SPDX-License-Identifier: Apache-2.0
// The law by which an algorithm's bytes grow, as powers of N, d and M.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/model/attention.h"

namespace attnscope {

/// What the horizontal axis of a problem means: empty where there are as many queries as keys, n_q where n_q is fixed.
[[nodiscard]] std::optional<std::int64_t> fixed_queries(const AttentionProblem&);
/// The problem at another N: of queries and keys, or of keys alone where n_q is fixed.
[[nodiscard]] AttentionProblem at_length(AttentionProblem, std::int64_t n);

/// What a power law is of.
enum class LawVariable { n, d, m };
inline constexpr std::size_t law_variables = 3;
/// "N", "d", "M".
[[nodiscard]] std::string_view to_string(LawVariable);

/// A head's elements as powers of N, d and M, the memory on chip that the paper's rule makes a tile of: a law that
/// sweeps over the three can try.
struct PowerLaw {
  std::string title;  ///< who states it: "Theorem 2"
  std::string text;   ///< "N²d²/M"
  std::array<int, law_variables> exponents{};

  [[nodiscard]] int exponent(LawVariable variable) const { return exponents.at(static_cast<std::size_t>(variable)); }
  /// Over all heads, without the law's constant.
  [[nodiscard]] double bytes(const AttentionProblem&, std::int64_t m_elements) const;

  bool operator==(const PowerLaw&) const = default;
};
/// N²d²/M for d <= M <= N d (FlashAttention, arXiv 2205.14135v2).
[[nodiscard]] const PowerLaw& theorem_2();

}  // namespace attnscope

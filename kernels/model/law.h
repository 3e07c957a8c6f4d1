// SPDX-License-Identifier: Apache-2.0
// Growth of an algorithm's bytes as powers of N, d and M.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/model/attention.h"

namespace attnscope {

/// Returns n_q if it differs from n_k, so that curves over N vary only n_k; empty if N is both.
[[nodiscard]] std::optional<std::int64_t> fixed_query_count(const AttentionProblem&);
/// The problem with n_k = n; also n_q = n unless n_q is fixed.
[[nodiscard]] AttentionProblem at_length(AttentionProblem, std::int64_t n);

enum class LawVariable { n, d, m };
inline constexpr std::size_t law_variable_count = 3;
/// Returns "N", "d" or "M".
[[nodiscard]] std::string_view to_string(LawVariable);

/// Elements per head as powers of N, d and M, the on-chip memory from which the paper's rule derives the tile. Sweeps
/// over the three can verify it.
struct PowerLaw {
  std::string title;  ///< source: "Theorem 2"
  std::string text;   ///< "N²d²/M"
  std::array<int, law_variable_count> exponents{};

  [[nodiscard]] int exponent(LawVariable variable) const { return exponents.at(static_cast<std::size_t>(variable)); }
  /// Bytes over all query heads, without the law's constant. N is n_k; the law is stated for n_q == n_k.
  [[nodiscard]] double bytes(const AttentionProblem&, std::int64_t m_elements) const;

  bool operator==(const PowerLaw&) const = default;
};
/// N²d²/M for d <= M <= N d (FlashAttention, arXiv 2205.14135v2).
[[nodiscard]] const PowerLaw& theorem_2();

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// The law by which an algorithm's bytes grow with N, and the powers of N, d and M that it is made of: what a statement
// answers with (kernels/growth_laws.h has the laws that several algorithms share).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/model/attention.h"

namespace attnscope {

/// What the horizontal axis of a problem means: empty where there are as many queries as keys, n_q where n_q is fixed.
[[nodiscard]] std::optional<std::int64_t> fixed_queries(const AttentionProblem&);
/// The problem at another N: of queries and keys, or of keys alone where n_q is fixed.
[[nodiscard]] AttentionProblem at_length(AttentionProblem, std::int64_t n);

/// What the arithmetic intensity of long sequences is a multiple of.
enum class Multiple : std::uint8_t { nothing, n, d, br, bc };

/// Bytes over all heads as functions of N, without their constants.
struct Law {
  std::string text;   ///< "N²d/Br"
  std::string lower;  ///< the order below it, "N·d"; empty where the law is fitted alone
  std::function<double(std::int64_t)> bytes;
  std::function<double(std::int64_t)> lower_bytes;
  std::int64_t from = 1;   ///< the shortest N that it speaks of
  std::string from_words;  ///< "N·d ≥ M"; empty where it speaks of all
  /// What the SMs read again is the algorithm's working set: DRAM sees all of it once that has left any L2.
  bool rereads = false;
  Multiple intensity_at_l2 = Multiple::nothing;    ///< FLOPs for each byte between SM and L2
  Multiple intensity_at_dram = Multiple::nothing;  ///< while the L2 serves what is read again
};

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

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
// The ledger of attention: what each matrix of a problem takes. Everything here follows from the problem alone: it is
// modelled.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/tile_program.h"

namespace attnscope::analysis::lesson {

/// How many of a matrix there are, and whether somebody has to keep it.
struct LedgerLine {
  Tensor tensor = Tensor::q;
  std::int64_t matrices = 0;  ///< over batch and heads: query heads, of K and V the K/V heads
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  int element_bytes = 0;

  /// Of one matrix, and of all.
  [[nodiscard]] std::int64_t one() const { return rows * cols * element_bytes; }
  [[nodiscard]] std::int64_t all() const { return one() * matrices; }
};

struct Ledger {
  AttentionProblem problem{};
  std::vector<LedgerLine> lines{};  ///< Q, K, V, O, then S and P, then what replaces them: m, l, LSE (fp32)

  /// nullptr for a matrix that is not in it.
  [[nodiscard]] const LedgerLine* find(Tensor) const;
  /// Q, K, V and O, over all heads: what cannot be left out.
  [[nodiscard]] std::int64_t kept() const;
  /// S and P, each written once and read once: what standard attention moves of them, over all heads.
  [[nodiscard]] std::int64_t scores_moved() const;
};
/// Pre: invalid_reason() is empty.
[[nodiscard]] Ledger ledger_of(const AttentionProblem&);

/// The largest N of which one head's S still lies in so many bytes; 0 where not even the first does.
[[nodiscard]] std::int64_t longest_within(std::int64_t bytes, DType);

}  // namespace attnscope::analysis::lesson

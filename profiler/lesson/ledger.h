// SPDX-License-Identifier: Apache-2.0
// Sizes of the matrices of an attention problem. All values are modeled.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/tile_program.h"

namespace attnscope::analysis::lesson {

struct LedgerLine {
  Tensor tensor = Tensor::q;
  std::int64_t matrices = 0;  ///< over batch and heads; K/V heads for K and V
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  int element_bytes = 0;

  [[nodiscard]] std::int64_t matrix_bytes() const { return rows * cols * element_bytes; }
  [[nodiscard]] std::int64_t all() const { return matrix_bytes() * matrices; }
};

struct Ledger {
  AttentionProblem problem{};
  std::vector<LedgerLine> lines{};  ///< Q, K, V, O; S and P; then m, l and LSE (fp32), which replace them

  [[nodiscard]] const LedgerLine* find(Tensor) const;
  /// Returns the bytes of Q, K, V and O over all heads.
  [[nodiscard]] std::int64_t tensor_bytes() const;
  /// Returns the bytes that standard attention moves for S and P (each written and read once) over all heads.
  [[nodiscard]] std::int64_t score_traffic_bytes() const;
};
/// Pre: invalid_reason() is empty.
[[nodiscard]] Ledger make_ledger(const AttentionProblem&);

/// Returns the largest N for which one head's S fits into `bytes`; 0 if none.
[[nodiscard]] std::int64_t max_n_for_score_bytes(std::int64_t bytes, DType);

}  // namespace attnscope::analysis::lesson
